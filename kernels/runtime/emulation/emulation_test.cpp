// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "runtime/backend/blas.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/backend/fft.hpp"
#include "runtime/backend/spoil.hpp"
#include "runtime/emulation/emulated_device.hpp"
#include "runtime/emulation/emulation_shim.hpp"
#include "testing/error_of.hpp"

// The kernels once for g++ and once, as text, for NVRTC.
#define TWICE(...) \
  __VA_ARGS__      \
  inline constexpr char device_code[] = #__VA_ARGS__;

namespace emulation_on_cpu {

HOLDFAST_EMULATED_SHARED(double, dynamic_tile);

TWICE(
    // Sums 256 values per block through shared memory.
    __global__ void sum(const double* x, double* y, int n) {
      __shared__ double tile[256];
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      tile[threadIdx.x] = i < n ? x[i] : 0.0;
      __syncthreads();
      for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
        __syncthreads();
      }
      if (threadIdx.x == 0) y[blockIdx.x] = tile[0];
    }

    __global__ void mirror(double* x) {
      extern __shared__ double dynamic_tile[];
      dynamic_tile[threadIdx.x] = x[threadIdx.x];
      __syncthreads();
      x[threadIdx.x] = dynamic_tile[blockDim.x - 1 - threadIdx.x];
    }

    __global__ void unwritten(double* x) {
      extern __shared__ double dynamic_tile[];
      x[threadIdx.x] = dynamic_tile[threadIdx.x];
    }

    template <int size>
    __global__ void left_behind(double* x) {
      __shared__ double one, others[size];
      if (threadIdx.x == 0) x[blockIdx.x] = one + others[size - 1];
      __syncthreads();
      one = others[size - 1] = 1;
    }

    __global__ void without_barrier(double* x) {
      __shared__ double tile[64];
      tile[threadIdx.x] = x[threadIdx.x];
      x[threadIdx.x] = tile[63 - threadIdx.x];
    }

    __global__ void with_warp_barriers(double* x) {
      __shared__ double tile[64];
      tile[threadIdx.x] = 0;
      __syncthreads();
      __syncwarp();
      tile[threadIdx.x] = x[threadIdx.x];
      __syncwarp();
      x[threadIdx.x] = tile[63 - threadIdx.x];
    }

    __global__ void divergent(double* x) {
      if (threadIdx.x < 5) {
        __syncthreads();
      }
      x[threadIdx.x] = 1;
    }

    __global__ void warp_sum(const double* x, double* y) {
      double value = x[threadIdx.x];
      for (int delta = 16; delta > 0; delta /= 2)
        value += __shfl_down_sync(0xffffffffu, value, delta);
      if (threadIdx.x % 32 == 0) y[threadIdx.x / 32] = value;
    }

    // Whole warps add up, between them their lower halves alone.
    __global__ void exchanges(double* x) {
      double value = x[threadIdx.x];
      value += __shfl_xor_sync(0xffffffffu, value, 1);
      value += __shfl_xor_sync(0xffffffffu, value, 2);
      if (threadIdx.x % 32 < 16) {
        value += __shfl_xor_sync(0xffffu, value, 4);
        value += __shfl_xor_sync(0xffffu, value, 8);
      }
      value += __shfl_xor_sync(0xffffffffu, value, 16);
      x[threadIdx.x] = value + __popc(__ballot_sync(0xffffffffu, threadIdx.x % 32 < 9));
    }

    __global__ void one_fails(double* x) {
      __syncwarp();
      if (threadIdx.x == 40) __trap();
      __syncwarp();
      x[threadIdx.x] = 1;
    }

    // Each block in turn doubles the previous block's sum.
    __global__ void relay(unsigned* arrived, double* sums) {
      for (unsigned turn = 0; turn < gridDim.x; ++turn) {
        if (turn == blockIdx.x && threadIdx.x == 0) sums[turn] = turn == 0 ? 1 : 2 * sums[turn - 1];
        __syncthreads();
        if (threadIdx.x == 0) {
          __threadfence();
          atomicAdd(arrived, 1u);
          while (atomicAdd(arrived, 0u) < (turn + 1) * gridDim.x) __nanosleep(20);
        }
        __syncthreads();
      }
    }

