// SPDX-License-Identifier: Apache-2.0
// Compiled with -fsanitize=thread, so that its kernels are seen.
#include "runtime/emulation/traffic.hpp"

#include <gtest/gtest.h>

#include <span>
#include <stdexcept>
#include <vector>

#include "runtime/emulation/emulation.hpp"

namespace holdfast::emulation {
namespace {

struct alignas(16) Four {
  float x = 0, y = 0, z = 0, w = 0;
};

alignas(128) thread_local float tile[32][33] = {};
[[maybe_unused]] const bool tile_is_watched =
    watch([] { return std::span(reinterpret_cast<unsigned char*>(tile), sizeof(tile)); });

struct TrafficTest : testing::Test {
  static constexpr std::size_t count = 4096;

  TrafficTest() {
    add_device_memory(x, count * sizeof(double));
    add_device_memory(y, count * sizeof(double));
  }
  ~TrafficTest() override {
    remove_device_memory(x);
    remove_device_memory(y);
  }

  // Of one launch; `kernel` takes the thread's number.
  template <class Kernel>
  static Traffic of(const Kernel& kernel, unsigned threads = 64, unsigned blocks = 1) {
    const TrafficRecord record;
    run_grid("kernel", {.grid = {blocks}, .block = {threads}, .shared_bytes = sizeof(tile)},
             Order::forward, [&] { kernel(blockIdx.x * blockDim.x + threadIdx.x); });
    const auto found = record.kernels().find("kernel");
    return found == record.kernels().end() ? Traffic{} : found->second;
  }

  static void expect(const Traffic& traffic, const Traffic& expected) {
    EXPECT_EQ(traffic.requests, expected.requests);
    EXPECT_EQ(traffic.sectors, expected.sectors);
    EXPECT_EQ(traffic.least_sectors, expected.least_sectors);
    EXPECT_EQ(traffic.wavefronts, expected.wavefronts);
    EXPECT_EQ(traffic.least_wavefronts, expected.least_wavefronts);
  }

