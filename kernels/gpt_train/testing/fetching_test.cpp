// SPDX-License-Identifier: Apache-2.0
// The worker that fetches ahead, and trainings on a host with it.
#include "gpt_train/stepped/fetching.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "gpt_train/testing/support.hpp"
#include "runtime/base/error.hpp"
#include "testing/error_of.hpp"

namespace holdfast::gpt_train {
namespace {

TEST(FetchWorker, FillsWhatStepsTakeInTheirOrderAndIsTwoAheadAtMost) {
  std::array<std::int64_t, FetchWorker::slots> slots = {};
  std::atomic<std::int64_t> newest = -1;
  FetchWorker worker([&](std::int64_t step, std::size_t slot) {
    slots[slot] = 100 + step;
    newest = step;
  });
  worker.begin(3);
  for (std::int64_t step = 3; step < 40; ++step) {
    worker.take(step);
    EXPECT_EQ(slots[static_cast<std::size_t>(step) % 2], 100 + step);
    EXPECT_LE(newest, step + 1);
    worker.give_back(step);
  }
}

TEST(FetchWorker, LeavesASlotAloneUntilItIsGivenBack) {
  std::atomic<int> filled = 0;
  FetchWorker worker([&](std::int64_t, std::size_t) { ++filled; });
  worker.begin(0);
  worker.take(0);
  worker.take(1);
  worker.halt();  // it is idle from here on, whatever it has filled
  EXPECT_EQ(filled, 2);
}

TEST(FetchWorker, BeginsAnewWhereItIsTold) {
  std::atomic<std::int64_t> first = -1;
  FetchWorker worker([&](std::int64_t step, std::size_t) {
    if (first < 0) first = step;
  });
  worker.begin(0);
  worker.take(0);
  worker.halt();
  first = -1;
  worker.begin(7);
  worker.take(7);
  EXPECT_EQ(first, 7);
}

TEST(FetchWorker, TellsWhatWasWaitedForSinceItBegan) {
  FetchWorker worker([](std::int64_t, std::size_t) {});
  worker.begin(0);
  worker.take(0);
  ASSERT_GT(worker.waited_seconds(), 0);
  worker.begin(0);
  EXPECT_EQ(worker.waited_seconds(), 0);
}

TEST(FetchWorker, WhatFillingThrowsIsThrownToWhoTakes) {
  FetchWorker worker([](std::int64_t step, std::size_t) {
    if (step == 1) throw Error(Fault::bad_input, "no target tokens");
  });
  worker.begin(0);
  EXPECT_EQ(refusal_of([&] {
              for (std::int64_t step = 0; step < 2; ++step) worker.take(step);
            }),
            "no target tokens");
}

// In plain loops over SplitMix64's published finaliser.
std::uint64_t rounds_of(std::uint64_t x, int rounds) {
  for (int k = 0; k < rounds; ++k) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    x = x ^ (x >> 31);
  }
  return x;
}

TEST(Fetching, TakesAllRoundsOfEachToken) {
  const Options options = {.fetching = {.rounds = 5}};
  const Fetched found = fetched(options, 2);
  EXPECT_EQ(found.batch.tokens, batch_of(options, 2).tokens);
  std::uint64_t expected = 0;
  for (const int token : found.batch.tokens) expected += rounds_of(std::uint64_t(token), 5);
  EXPECT_EQ(found.checksum, expected);
}

TEST(Fetching, AheadOnAHostGivesTheBitsOfFetchingInEachStep) {
  Options options = {.shape = shape_of(Model::micro), .fetching = {.rounds = 3}};
  for (const Variant variant : {Variant::reference, Variant::optimized}) {
    options.fetching.ahead = false;
    const std::vector<double> series = after(variant, Unit::train_step, options, 7);
    options.fetching.ahead = true;
    EXPECT_EQ(after(variant, Unit::train_step, options, 7), series);
  }
}

TEST(Fetching, AheadBeginsAgainWhereItBegan) {
  const Options options = {.shape = shape_of(Model::micro), .fetching = {true, 2}};
  const auto backend = open_backend("host");
  const auto training = make(Unit::train_step, *backend, Variant::optimized, options);
  const auto checksum = [&] { return training->readings().back().value; };
  const std::vector<double> first = result_of(*training);
  const double fetched_first = checksum();
  training->step();
  EXPECT_NE(checksum(), fetched_first);
  training->start_again(0);
  EXPECT_EQ(result_of(*training), first);
  EXPECT_EQ(checksum(), fetched_first);
}

}  // namespace
}  // namespace holdfast::gpt_train
