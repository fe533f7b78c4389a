// SPDX-License-Identifier: Apache-2.0
// Initial states. All but `random` are at rest.
#include "cubed_sphere_swe/problem/state.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "cubed_sphere_swe/problem/exact_solution.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

State at_rest(int n) {
  return {std::vector<double>(height_count(n)), std::vector<double>(velocity_count(n)),
          std::vector<double>(velocity_count(n))};
}

// SplitMix64's output for the input (tag << 40) + k, mapped to [-1, 1): exact in double precision.
double random_value(std::uint64_t tag, std::uint64_t k) {
  std::uint64_t z = (tag << 40) + k + 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-52 - 1;
}

void fill_random(std::uint64_t tag, std::vector<double>& field) {
  for (std::size_t k = 0; k < field.size(); ++k) field[k] = random_value(tag, k);
}

void validate_field(std::string_view name, std::span<const double> field, int rows, int columns) {
  const std::size_t expected = std::size_t{6} * rows * columns;
  if (field.size() != expected)
    throw Error(Fault::bad_input, text("state ", name, ": expected [6, ", rows, ", ", columns,
                                       "] = ", expected, " values, ", field.size(), " given"));
  const auto wrong =
      std::find_if(field.begin(), field.end(), [](double x) { return !std::isfinite(x); });
  if (wrong == field.end()) return;
  const auto at = static_cast<std::size_t>(wrong - field.begin());
  throw Error(Fault::bad_input, text("non-finite state at ", name, "[", at / (rows * columns), ", ",
                                     at / columns % rows, ", ", at % columns, "]: ", *wrong,
                                     "; start from finite values"));
}

}  // namespace

State initial_state(Size size, Start start) {
  State state = at_rest(size.n);
  if (start == Start::random) {
    fill_random(1, state.h);
    fill_random(2, state.v1);
    fill_random(3, state.v2);
  } else {
    state.h = exact_height(size, start, 0);
  }
  return state;
}

State panel_bump(Size size, double amplitude, double width) {
  const int n = size.n;
  const Axis grid = axis(n);
  State state = at_rest(n);
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j <= n; ++j) {
      const double x1 = grid.vertices[i], x2 = grid.vertices[j];
      state.h[height_index(n, 0, i, j)] =
          amplitude * std::exp(-(x1 * x1 + x2 * x2) / (2 * width * width));
    }
  return state;
}

void validate(Size size, const State& state) {
  const int n = size.n;
  validate_field("h", state.h, n + 1, n + 1);
  validate_field("v1", state.v1, n, n + 1);
  validate_field("v2", state.v2, n + 1, n);
}

}  // namespace holdfast::cubed_sphere_swe