  alignas(256) double x[count] = {}, y[count] = {};
};

TEST_F(TrafficTest, NeighboursShareSectors) {
  expect(of([this](unsigned i) { y[i] = x[i]; }, 64, 3), {12, 12 * 8, 12 * 8});
}

TEST_F(TrafficTest, FarPlacesTakeASectorEach) {
  expect(of([this](unsigned i) { y[i] = x[4 * i]; }), {4, 2 * (32 + 8), 4 * 8});
}

TEST_F(TrafficTest, OnePlaceIsOneSector) {
  expect(of([this](unsigned i) { y[i] = x[100]; }), {4, 2 * (1 + 8), 2 * (1 + 8)});
}

TEST_F(TrafficTest, PlacesThatBeginInsideOfASectorTakeOneMore) {
  expect(of([this](unsigned i) { y[i + 1] = 1; }, 32), {1, 9, 8});
}

TEST_F(TrafficTest, OrderWithinAWarpCostsNothing) {
  expect(of([this](unsigned i) { y[i ^ 21u] = 1; }, 32), {1, 8, 8});
}

TEST_F(TrafficTest, MembersOfAVectorAreOneRequest) {
  const auto copy = [this](unsigned i) {
    reinterpret_cast<Four*>(y)[i] = reinterpret_cast<const Four*>(x)[i];
  };
  expect(of(copy, 32), {2, 2 * 16, 2 * 16});
}

// As a GPU has it, where each of the two moves every sector.
TEST_F(TrafficTest, NumbersReadOneByOneAreARequestEachThoughTheyAdjoin) {
  expect(of([this](unsigned i) { y[i] = x[2 * i] + x[2 * i + 1]; }, 32),
         {3, 16 + 16 + 8, 8 + 8 + 8});
}

TEST_F(TrafficTest, OfAKernelThatThrewNothingIsLeftToTheNext) {
  const auto fail = [this](unsigned i) {
    y[i] = 1;
    throw std::runtime_error("planted");
  };
  EXPECT_ANY_THROW(of(fail, 32));
  run_grid("wider", {.block = {256}}, Order::forward, [this] { y[threadIdx.x] = 1; });
  expect(of([this](unsigned i) { y[i] = 1; }, 32), {1, 8, 8});
}

TEST_F(TrafficTest, EachRoundOfALoopIsARequest) {
  const auto sum = [this](unsigned i) {
    for (unsigned k = i; k < 320; k += 32) y[i] += x[k];
  };
  const Traffic traffic = of(sum, 32);
  EXPECT_EQ(traffic.sectors, 8 * traffic.requests);
  EXPECT_EQ(traffic.sectors, traffic.least_sectors);
  EXPECT_GE(traffic.requests, 11);
}

TEST_F(TrafficTest, LanesThatDoNotTakePartAskForNothing) {
  expect(of(
             [this](unsigned i) {
               if (i % 4 == 0) y[i] = 1;
             },
             32),
         {1, 8, 2});
  expect(of([this](unsigned i) { y[i] = 1; }, 40), {2, 8 + 2, 8 + 2});
}

Traffic wavefronts(std::int64_t made, std::int64_t least) {
  return {.wavefronts = made, .least_wavefronts = least};
}

TEST_F(TrafficTest, NeighbouringWordsOfSharedMemoryAreAWavefront) {
  expect(of([](unsigned i) { tile[0][i] = 1; }, 32), wavefronts(1, 1));
  expect(of([](unsigned) { tile[3][7] = 1; }, 32), wavefronts(1, 1));
}

TEST_F(TrafficTest, WordsOfOneBankTakeAWavefrontEach) {
  float* const flat = &tile[0][0];
  expect(of([=](unsigned i) { flat[32 * i] = 1; }, 32), wavefronts(32, 1));
  expect(of([=](unsigned i) { flat[2 * i] = 1; }, 32), wavefronts(2, 1));
  // A row longer by a word puts a column into different banks.
  expect(of([](unsigned i) { tile[i][5] = 1; }, 32), wavefronts(1, 1));
}

TEST_F(TrafficTest, WiderWordsTakeMoreWavefronts) {
  auto* const numbers = reinterpret_cast<double*>(&tile[0][0]);
  expect(of([=](unsigned i) { numbers[i] = 1; }, 32), wavefronts(2, 2));
  auto* const vectors = reinterpret_cast<Four*>(&tile[0][0]);
  expect(of([=](unsigned i) { vectors[i] = {}; }, 32), wavefronts(4, 4));
}

TEST_F(TrafficTest, CopiesBehindAKernelAreAReadAndAWrite) {
  auto* const vectors = reinterpret_cast<Four*>(&tile[0][0]);
  const auto copy = [=, this](unsigned i) {
    copy_behind(vectors + i, x + 2 * i);
    finish_copies();
  };
  expect(of(copy, 32), {1, 16, 16, 4, 4});
}

TEST_F(TrafficTest, MemoryOfNoDeviceIsNone) {
  std::vector<double> shared(64);
  expect(of([&](unsigned i) { shared[i] = i; }), {});
  remove_device_memory(x);
  expect(of([this](unsigned i) { x[i] = i; }), {});
}

TEST_F(TrafficTest, IsOfEachKernelWhileItIsRecorded) {
  const auto launch = [this](const char* name) {
    run_grid(name, {.block = {32}}, Order::backward, [this] { y[threadIdx.x] = 1; });
  };
  launch("before");
  const TrafficRecord record;
  for (const char* name : {"once", "twice", "twice"}) launch(name);
  ASSERT_EQ(record.kernels().size(), 2u);
  expect(record.kernels().at("once"), {1, 8, 8});
  expect(record.kernels().at("twice"), {2, 16, 16});
}

TEST_F(TrafficTest, BlocksOfACooperativeLaunchCountEach) {
  const TrafficRecord record;
  run_grid("kernel", {.grid = {3}, .block = {64}, .cooperative = true}, Order::forward,
           [this] { y[blockIdx.x * 64 + threadIdx.x] = 1; });
  expect(record.kernels().at("kernel"), {6, 6 * 8, 6 * 8});
}

}  // namespace
}  // namespace holdfast::emulation
