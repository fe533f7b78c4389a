// SPDX-License-Identifier: Apache-2.0
// For the tests of the device variants: problems, and what becomes of them on the emulated and on
// the dry device.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cubed_sphere_swe/cubed_sphere_swe.hpp"
#include "cubed_sphere_swe/kernels_on_cpu.hpp"
#include "cubed_sphere_swe/variants.hpp"
#include "runtime/error.hpp"

namespace holdfast::cubed_sphere_swe {

inline constexpr Variant variants[] = {Variant::reference, Variant::optimized};
inline std::string name(Variant variant) {
  return variant == Variant::reference ? "reference" : "optimized";
}

inline Problem random_problem(Unit unit, int n) {
  return {.unit = unit, .n = n, .dt = 1. / (3 * n), .start = initial_state({n}, Start::random)};
}

inline std::unique_ptr<Computation> make(Backend& backend, Variant variant, Problem problem) {
  return variant == Variant::reference ? make_cuda_reference(backend, std::move(problem))
                                       : make_cuda_optimized(backend, std::move(problem));
}

// result() after so many calls of step(), on an emulated device of its own.
inline std::vector<double> after(int calls, Variant variant, const Problem& problem,
                                 Emulation emulation = {}) {
  const auto backend = emulated(variant, emulation);
  const auto computation = make(*backend, variant, problem);
  for (int i = 0; i < calls; ++i) computation->step();
  return computation->result();
}

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    worst = std::max(worst, std::isnan(a[i] - b[i]) ? INFINITY : std::abs(a[i] - b[i]));
  return worst;
}

// What a computation costs on the dry device.
struct Cost {
  Cost(int sm, Variant variant, const Problem& problem)
      : backend(open_backend(text("cuda-dry:sm_", sm))),
        computation(make(*backend, variant, problem)) {
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

}  // namespace holdfast::cubed_sphere_swe
