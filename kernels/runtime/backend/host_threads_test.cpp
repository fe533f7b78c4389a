// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/host_threads.hpp"

#include <cblas.h>
#include <gtest/gtest.h>
#include <omp.h>

#include "runtime/backend/backend.hpp"

namespace holdfast {
namespace {

void expect_threads(int count) {
  EXPECT_EQ(omp_get_max_threads(), count);
  EXPECT_EQ(openblas_get_num_threads(), count);
}

TEST(FewerThreads, AreOfLoopsAndOfTheLibraryUntilTheyEnd) {
  use_host_threads(host_limits().threads);
  {
    const FewerThreads one(1);
    expect_threads(1);
  }
  expect_threads(host_limits().threads);
}

TEST(FewerThreads, AreNeverMore) {
  const FewerThreads most(host_limits().threads + 1);
  expect_threads(host_limits().threads);
}

TEST(HostThreads, AreNotFewerOnABusyMachine) {
  omp_set_dynamic(1);  // as OMP_DYNAMIC=true does
  use_host_threads(2);
  EXPECT_EQ(omp_get_dynamic(), 0);
}

TEST(FewerThreads, EndWhereABackendIsOpened) {
  const FewerThreads one(1);
  (void)open_backend("host");
  expect_threads(host_limits().threads);
}

}  // namespace
}  // namespace holdfast
