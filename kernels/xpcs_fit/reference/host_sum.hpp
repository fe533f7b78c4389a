// SPDX-License-Identifier: Apache-2.0
// A sum that threads share and whose bits repeat. For sources that are compiled once for each
// instruction set.
#pragma once

#include <omp.h>

#include <cstdint>
#include <vector>

#include "runtime/backend/host_limits.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {

// The sum of term(k) for k of 0 .. count - 1. Each thread adds up a range, and the sums of threads
// are added in the order of threads, where a reduction of OpenMP adds them as they arrive.
template <class Term>
double ordered_sum(std::int64_t count, const Term& term) {
  std::vector<double> parts(static_cast<std::size_t>(host_limits().threads));
#pragma omp parallel num_threads(host_limits().threads)
  {
    double part = 0;
#pragma omp for schedule(static) nowait
    for (std::int64_t k = 0; k < count; ++k) part += term(k);
    parts[static_cast<std::size_t>(omp_get_thread_num())] = part;
  }
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

}  // namespace holdfast::xpcs_fit::HOLDFAST_ISA
