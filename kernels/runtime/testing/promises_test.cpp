// SPDX-License-Identifier: Apache-2.0
// The promises on the emulated device, in both orders of threads and of copies; and each broken
// once, to show that a real GPU that breaks it would be reported.
#include "runtime/testing/promises.hpp"

#include "runtime/emulation/emulated_device.hpp"
#include "testing/failures_of.hpp"

#include "runtime/emulation/emulation_shim.hpp"

#include "runtime/device_code/grid_barrier.cuh"

namespace holdfast::promises {
namespace on_cpu {
#include "runtime/testing/promises.cu"
}

namespace {

using testing::HasSubstr;

constexpr std::size_t room = 1 << 20;

// A device with these kernels, or with a planted fault in place of one.
struct Planted {
  void (*ramp)(double*, int) = &on_cpu::ramp<double>;
  void (*step)(double*, int) = &on_cpu::step;
  void (*meet)(unsigned*, unsigned*, unsigned*, int) = &on_cpu::meet;
};

std::unique_ptr<Backend> emulated(const Planted& planted = {}, const Emulation& emulation = {}) {
  const Kernels listed;
  EmulatedKernels kernels;
  kernels.add(listed.ramp_f32, &on_cpu::ramp<float>);
  kernels.add(listed.ramp_f64, planted.ramp);
  kernels.add(listed.step, planted.step);
  kernels.add(listed.add, &on_cpu::add);
  kernels.add(listed.meet, planted.meet);
  return make_emulated_backend(std::move(kernels), emulation);
}

struct Promises : testing::TestWithParam<Emulation> {
  std::unique_ptr<Backend> backend = emulated({}, GetParam());
};

INSTANTIATE_TEST_SUITE_P(EmulatedDevice, Promises,
                         testing::Values(Emulation{},
                                         Emulation{.order = emulation::Order::backward,
                                                   .copies = emulation::CopyLane::early}),
                         [](const auto& tested) {
                           return tested.param.order == emulation::Order::forward ? "forward"
                                                                                  : "backward";
                         });

TEST_P(Promises, OfGraphsAreKept) {
  graphs(*backend);
}

TEST_P(Promises, OfTransformsAreKept) {
  transforms(*backend);
}

TEST_P(Promises, OfCopiesAreKept) {
  copies(*backend);
}

TEST_P(Promises, OfMemoryAreKeptByTheDevice) {
  no_more_memory_than_there_is(*backend, std::size_t{1} << 30);
}

TEST_P(Promises, OfMemoryAreKeptByTheLedger) {
  backend->ledger.limit_to(room);
  no_more_memory_than_there_is(*backend, room);
}

TEST_P(Promises, OfMeetingsAreKept) {
  meetings(*backend);
}

TEST(BrokenPromises, AGraphThatIsReplayedOnceIsFound) {
  static int launches = 0;
  const auto backend = emulated({.step = [](double* x, int n) {
    launches += threadIdx.x == 0 && blockIdx.x == 0;
    if (launches <= 4) on_cpu::step(x, n);
  }});
  const std::string told = failures_of([&] { graphs(*backend); });
  EXPECT_THAT(told, HasSubstr("x after 3 replays: 1000 of 1000 values differ"));
  EXPECT_THAT(told, HasSubstr("y after 4 replays: ")) << "it goes on";
  EXPECT_THAT(told, testing::Not(HasSubstr("x after 2 replays"))) << "those were right";
}

TEST(BrokenPromises, OneValueOfATransformIsFound) {
  const auto backend = emulated({.ramp = [](double* x, int n) {
    on_cpu::ramp(x, n);
    if (blockIdx.x == 1 && threadIdx.x == 0) x[128] += 1e-9;
  }});
  const std::string told = failures_of([&] { transforms(*backend); });
  EXPECT_THAT(told, HasSubstr("fft complex_forward [3, 64, 64] f64: "));
  EXPECT_THAT(told, HasSubstr("fft real_backward [3, 64, 64] f64: 1 of 12288 values differ"));
  EXPECT_THAT(told, testing::Not(HasSubstr("f32"))) << "those were right";
}

TEST(BrokenPromises, AnEventThatNobodyWaitsForIsFound) {
  EXPECT_THAT(failures_of([] { copies(*emulated(), false); }),
              HasSubstr("the sum of ten uploads: 100000 of 100000 values differ"));
}

TEST(BrokenPromises, MemoryWithoutAnEndIsFound) {
  EXPECT_THAT(failures_of([] { no_more_memory_than_there_is(*emulated(), room); }),
              HasSubstr("accepted"));
}

TEST(BrokenPromises, ABarrierThatLetsABlockPassIsFound) {
  const auto backend =
      emulated({.meet = [](unsigned* word, unsigned* given, unsigned* taken, int rounds) {
        for (int round = 0; round < rounds; ++round) {
          if (threadIdx.x == blockDim.x - 1 && round != 7)
            given[blockIdx.x] = 3 * taken[blockIdx.x] + blockIdx.x;
          grid_barrier(word);
          if (threadIdx.x == 0) taken[blockIdx.x] = given[(blockIdx.x + 1) % gridDim.x];
          grid_barrier(word);
        }
      }});
  EXPECT_THAT(failures_of([&] { meetings(*backend); }),
              HasSubstr("what blocks took in 1 launches: 4 of 4 values differ"));
}

}  // namespace
}  // namespace holdfast::promises
