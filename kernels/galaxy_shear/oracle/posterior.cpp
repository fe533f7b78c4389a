// SPDX-License-Identifier: Apache-2.0
// How precisely data with a scene's noise determine its parameters: the Cramer-Rao bound.
#include <cmath>
#include <cstddef>
#include <utility>

#include "galaxy_shear/oracle/oracle.hpp"

namespace holdfast::galaxy_shear::oracle {
namespace {

using Rows = std::vector<std::vector<double>>;

// The diagonal of the inverse of a symmetric positive definite matrix, by Gauss-Jordan elimination.
std::vector<double> inverse_diagonal(Rows rows) {
  const std::size_t n = rows.size();
  for (std::size_t k = 0; k < n; ++k) {
    rows[k].resize(2 * n);
    rows[k][n + k] = 1;
  }
  for (std::size_t k = 0; k < n; ++k) {
    const double pivot = rows[k][k];
    for (double& value : rows[k]) value /= pivot;
    for (std::size_t r = 0; r < n; ++r) {
      if (r == k) continue;
      const double factor = rows[r][k];
      for (std::size_t c = 0; c < 2 * n; ++c) rows[r][c] -= factor * rows[k][c];
    }
  }
  std::vector<double> diagonal;
  for (std::size_t k = 0; k < n; ++k) diagonal.push_back(rows[k][n + k]);
  return diagonal;
}

// The derivative of an image by parameter k, in units of its noise: [S, S].
std::vector<double> slopes(const Scene& scene, const Parameters& z, int k) {
  constexpr double step = 1e-5;
  Parameters up = z, down = z;
  up[k] += step;
  down[k] -= step;
  std::vector<double> found = image(scene, up);
  const std::vector<double> below = image(scene, down);
  for (std::size_t p = 0; p < found.size(); ++p)
    found[p] = (found[p] - below[p]) / (2 * step * scene.noise);
  return found;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t p = 0; p < a.size(); ++p) sum += a[p] * b[p];
  return sum;
}

}  // namespace

std::vector<double> posterior_widths(const Scene& scene, const Parameters& z) {
  Rows by_latent, information;
  for (const int k : scene.latents) by_latent.push_back(slopes(scene, z, k));
  for (const auto& one : by_latent) {
    information.emplace_back();
    for (const auto& other : by_latent) information.back().push_back(product(one, other));
  }
  std::vector<double> widths = inverse_diagonal(std::move(information));
  for (double& width : widths) width = std::sqrt(width);
  return widths;
}

}  // namespace holdfast::galaxy_shear::oracle
