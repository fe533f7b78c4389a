// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/backend/buffer.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/emulation/emulated_device.hpp"
#include "runtime/sources.hpp"

#include "runtime/emulation/emulation_shim.hpp"

#include "runtime/device_code/grid_barrier.cuh"

#define DEVICE_CODE(...)                          \
  __VA_ARGS__ constexpr const char* device_code = \
      "#include \"runtime/device_code/grid_barrier.cuh\"\n" #__VA_ARGS__;

namespace barrier_on_cpu {

// given, taken: [blocks]. In each round the last thread of a block gives what the block has taken
// so far plus something, then the first one takes what the right neighbour gave: two barriers per
// round, one in the last.
DEVICE_CODE(__global__ void rounds(unsigned* word, unsigned* given, unsigned* taken, int count) {
  const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  for (int round = 0; round < count; ++round) {
    if (thread == threads - 1) given[block] = 3 * taken[block] + block;
    holdfast::grid_barrier(word);
    if (thread == 0) taken[block] = given[(block + 1) % blocks];
    if (round + 1 < count) holdfast::grid_barrier(word);
  }
})

}  // namespace barrier_on_cpu

namespace holdfast {
namespace {

constexpr Dim3 grid = {2, 2, 2};
constexpr unsigned blocks = grid.x * grid.y * grid.z;

std::vector<unsigned> taken_after(int rounds) {
  std::vector<unsigned> taken(blocks, 1);
  for (int round = 0; round < rounds; ++round) {
    const auto before = taken;
    for (unsigned i = 0; i < blocks; ++i) {
      const unsigned neighbour = (i + 1) % blocks;
      taken[i] = 3 * before[neighbour] + neighbour;
    }
  }
  return taken;
}

using Rounds = Kernel<unsigned*, unsigned*, unsigned*, int>;

Module compile(Backend& backend) {
  return backend.compiler->compile({.code = {"test/grid_barrier.cu", barrier_on_cpu::device_code},
                                    .headers = {runtime::sources::grid_barrier_cuh},
                                    .entries = {"rounds"}});
}

std::unique_ptr<Backend> emulated(emulation::Order order) {
  EmulatedKernels kernels;
  kernels.add("rounds", &barrier_on_cpu::rounds);
  return make_emulated_backend(std::move(kernels), {.order = order});
}

struct GridBarrier : testing::TestWithParam<emulation::Order> {
  std::unique_ptr<Backend> backend = emulated(GetParam());
  Rounds rounds = compile(*backend).kernel<unsigned*, unsigned*, unsigned*, int>("rounds");
  Buffer<unsigned> word{*backend, std::vector<unsigned>{0}, "grid barrier"};
  Buffer<unsigned> given{*backend, blocks, "given"};
  Buffer<unsigned> taken{*backend, std::vector<unsigned>(blocks, 1), "taken"};

  void launch(int count) {
    rounds({.grid = grid, .block = {10, 2, 2}, .cooperative = true}, word.data(), given.data(),
           taken.data(), count);
  }
};

INSTANTIATE_TEST_SUITE_P(BothOrders, GridBarrier,
                         testing::Values(emulation::Order::forward, emulation::Order::backward),
                         [](const auto& tested) {
                           return std::string(
                               tested.param == emulation::Order::forward ? "forward" : "backward");
                         });

TEST_P(GridBarrier, EveryBlockSeesWhatTheOthersWroteBeforeIt) {
  launch(20);
  EXPECT_EQ(taken.to_host(), taken_after(20));
}

TEST_P(GridBarrier, TheWordServesTheNextLaunch) {
  for (int i = 0; i < 4; ++i) launch(3);
  EXPECT_EQ(taken.to_host(), taken_after(12));
}

// By one thread of each block: five barriers here.
TEST_P(GridBarrier, FlipsTheTopBitAloneOfItsWordEachTime) {
  launch(3);
  EXPECT_EQ(word.to_host()[0], 0x80000000u);
}

TEST(GridBarrierCode, CompilesForEveryDryArchitecture) {
  for (const char* name : {"cuda-dry:sm_80", "cuda-dry:sm_90", "cuda-dry:sm_100"}) {
    const auto backend = open_backend(name);
    const Module module = compile(*backend);
    EXPECT_EQ(module.compiled().functions.front().spill_bytes, 0) << name;
  }
}

}  // namespace
}  // namespace holdfast
