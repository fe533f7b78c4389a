// SPDX-License-Identifier: Apache-2.0
// For the tests of the optimized variant on a device: what becomes of an input on the emulated and
// on the dry device.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "clusterless_kde/clusterless_kde.hpp"
#include "clusterless_kde/kernels_on_cpu.hpp"
#include "clusterless_kde/variants.hpp"
#include "runtime/error.hpp"

namespace holdfast::clusterless_kde {

inline std::unique_ptr<Computation> make_unit(Backend& backend, Unit unit, const Input& input,
                                              const Options& options = {}) {
  using Factory = std::unique_ptr<Computation> (*)(Backend&, Variant, const Input&, const Options&);
  constexpr Factory factories[] = {make_encode, make_decode, make_total, make_local};
  return factories[static_cast<int>(unit)](backend, Variant::optimized, input, options);
}

// result() after so many steps on an emulated device of its own.
inline std::vector<double> emulated_result(Unit unit, const Input& input,
                                           const Options& options = {}, Emulation emulation = {},
                                           int steps = 1) {
  const auto backend = emulated(emulation);
  const auto computation = make_unit(*backend, unit, input, options);
  for (int i = 0; i < steps; ++i) computation->step();
  return computation->result();
}

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    worst = std::max(worst, std::isnan(a[i] - b[i]) ? INFINITY : std::abs(a[i] - b[i]));
  return worst;
}

inline double reading(Computation& computation, std::string_view name) {
  for (const NamedReading& each : computation.readings())
    if (each.name == name) return each.value;
  return NAN;
}

// What a computation costs on the dry device.
struct DryRun {
  explicit DryRun(Unit unit, const Input& input, const Options& options = {}, int sm = 90)
      : backend(open_backend(text("cuda-dry:sm_", sm))),
        computation(make_unit(*backend, unit, input, options)) {
    setup = backend->ledger.counts;
  }
  Counts step() {
    const Counts before = backend->ledger.counts;
    backend->ledger.enter(Ledger::Phase::steady);
    computation->step();
    backend->ledger.enter(Ledger::Phase::building);
    return backend->ledger.counts - before;
  }

  std::unique_ptr<Backend> backend;
  std::unique_ptr<Computation> computation;
  Counts setup = {};
};

}  // namespace holdfast::clusterless_kde
