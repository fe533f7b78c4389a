// SPDX-License-Identifier: Apache-2.0
// What a step takes from the heap, which no ledger counts: nothing that grows with its points.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "xpcs_fit/testing/support.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace {

std::atomic<std::size_t> taken = 0;  // bytes, by all threads

[[gnu::noinline]] void* take(std::size_t bytes, std::size_t alignment) {
  taken += bytes;
  void* memory = nullptr;
  if (::posix_memalign(&memory, std::max(alignment, sizeof(void*)), bytes) != 0)
    throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void give_back(void* memory) {
  std::free(memory);
}

}  // namespace

// In place of the library's.
void* operator new(std::size_t bytes) {
  return take(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return take(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  give_back(memory);
}

namespace holdfast::xpcs_fit {
namespace {

// Integrals over frames are formed on the heap, by each of them a few times.
TEST(XpcsHeap, HoldsNothingOfAStepThatGrowsWithItsPoints) {
  constexpr Size size = {2, 400};
  constexpr std::size_t array = sizeof(double) * size.frames;
  for (const Mode mode : {Mode::at_rest, Mode::laminar})
    for (const Unit unit : {Unit::g2, Unit::residual, Unit::normal_equations}) {
      const auto backend = open_backend("host");
      const auto computation =
          make(unit, *backend, Variant::optimized, problem(size, {.mode = mode}));
      computation->step();
      const std::size_t before = taken;
      computation->step();
      EXPECT_LT(taken - before, 20 * array) << static_cast<int>(unit);
    }
}

}  // namespace
}  // namespace holdfast::xpcs_fit
