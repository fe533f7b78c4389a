// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/host_threads.hpp"

#include <cblas.h>
#include <omp.h>

#include <algorithm>

#include "runtime/backend/host_limits.hpp"

namespace holdfast {

void use_host_threads(int threads) {
  omp_set_dynamic(0);  // OpenMP may give fewer of them, and OpenBLAS would wait for the others
  omp_set_num_threads(threads);
  openblas_set_num_threads(threads);
}

FewerThreads::FewerThreads(int most) {
  use_host_threads(std::min(most, host_limits().threads));
}
// NOLINTNEXTLINE(bugprone-exception-escape): the limits were read by the constructor
FewerThreads::~FewerThreads() {
  use_host_threads(host_limits().threads);
}

}  // namespace holdfast