    __global__ void put(double* x, int i) { x[i] = 3; }

    __global__ void coordinates(int* flat) {
      const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
      const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
      const int i = block * blockDim.x * blockDim.y * blockDim.z + thread;
      flat[i] = i;
    })

}  // namespace emulation_on_cpu

namespace holdfast {
namespace {

using testing::HasSubstr;

const Program program{.code = {"test/emulation.cu", emulation_on_cpu::device_code},
                      .entries = {"sum", "mirror", "unwritten", "left_behind<2>", "without_barrier",
                                  "with_warp_barriers", "divergent", "warp_sum", "exchanges",
                                  "one_fails", "relay", "put", "coordinates"}};

EmulatedKernels kernels() {
  EmulatedKernels result;
  result.add("sum", &emulation_on_cpu::sum);
  result.add("mirror", &emulation_on_cpu::mirror);
  result.add("unwritten", &emulation_on_cpu::unwritten);
  result.add("left_behind<2>", &emulation_on_cpu::left_behind<2>);
  result.add("without_barrier", &emulation_on_cpu::without_barrier);
  result.add("with_warp_barriers", &emulation_on_cpu::with_warp_barriers);
  result.add("divergent", &emulation_on_cpu::divergent);
  result.add("warp_sum", &emulation_on_cpu::warp_sum);
  result.add("exchanges", &emulation_on_cpu::exchanges);
  result.add("one_fails", &emulation_on_cpu::one_fails);
  result.add("relay", &emulation_on_cpu::relay);
  result.add("put", &emulation_on_cpu::put);
  result.add("coordinates", &emulation_on_cpu::coordinates);
  return result;
}

struct EmulatedDeviceTest : testing::Test {
  std::unique_ptr<Backend> backend = make_emulated_backend(kernels());
  Module module = backend->compiler->compile(program);
  Buffer<double> ascending(std::size_t size) {
    std::vector<double> values(size);
    std::iota(values.begin(), values.end(), 1.0);
    return Buffer<double>(*backend, values, "x");
  }
};

TEST_F(EmulatedDeviceTest, ASharedMemoryReductionGivesTheSum) {
  const auto x = ascending(700);
  const Buffer<double> y(*backend, 3, "y");
  module.kernel<const double*, double*, int>("sum")({.grid = {3}, .block = {256}}, x.data(),
                                                    y.data(), 700);
  const auto sums = y.to_host();
  EXPECT_EQ(sums[0] + sums[1] + sums[2], 700 * 701 / 2);
}

TEST_F(EmulatedDeviceTest, DynamicSharedMemoryWorks) {
  const auto x = ascending(70);
  module.kernel<double*>("mirror")({.block = {70}, .shared_bytes = 70 * 8}, x.data());
  EXPECT_EQ(x.to_host()[69], 1);
}

// A GPU would stop such a kernel, or not, depending on what lies there.
TEST_F(EmulatedDeviceTest, AWriteBehindABlocksDynamicSharedMemoryIsReported) {
  const auto x = ascending(70);
  const auto mirror = module.kernel<double*>("mirror");
  EXPECT_EQ(
      error_of([&] { mirror({.block = {70}, .shared_bytes = 69 * 8}, x.data()); }).what(),
      std::string("kernel mirror wrote behind its block's 552 bytes of dynamic shared memory"));
  mirror({.block = {70}, .shared_bytes = 70 * 8}, x.data());
  EXPECT_EQ(x.to_host().size(), 70u);
}

TEST_F(EmulatedDeviceTest, DynamicSharedMemoryNobodyWroteReadsAsNotANumber) {
  const auto x = ascending(70);
  const LaunchShape shape = {.block = {70}, .shared_bytes = 70 * 8};
  module.kernel<double*>("mirror")(shape, x.data());
  module.kernel<double*>("unwritten")(shape, x.data());
  EXPECT_THAT(x.to_host(), testing::Each(testing::IsNan()));
}

TEST_F(EmulatedDeviceTest, StaticSharedMemoryKeepsNothingOfTheBlockBefore) {
  for (const bool cooperative : {false, true}) {
    const auto x = ascending(3);
    for (int launches = 0; launches < 2; ++launches)
      module.kernel<double*>("left_behind<2>")(
          {.grid = {3}, .block = {40}, .cooperative = cooperative}, x.data());
    EXPECT_THAT(x.to_host(), testing::Each(testing::IsNan())) << cooperative;
  }
}

TEST_F(EmulatedDeviceTest, AMissingBarrierShowsInTheForwardOrder) {
  const auto x = ascending(64);
  module.kernel<double*>("without_barrier")({.block = {64}}, x.data());
  EXPECT_NE(x.to_host()[0], 64);
}

TEST_F(EmulatedDeviceTest, TheBackwardOrderVisitsTheLastThreadFirst) {
  backend = make_emulated_backend(kernels(), {.order = emulation::Order::backward});
  module = backend->compiler->compile(program);
  const auto x = ascending(64);
  module.kernel<double*>("without_barrier")({.block = {64}}, x.data());
  EXPECT_EQ(x.to_host()[0], 64);
}

TEST_F(EmulatedDeviceTest, AWarpRunsAheadOfTheOthers) {
  for (const auto order : {emulation::Order::forward, emulation::Order::backward}) {
    backend = make_emulated_backend(kernels(), {.order = order});
    module = backend->compiler->compile(program);
    const auto x = ascending(64);
    module.kernel<double*>("with_warp_barriers")({.block = {64}}, x.data());
    const bool forward = order == emulation::Order::forward;
    EXPECT_EQ(x.to_host()[forward ? 0 : 63], 0);
    EXPECT_EQ(x.to_host()[forward ? 63 : 0], forward ? 1 : 64);
  }
}

TEST_F(EmulatedDeviceTest, ADivergentBarrierIsReported) {
  const auto x = ascending(64);
  const std::string message =
      error_of([&] { module.kernel<double*>("divergent")({.block = {64}}, x.data()); }).what();
  EXPECT_THAT(message, HasSubstr("kernel divergent, block (0, 0, 0): thread (0, 0, 0) waits"));
  EXPECT_THAT(message, HasSubstr("59 of 64 have ended, 5 wait"));
}

TEST_F(EmulatedDeviceTest, ALaunchAfterADivergentBarrierStillWorks) {
  const auto x = ascending(64);
  (void)error_of([&] { module.kernel<double*>("divergent")({.block = {64}}, x.data()); });
  module.kernel<double*>("mirror")({.block = {64}, .shared_bytes = 64 * 8}, x.data());
  EXPECT_EQ(x.to_host().size(), 64u);
}

TEST_F(EmulatedDeviceTest, ShufflesExchangeWithinEachWarp) {
  const auto x = ascending(64);
  const Buffer<double> y(*backend, 2, "y");
  module.kernel<const double*, double*>("warp_sum")({.block = {64}}, x.data(), y.data());
  EXPECT_THAT(y.to_host(), testing::ElementsAre(32 * 33 / 2, 64 * 65 / 2 - 32 * 33 / 2));
}

// A lane that is ahead writes for the next exchange while others have not read this one's values.
TEST_F(EmulatedDeviceTest, ExchangesOfWarpsAndOfPartsOfThemFollowOneAnotherInEitherOrder) {
  std::vector<double> expected;
  for (int first = 1; first < 64; first += 32)
    for (int lane = 0; lane < 32; ++lane) {
      double low = 0, high = 0;  // of sixteen lanes, and of four
      for (int k = 0; k < 16; ++k) low += first + k;
      const int quarter = lane % 16 / 4;
      for (int k = 0; k < 4; ++k) high += first + 16 + 4 * quarter + k;
      expected.push_back(low + high + 9);
    }
  for (const auto order : {emulation::Order::forward, emulation::Order::backward}) {
    backend = make_emulated_backend(kernels(), {.order = order});
    module = backend->compiler->compile(program);
    const auto x = ascending(64);
    module.kernel<double*>("exchanges")({.block = {64}}, x.data());
    EXPECT_EQ(x.to_host(), expected);
  }
}

TEST_F(EmulatedDeviceTest, AThreadThatFailsAmongOthersThatWaitEndsThemAll) {
  for (const auto order : {emulation::Order::forward, emulation::Order::backward}) {
    backend = make_emulated_backend(kernels(), {.order = order});
    module = backend->compiler->compile(program);
    const auto x = ascending(64);
    EXPECT_THAT(
        error_of([&] { module.kernel<double*>("one_fails")({.block = {64}}, x.data()); }).what(),
        HasSubstr("__trap()"));
    EXPECT_NE(x.to_host()[63], 1);
    module.kernel<double*>("mirror")({.block = {64}, .shared_bytes = 64 * 8}, x.data());
    EXPECT_EQ(x.to_host().size(), 64u);
  }
}

TEST_F(EmulatedDeviceTest, BlocksOfACooperativeLaunchAreAliveAtTheSameTime) {
  const Buffer<unsigned> arrived(*backend, std::vector<unsigned>{0}, "arrived");
  const Buffer<double> sums(*backend, 5, "sums");
  module.kernel<unsigned*, double*>("relay")({.grid = {5}, .block = {40}, .cooperative = true},
                                             arrived.data(), sums.data());
  EXPECT_THAT(sums.to_host(), testing::ElementsAre(1, 2, 4, 8, 16));
}

TEST_F(EmulatedDeviceTest, AWriteBehindTheEndIsReported) {
  const auto x = ascending(10);
  EXPECT_EQ(error_of([&] { module.kernel<double*, int>("put")({}, x.data(), 10); }).what(),
            std::string("kernel put wrote behind the end of an allocation of 80 bytes"));
}

TEST_F(EmulatedDeviceTest, AWriteThatMissesAnAllocationByALittleIsReportedOnEitherSide) {
  for (const int at : {30, -20}) {
    backend = make_emulated_backend(kernels());
    module = backend->compiler->compile(program);
    const auto x = ascending(10);
    EXPECT_THAT(error_of([&] { module.kernel<double*, int>("put")({}, x.data(), at); }).what(),
                HasSubstr("of an allocation of 80 bytes"))
        << at;
  }
}

// The kernel runs when the other buffer is released, which may not throw.
TEST_F(EmulatedDeviceTest, WhatFailsWhereNothingMayBeThrownIsToldByWhoeverWaitsNext) {
  for (const bool for_an_event : {false, true}) {
    backend = make_emulated_backend(kernels(), {.copies = emulation::CopyLane::early});
    module = backend->compiler->compile(program);
    Device& device = *backend->device;
    const auto x = ascending(10);
    const auto written = device.make_event("written");
    module.kernel<double*, int>("put")({}, x.data(), 10);
    device.record(*written, Lane::main);
    { const Buffer<double> other(*backend, 1, "other"); }
    EXPECT_THAT(
        error_of([&] { for_an_event ? device.await(*written) : device.synchronize(); }).what(),
        HasSubstr("kernel put wrote behind the end"));
  }
}

TEST_F(EmulatedDeviceTest, AWriteBeforeTheBeginIsReported) {
  const auto x = ascending(10);
  EXPECT_EQ(error_of([&] { module.kernel<double*, int>("put")({}, x.data(), -1); }).what(),
            std::string("kernel put wrote before the begin of an allocation of 80 bytes"));
}

TEST_F(EmulatedDeviceTest, MemoryNobodyWroteReadsAsNotANumber) {
  const Buffer<double> x(*backend, 3, "x");
  EXPECT_TRUE(std::isnan(x.to_host()[2]));
}

TEST_F(EmulatedDeviceTest, MemoryIsSpoiltToItsEndHoweverLargeAndNotCounted) {
  const auto x = ascending(300'001);
  const Counts before = backend->ledger.counts;
  EXPECT_EQ(spoil(*backend, "x"), x.bytes());
  EXPECT_EQ(backend->ledger.counts, before);
  EXPECT_THAT(x.to_host(), testing::Each(testing::IsNan()));
}

TEST_F(EmulatedDeviceTest, EveryThreadOfAThreeDimensionalGridRunsOnce) {
  const Buffer<int> flat(*backend, 2 * 3 * 2 * 4 * 3 * 2, "flat");
  module.kernel<int*>("coordinates")({.grid = {2, 3, 2}, .block = {4, 3, 2}}, flat.data());
  std::vector<int> expected(flat.size());
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(flat.to_host(), expected);
}

TEST_F(EmulatedDeviceTest, AGraphRunsWhenItIsReplayedAndNotWhenItIsCaptured) {
  const auto x = ascending(70);
  const auto mirror = module.kernel<double*>("mirror");
  const auto graph =
      backend->device->capture([&] { mirror({.block = {70}, .shared_bytes = 70 * 8}, x.data()); });
  EXPECT_EQ(x.to_host()[0], 1);
  backend->device->replay(graph);
  EXPECT_EQ(x.to_host()[0], 70);
}

TEST_F(EmulatedDeviceTest, AfterAFailedCaptureKernelsRun) {
  const auto x = ascending(64);
  EXPECT_THROW(backend->device->capture([&] { backend->device->synchronize(); }), Error);
  module.kernel<double*>("mirror")({.block = {64}, .shared_bytes = 64 * 8}, x.data());
  EXPECT_EQ(x.to_host()[0], 64);
}

TEST_F(EmulatedDeviceTest, AKernelThatWasNotAddedIsNamed) {
  backend = make_emulated_backend({});
  module = backend->compiler->compile(program);
  const auto x = ascending(10);
  EXPECT_THAT(error_of([&] { module.kernel<double*, int>("put")({}, x.data(), 0); }).what(),
              HasSubstr("failed to launch put on the emulated device"));
}

TEST_F(EmulatedDeviceTest, TwoKernelsOfOneNameAreRefused) {
  EmulatedKernels added = kernels();
  added.add("put", &emulation_on_cpu::put);
  EXPECT_EQ(refusal_of([&] { added.add("put", &emulation_on_cpu::sum); }, Fault::broken_rule),
            "the emulated device has another kernel put already");
}

TEST_F(EmulatedDeviceTest, AKernelThatIsGivenMemoryOfTheHostIsRefused) {
  std::vector<double> of_host(10);
  EXPECT_THAT(
      refusal_of([&] { module.kernel<double*, int>("put")({}, of_host.data(), 0); },
                 Fault::broken_rule),
      HasSubstr("put is given a pointer in argument 1 to memory that nobody holds on emulated"));
  EXPECT_EQ(of_host[0], 0);
}

TEST_F(EmulatedDeviceTest, AProductThatIsGivenMemoryOfTheHostIsRefused) {
  const Buffer<double> a(*backend, std::vector<double>(4, 1), "a");
  std::vector<double> of_host(4);
  Blas blas(*backend);
  EXPECT_THAT(refusal_of(
                  [&] {
                    blas({.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2}, a.data(), a.data(),
                         of_host.data());
                  },
                  Fault::broken_rule),
              HasSubstr("is given memory that nobody holds on emulated"));
  EXPECT_EQ(of_host[0], 0);
}

// A library may use it as a work area: of some sizes, or with some plans.
TEST_F(EmulatedDeviceTest, ASpectrumIsNotANumberOnceARealTransformWentBackFromIt) {
  const Buffer<double> spectrum(*backend, std::vector<double>(10, 1), "spectrum"),
      back(*backend, 8, "back");
  Transform(*backend, {.kind = Fft::Kind::real_backward, .columns = 8})(spectrum.data(),
                                                                        back.data());
  EXPECT_THAT(back.to_host(), testing::Not(testing::Contains(testing::IsNan())));
  EXPECT_THAT(spectrum.to_host(), testing::Each(testing::IsNan()));
}

TEST_F(EmulatedDeviceTest, MatrixProductsAreComputed) {
  const Buffer<double> a(*backend, std::vector<double>{1, 2, 3, 4}, "a");
  const Buffer<double> c(*backend, 4, "c");
  Blas blas(*backend);
  blas({.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2}, a.data(), a.data(), c.data());
  EXPECT_THAT(c.to_host(), testing::ElementsAre(7, 10, 15, 22));
}

}  // namespace
}  // namespace holdfast
