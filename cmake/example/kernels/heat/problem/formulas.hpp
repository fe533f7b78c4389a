// SPDX-License-Identifier: Apache-2.0
// The mathematics of one point, which g++ and NVRTC both compile.
#pragma once

#include "runtime/device_code/both.hpp"

namespace holdfast::heat {

inline constexpr double diffusion = 0.2;  // r = alpha dt / dx^2

// dx^2 times the Laplacian at row i and column j of u, [n, n], whose last are beside its first.
HOLDFAST_BOTH constexpr double laplacian_at(const double* u, int i, int j, int n) {
  const int north = i == 0 ? n - 1 : i - 1, south = i == n - 1 ? 0 : i + 1;
  const int west = j == 0 ? n - 1 : j - 1, east = j == n - 1 ? 0 : j + 1;
  const double around = u[north * n + j] + u[south * n + j] + u[i * n + west] + u[i * n + east];
  return around - 4 * u[i * n + j];
}

}  // namespace holdfast::heat
