// SPDX-License-Identifier: Apache-2.0
// The reference variant on the host: each operation is a loop over memory that threads share, each
// transform one call of the library. `speedup` is measured against it.
#include <cstdint>
#include <memory>
#include <utility>

#include "arrays/host_verbs.hpp"
#include "galaxy_shear/reference/eager.hpp"
#include "galaxy_shear/reference/reference_verbs.hpp"
#include "galaxy_shear/variants.hpp"

namespace holdfast::galaxy_shear::HOLDFAST_ISA {
namespace {

template <class T>
struct HostVerbs {
  using Value = T;

  explicit HostVerbs(Backend&) {}

  GALAXY_SHEAR_VERBS(HOLDFAST_HOST, HOLDFAST_NOTHING)

  // Calls sum(galaxy) for each galaxy.
  template <class Sum>
  static void per_galaxy(std::int64_t rows, std::int64_t columns, const Sum& sum) {
    arrays::HOLDFAST_ISA::each_long<T>(rows, columns, sum);
  }
  static void half_square(const T* in, double* out, std::int64_t rows, std::int64_t columns) {
    per_galaxy(rows, columns, [=](std::int64_t r) {
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::int64_t c = 0; c < columns; ++c) {
        const double value = in[r * columns + c];
        sum += value * value / 2;
      }
      out[r] = sum;
    });
  }
  static void weighted_light(const T* in, const T* weights, double* out, std::int64_t rows,
                             std::int64_t columns) {
    per_galaxy(rows, columns, [=](std::int64_t r) {
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::int64_t c = 0; c < columns; ++c) sum += in[r * columns + c] * weights[c];
      out[r] = sum;
    });
  }
  // Calls body(c, wave of c) for the points of a half plane.
  template <class Body>
  static void for_waves(int n, double step, const Body& body) {
    for (int line = 0, c = 0; line <= n; ++line)
      for (int column = 0; column <= n / 2; ++column, ++c) body(c, wave_at(line, column, n, step));
  }
  static void matrix_slopes(const galaxy_shear::Value<T>* slope, int n, double step, Slopes* out,
                            std::int64_t rows, std::int64_t columns) {
    per_galaxy(rows, columns, [=](std::int64_t r) {
      double j11 = 0, j12 = 0, j21 = 0, j22 = 0;
      for_waves(n, step, [&](int c, const Wave& k) {
        const double first = slope[r * columns + c].re, second = slope[r * columns + c].im;
        j11 += first * k.kx;
        j12 += first * k.ky;
        j21 += second * k.kx;
        j22 += second * k.ky;
      });
      out[r].j11 = j11;
      out[r].j12 = j12;
      out[r].j21 = j21;
      out[r].j22 = j22;
    });
  }
  static void shift_slopes(const T* angle, int n, double step, Slopes* out, std::int64_t rows,
                           std::int64_t columns) {
    per_galaxy(rows, columns, [=](std::int64_t r) {
      double dx = 0, dy = 0;
      for_waves(n, step, [&](int c, const Wave& k) {
        dx += k.kx * angle[r * columns + c];
        dy += k.ky * angle[r * columns + c];
      });
      out[r].dx = dx;
      out[r].dy = dy;
    });
  }
  static void light_slopes(const Placed* placed, const galaxy_shear::Value<T>* profile_slope,
                           const T* form_slope, const T* t, const galaxy_shear::Value<T>* at,
                           Slopes* out, std::int64_t rows, std::int64_t columns) {
    per_galaxy(rows, columns, [=](std::int64_t r) {
      double light = 0, radius = 0;
      for (std::int64_t p = r * columns; p < (r + 1) * columns; ++p) {
        light += profile_slope[p].re / (t[p] * std::sqrt(t[p]));
        radius += form_slope[p] * (at[p].re * at[p].re + at[p].im * at[p].im);
      }
      out[r].light = light;
      out[r].radius = 2 * placed[r].radius * radius;
    });
  }
};

}  // namespace

std::unique_ptr<Computation> make_host_reference(Backend& backend, Problem problem) {
  return make_eager<HostVerbs>(backend, std::move(problem));
}

}  // namespace holdfast::galaxy_shear::HOLDFAST_ISA
