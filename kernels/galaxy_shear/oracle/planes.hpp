// SPDX-License-Identifier: Apache-2.0
// Private to the oracle: dense sums over the samples of the Fourier plane, for an image and for the
// adjoint of a cotangent of its pixels.
#pragma once

#include <array>
#include <complex>
#include <numbers>
#include <vector>

#include "galaxy_shear/problem/scene.hpp"

namespace holdfast::galaxy_shear::oracle {

using Number = std::complex<double>;

inline constexpr double pi = std::numbers::pi;
inline constexpr double tiny_step = 1e-30;  // of a complex step: no subtraction, no cancellation

// Samples of the half plane 0 <= c <= H, -H <= r <= H, which stands for all (N + 1)^2: samples with
// c > 0 count twice. Holds the real factors that no parameter changes.
struct Plane {
  explicit Plane(const Scene& scene);
  double k(int index) const;

  int n, half, columns, rows;
  std::vector<double> response;
};

// [S, S].
std::vector<double> drawn(const Scene& scene, const Plane& plane, const Parameters& z);

// sum of cotangent * cos and * sin of kx j + ky i: [columns, rows].
struct Projection {
  Projection(const Scene& scene, const Plane& plane, const std::vector<double>& cotangent);

  std::vector<double> cosine, sine;
};

// sum cotangent * image(z), for complex z.
Number paired(const Scene& scene, const Plane& plane, const Projection& projection,
              const std::array<Number, parameters>& z);

// d/dz of the same, for the wanted parameters.
Parameters adjoint(const Scene& scene, const Plane& plane, const Projection& projection,
                   const Parameters& z, const std::vector<int>& wanted);

}  // namespace holdfast::galaxy_shear::oracle
