// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/threads_apart.hpp"

#include <omp.h>

#include "runtime/backend/host_limits.hpp"

namespace holdfast {

std::vector<cpu_set_t> shares_of(const cpu_set_t& allowed, int threads) {
  if (CPU_COUNT(&allowed) < threads) return {};
  std::vector<cpu_set_t> shares(static_cast<std::size_t>(threads));
  for (cpu_set_t& share : shares) CPU_ZERO(&share);
  std::size_t next = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &shares[next++ % shares.size()]);
  return shares;
}

void stay_on(const std::vector<int>& cpus) {
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (const int cpu : cpus) CPU_SET(cpu, &chosen);
  (void)::sched_setaffinity(0, sizeof chosen, &chosen);
}

ThreadsApart::ThreadsApart() {
  cpu_set_t allowed;
  const int threads = host_limits().threads;
  if (threads < 2 || ::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const std::vector<cpu_set_t> shares = shares_of(allowed, threads);
  if (shares.empty()) return;
  before_ = allowed;
#pragma omp parallel num_threads(threads)
  (void)::sched_setaffinity(0, sizeof(cpu_set_t),
                            &shares[static_cast<std::size_t>(omp_get_thread_num())]);
}

ThreadsApart::~ThreadsApart() {
  if (!before_) return;
#pragma omp parallel num_threads(host_limits().threads)
  (void)::sched_setaffinity(0, sizeof(cpu_set_t), &*before_);
}

}  // namespace holdfast
