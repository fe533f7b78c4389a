// SPDX-License-Identifier: Apache-2.0
// For tests over the variants of the host backend: how a result is computed, and how exact it is.
#pragma once

#include <ostream>
#include <string_view>
#include <vector>

#include "clusterless_kde/clusterless_kde.hpp"
#include "runtime/backend.hpp"

namespace holdfast::clusterless_kde {

// One way to compute the same numbers.
struct Way {
  std::string_view name = {};
  Variant variant = Variant::reference;
  Arithmetic arithmetic = Arithmetic::f32;
  double per_spike = 1e-4;  // error of a spike's likelihood that is allowed

  Options with(Options options) const {
    options.arithmetic = arithmetic;
    return options;
  }
};
inline std::ostream& operator<<(std::ostream& out, const Way& way) {
  return out << way.name;
}

inline constexpr Way ways[] = {
    {"reference_f32", Variant::reference, Arithmetic::f32, 1e-4},
    {"reference_f64", Variant::reference, Arithmetic::f64, 1e-10},
    {"optimized_f32", Variant::optimized, Arithmetic::f32, 1e-4},
    {"optimized_f64", Variant::optimized, Arithmetic::f64, 1e-9},
};

using Factory = std::unique_ptr<Computation> (*)(Backend&, Variant, const Input&, const Options&);

inline std::vector<double> compute(Factory make, const Way& way, const Input& input,
                                   const Options& options = {}) {
  const auto backend = open_backend("host");
  const auto computation = make(*backend, way.variant, input, way.with(options));
  computation->step();
  return computation->result();
}
inline std::vector<double> decode(const Way& way, const Input& input, const Options& options = {}) {
  return compute(make_decode, way, input, options);
}

// o[P] and G[P] of an encode's result.
inline std::vector<double> occupancy(const std::vector<double>& encoded) {
  return {encoded.begin(), encoded.begin() + static_cast<std::ptrdiff_t>(encoded.size() / 2)};
}
inline std::vector<double> ground(const std::vector<double>& encoded) {
  return {encoded.begin() + static_cast<std::ptrdiff_t>(encoded.size() / 2), encoded.end()};
}

}  // namespace holdfast::clusterless_kde
