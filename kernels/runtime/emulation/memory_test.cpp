// SPDX-License-Identifier: Apache-2.0
// Exhausted memory: limits of what a backend may hold, and graphs whose memory was released.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "runtime/backend/blas.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/backend/fft.hpp"
#include "runtime/backend/pinned_bytes.hpp"
#include "runtime/device_code/bf16.hpp"
#include "runtime/emulation/emulated_device.hpp"
#include "testing/error_of.hpp"

// As in the device code, so that signatures agree.
namespace memory_test {
struct Row {
  int count = 0;
  const double* from = nullptr;
};
}  // namespace memory_test

namespace holdfast {
namespace {

using memory_test::Row;
using testing::HasSubstr;

constexpr Source code{"memory.cu", R"(
namespace memory_test {
struct Row { int count; const double* from; };
}
__global__ void fill(double* to, long long count) {
  for (long long i = 0; i < count; ++i) to[i] = 1;
}
__global__ void take(memory_test::Row row, double* to) {
  for (int i = 0; i < row.count; ++i) to[i] = row.from[i];
}
)"};
const Program program{.code = code, .entries = {"fill", "take"}};

void fill_on_cpu(double* to, long long count) {
  for (long long i = 0; i < count; ++i) to[i] = 1;
}
void take_on_cpu(Row row, double* to) {
  for (int i = 0; i < row.count; ++i) to[i] = row.from[i];
}

std::unique_ptr<Backend> emulated(const Emulation& emulation = {}) {
  EmulatedKernels kernels;
  kernels.add("fill", &fill_on_cpu);
  kernels.add("take", &take_on_cpu);
  return make_emulated_backend(std::move(kernels), emulation);
}

TEST(MemoryLimit, IsObeyedByEveryBackend) {
  for (auto& backend : {open_backend("host"), open_backend("cuda-dry:sm_90"), emulated()}) {
    backend->ledger.limit_to(1000);
    const Buffer<double> held(*backend, 100, "held");
    const Error refused = error_of([&] { Buffer<double>(*backend, 26, "more"); });
    EXPECT_EQ(refused.fault(), Fault::out_of_memory) << backend->name;
    EXPECT_THAT(refused.what(), HasSubstr("failed to allocate 'more': it asks for 208 bytes where "
                                          "800 are held and 1000 allowed"));
    EXPECT_EQ(backend->ledger.live_bytes, 800);
    EXPECT_NO_THROW(Buffer<double>(*backend, 25, "fits"));
  }
}

TEST(FreeMemory, IsWhatNobodyHoldsHereOrElsewhere) {
  const auto backend = emulated({.memory_bytes = 10'000, .foreign_bytes = 3000});
  EXPECT_EQ(backend->device->free_bytes(), 7000);
  const Buffer<double> held(*backend, 100, "held");
  EXPECT_EQ(backend->device->free_bytes(), 6200);
  for (const auto& endless : {open_backend("cuda-dry:sm_90"), emulated()})
    EXPECT_EQ(endless->device->free_bytes(), std::nullopt) << endless->name;
}

// Also if more was held before, and released since.
TEST(MemoryLimit, WhatADeviceRefusesIsNeitherHeldNorCounted) {
  const auto backend = emulated();
  constexpr std::int64_t too_much = std::int64_t{2} << 30;
  backend->ledger.allocated(too_much, "earlier");
  backend->ledger.released(too_much, "earlier");
  const Counts before = backend->ledger.counts;
  EXPECT_EQ(error_of([&] { Buffer<char>(*backend, std::size_t{too_much}, "too much"); }).fault(),
            Fault::out_of_memory);
  EXPECT_EQ(backend->ledger.counts, before);
  EXPECT_EQ(backend->ledger.live_bytes, 0);
  EXPECT_EQ(backend->ledger.peak_bytes, too_much);
}

// A kernel that reads one element too many shows in its result.
TEST(EmulatedMemory, IsNoNumberBesideAnAllocationNorBeforeItIsWritten) {
  const auto backend = emulated();
  const Buffer<double> wide(*backend, 3, "f64");
  const Buffer<float> single(*backend, 3, "f32");
  const Buffer<Bf16> narrow(*backend, 3, "bf16");
  for (const int at : {-1, 0, 2, 3}) {
    EXPECT_TRUE(std::isnan(wide.data()[at])) << at;
    EXPECT_TRUE(std::isnan(single.data()[at])) << at;
    EXPECT_TRUE(std::isnan(widened(narrow.data()[at]))) << at;
  }
}

struct Replays : testing::TestWithParam<bool> {
  std::unique_ptr<Backend> backend = GetParam() ? emulated() : open_backend("cuda-dry:sm_90");
  Device& device = *backend->device;
  Module module = backend->compiler->compile(program);
  Kernel<double*, long long> fill = module.kernel<double*, long long>("fill");
  Kernel<Row, double*> take = module.kernel<Row, double*>("take");
  Buffer<double> kept{*backend, 10, "kept"};
  std::unique_ptr<Buffer<double>> lost = std::make_unique<Buffer<double>>(*backend, 10, "lost");

  static constexpr Gemm product{.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2};
  static constexpr Fft spectrum{.kind = Fft::Kind::complex_forward, .columns = 4};

  void expect_refused(const Graph& graph, std::string_view what) {
    EXPECT_NO_THROW(device.replay(graph));
    lost.reset();
    // The same address may belong to another allocation by now.
    const Buffer<double> next(*backend, 10, "next");
    const Counts between = backend->ledger.counts;
    for (int again = 0; again < 2; ++again)
      EXPECT_THAT(refusal_of([&] { device.replay(graph); }, Fault::broken_rule),
                  HasSubstr(text(what, " points into 'lost', which was released since")));
    EXPECT_EQ(backend->ledger.counts, between);
    lost = std::make_unique<Buffer<double>>(*backend, 10, "lost");
  }
};

TEST_P(Replays, NameTheKernelWhoseMemoryIsGone) {
  expect_refused(device.capture([&] {
    take({}, {}, kept.data());
    fill({}, lost->data() + 3, 5);
  }),
                 "fill");
}

TEST_P(Replays, FindPointersWithinArguments) {
  fill({}, lost->data(), 10);
  expect_refused(
      device.capture([&] { take({}, {.count = 10, .from = lost->data()}, kept.data()); }), "take");
}

TEST_P(Replays, NameCopiesAndLibraries) {
  expect_refused(device.capture([&] { device.copy(kept.data(), lost->data(), 80); }), "a copy");
  device.open_blas();
  Blas blas(*backend);
  device.fill_zero(lost->data(), 80);
  expect_refused(device.capture([&] { blas(product, lost->data(), lost->data(), kept.data()); }),
                 "gemm [1, 2, 2, 2] f64");
}

TEST_P(Replays, NameWhatWritesIntoMemoryThatIsGone) {
  Blas blas(*backend);
  Gemm planned = product;
  planned.precision = Precision::bf16;
  blas.plan(planned);
  Transform transform(*backend, spectrum);
  expect_refused(device.capture([&] { device.copy(lost->data(), kept.data(), 80); }), "a copy");
  expect_refused(device.capture([&] { device.fill_zero(lost->data(), 80); }), "a fill");
  expect_refused(device.capture([&] { blas(product, kept.data(), kept.data(), lost->data()); }),
                 "gemm [1, 2, 2, 2] f64");
  expect_refused(device.capture([&] { transform(kept.data(), lost->data()); }),
                 "fft complex_forward [1, 1, 4] f64");
  device.fill_zero(kept.data(), kept.bytes());
  expect_refused(device.capture([&] {
    blas(planned, {kept.data(), kept.data(), kept.data(), lost->data()});
  }),
                 "gemm [1, 2, 2, 2] bf16");
}

TEST_P(Replays, NameALibraryWhoseWorkAreaIsGone) {
  auto blas = std::make_unique<Blas>(*backend);
  auto transform = std::make_unique<Transform>(*backend, spectrum);
  const Graph multiplies =
      device.capture([&] { (*blas)(product, kept.data(), kept.data(), lost->data()); });
  const Graph transforms = device.capture([&] { (*transform)(kept.data(), lost->data()); });
  blas.reset();
  transform.reset();
  EXPECT_THAT(refusal_of([&] { device.replay(multiplies); }, Fault::broken_rule),
              HasSubstr("f64 points into 'blas work area', which was released since"));
  EXPECT_THAT(refusal_of([&] { device.replay(transforms); }, Fault::broken_rule),
              HasSubstr("f64 points into 'fft work area', which was released since"));
}

TEST_P(Replays, GoOnWhenOnlyOthersMemoryIsGone) {
  const Graph graph = device.capture([&] {
    fill({}, kept.data(), 10);
    fill({}, lost->data() + lost->size(), 0);  // its end is nobody's
  });
  lost.reset();
  EXPECT_NO_THROW(device.replay(graph));
}

// On a GPU a release would end the capture.
TEST_P(Replays, AreOfCapturesInWhichNothingIsReleased) {
  const auto refusal = [&](const std::function<void()>& step) {
    return refusal_of([&] { return device.capture(step); }, Fault::broken_rule);
  };
  auto pinned = std::make_unique<PinnedBytes>(device, 80);
  EXPECT_THAT(refusal([&] { pinned.reset(); }), HasSubstr("releases pinned host memory while"));
  bool went_on = false;
  const auto step = [&] {
    lost.reset();
    fill({}, kept.data(), 10);
    went_on = true;
  };
  EXPECT_THAT(refusal(step), HasSubstr("releases 'lost' while a graph is captured"));
  EXPECT_FALSE(went_on);
  EXPECT_NO_THROW(device.replay(device.capture(step))) << "there is nothing left to release";
}

INSTANTIATE_TEST_SUITE_P(, Replays, testing::Bool(),
                         [](const auto& one) { return one.param ? "Emulated" : "Dry"; });

}  // namespace
}  // namespace holdfast
