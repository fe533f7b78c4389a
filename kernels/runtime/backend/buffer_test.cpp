// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/buffer.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "runtime/backend/spoil.hpp"
#include "testing/error_of.hpp"

namespace holdfast {
namespace {

using testing::ElementsAre;

struct HostBuffer : testing::Test {
  std::unique_ptr<Backend> backend = open_backend("host");
};

TEST_F(HostBuffer, HoldsWhatWasUploaded) {
  Buffer<int> buffer(*backend, 3, "b");
  buffer.upload(std::vector<int>{1, 2, 3});
  EXPECT_THAT(buffer.to_host(), ElementsAre(1, 2, 3));
}

TEST_F(HostBuffer, IsCountedWhileItLives) {
  { const Buffer<double> buffer(*backend, 100, "b"); }
  EXPECT_EQ(backend->ledger.peak_bytes, 800);
  EXPECT_EQ(backend->ledger.live_bytes, 0);
  EXPECT_EQ(backend->ledger.counts.allocations, 1);
}

TEST_F(HostBuffer, StartsAtACacheLine) {
  for (const std::size_t size : {1, 3, 1000})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(Buffer<char>(*backend, size, "b").data()) % 64, 0u);
}

// If their lowest twelve address bits match, loads wait for stores.
TEST_F(HostBuffer, LargeArraysKeepClearOfOneAnotherWhateverElseIsAllocated) {
  const auto at = [](const Buffer<char>& buffer) {
    return reinterpret_cast<std::uintptr_t>(buffer.data());
  };
  std::vector<Buffer<char>> large;
  std::vector<std::vector<char>> others;
  for (int i = 0; i < 9; ++i) {
    others.emplace_back(1000 * i + 1);
    large.emplace_back(*backend, 113'024, "large");
    const Buffer<char> small(*backend, 100, "small");
    EXPECT_EQ(at(large.back()) % 4096, i * 1472 % 4096);
  }
}

TEST_F(HostBuffer, RefusesAnUploadOfAnotherSize) {
  Buffer<int> buffer(*backend, 3, "b");
  EXPECT_THROW(buffer.upload(std::vector<int>{1, 2}), Error);
}

TEST_F(HostBuffer, IsReleasedOnceAfterItWasMoved) {
  Buffer<int> first(*backend, 3, "b");
  const Buffer<int> second(std::move(first));
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move): it is what is claimed
  EXPECT_EQ(second.size(), 3u);
  EXPECT_EQ(backend->ledger.live_bytes, 12);
}

TEST_F(HostBuffer, MoveAssignmentKeepsBothAccounts) {
  {
    Buffer<int> first(*backend, 3, "first"), second(*backend, 5, "second");
    first = std::move(second);
    EXPECT_EQ(first.size(), 5u);
  }
  EXPECT_EQ(backend->ledger.live_bytes, 0);
}

TEST_F(HostBuffer, SpoiltHoldsNoNumberAndNothingElseIsTouched) {
  Buffer<double> out(*backend, 3, "out");
  Buffer<float> model(*backend, 2, "model"), again(*backend, 2, "out");
  model.upload(std::vector<float>{1, 2});
  EXPECT_EQ(spoil(*backend, "out"), 3 * sizeof(double) + 2 * sizeof(float));
  for (const double value : out.to_host()) EXPECT_TRUE(std::isnan(value));
  for (const float value : again.to_host()) EXPECT_TRUE(std::isnan(value));
  EXPECT_THAT(model.to_host(), ElementsAre(1, 2));
}

TEST_F(HostBuffer, APartIsSpoiltAndTheRestIsNot) {
  Buffer<float> state(*backend, std::vector<float>{1, 2, 3, 4}, "state");
  spoil(*backend, state.data() + 1, 2 * sizeof(float));
  EXPECT_THAT(state.to_host(), ElementsAre(1, testing::IsNan(), testing::IsNan(), 4));
}

TEST_F(HostBuffer, SpoiltIsOnlyWhatLivesOnThisBackend) {
  { const Buffer<double> gone(*backend, 3, "out"); }
  const auto other = open_backend("host");
  const Buffer<double> theirs(*other, 5, "out");
  EXPECT_EQ(spoil(*backend, "out"), 0u);
}

TEST_F(HostBuffer, MayBeEmpty) {
  const Buffer<int> buffer(*backend, 0, "b");
  EXPECT_TRUE(buffer.to_host().empty());
}

TEST_F(HostBuffer, WhatTheMachineRefusesIsNotHeld) {
  backend->ledger.limit_to(std::numeric_limits<std::int64_t>::max());
  EXPECT_THAT(
      refusal_of([&] { allocate(*backend, std::size_t{1} << 60, "huge"); }, Fault::out_of_memory),
      testing::HasSubstr("and this machine has no more"));
  EXPECT_EQ(backend->ledger.live_bytes, 0);
  EXPECT_EQ(backend->ledger.peak_bytes, 0);
  EXPECT_THAT(backend->ledger.peak_by_site(), testing::IsEmpty());
  EXPECT_EQ(backend->ledger.counts.allocations, 0);
  backend->ledger.allocated(std::int64_t{1} << 61, "gone since");  // an earlier peak above it
  backend->ledger.released(std::int64_t{1} << 61, "gone since");
  EXPECT_THROW(allocate(*backend, std::size_t{1} << 60, "huge"), Error);
  EXPECT_EQ(backend->ledger.live_bytes, 0);
  EXPECT_EQ(backend->ledger.counts.allocations, 1);
}

TEST_F(HostBuffer, MoreThanTheMemoryLimitIsRefusedWithBothNumbers) {
  const auto limit = host_limits().memory_bytes;
  ASSERT_TRUE(limit);
  EXPECT_THAT(refusal_of([&] { allocate(*backend, static_cast<std::size_t>(*limit) + 1, "huge"); },
                         Fault::out_of_memory),
              testing::HasSubstr(text("failed to allocate 'huge': it asks for ", *limit + 1,
                                      " bytes where 0 are held and ", *limit,
                                      " allowed; choose a smaller size or raise "
                                      "HOLDFAST_MEMORY_LIMIT_GB")));
  EXPECT_EQ(backend->ledger.live_bytes, 0);
}

}  // namespace
}  // namespace holdfast
