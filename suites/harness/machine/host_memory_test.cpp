// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/host_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <fstream>

#include "base/testing/sanitizer.hpp"

namespace holdfast {
namespace {

// Makes this much memory resident and releases it.
void take_and_give_back(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(::munmap(memory, bytes), 0);
}

TEST(HostMemory, IsThatOfTheWatchAloneAndItsPeakIsTheMostMeanwhile) {
  if (sanitized) GTEST_SKIP() << "what a sanitizer holds beside it hides it";
  if (!(std::ofstream("/proc/self/clear_refs") << "5" << std::flush))
    GTEST_SKIP() << "this system sets no high-water mark back";
  constexpr std::int64_t taken = 64 << 20, other = 16 << 20;
  take_and_give_back(4 * taken);
  const HostMemoryWatch watch;
  take_and_give_back(taken);
  const auto seen = watch.reading();
  if (!seen) GTEST_SKIP() << "this system does not tell";
  EXPECT_GT(seen->peak - seen->before, taken - other);
  EXPECT_LT(seen->peak - seen->before, taken + other);
  EXPECT_LT(seen->after - seen->before, other);
}

}  // namespace
}  // namespace holdfast
