// SPDX-License-Identifier: Apache-2.0
// CUPTI's records of a real GPU, compared with the host's requests. Skipped, with the reason, if
// CUPTI is silent.
#include <gmock/gmock.h>

#include <optional>

#include "runtime/backend/blas.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/backend/recording.hpp"
#include "testing/gpu_main.hpp"

namespace holdfast {
namespace {

constexpr int size = 1 << 20;
constexpr Source code{"sample.cu", R"(
template <class T> __global__ void twice(T* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
template <class T> __global__ void half(T* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] /= 2;
}
)"};

struct GpuRecording : testing::Test {
  void SetUp() override {
    backend = open_backend("cuda");
    recording.emplace(*backend);
    x.emplace(*backend, size, "x");
    const auto module =
        backend->compiler->compile({.code = code, .entries = {"twice<double>", "half<double>"}});
    twice.emplace(module.kernel<double*, int>("twice<double>"));
    half.emplace(module.kernel<double*, int>("half<double>"));
  }

  Device& device() { return *backend->device; }
  void launch(const Kernel<double*, int>& kernel) {
    kernel({.grid = {size / 256}, .block = {256}}, x->data(), size);
  }
  void copy() { device().copy(x->data(), x->data() + size / 2, 1 << 20); }
  bool heard() {
    recording->stop();
    return !recording->device_silence();
  }
  void expect_all_placed_in_order() {
    double last = 0;
    for (const auto& slice : recording->slices()) {
      ASSERT_TRUE(slice.begin && slice.end) << slice.name;
      EXPECT_GE(*slice.end, *slice.begin) << slice.name;
      EXPECT_GE(*slice.begin, last) << slice.name;
      last = *slice.begin;
    }
  }

  std::unique_ptr<Backend> backend;
  std::optional<Recording> recording;
  std::optional<Buffer<double>> x;
  std::optional<Kernel<double*, int>> twice, half;
};

TEST_F(GpuRecording, EverySliceHasItsTimeInTheOrderOfTheStream) {
  x->upload(std::vector<double>(size, 1.0));
  for (int i = 0; i < 50; ++i) {
    launch(*twice);
    launch(*half);
    copy();
  }
  device().fill_zero(x->data(), x->bytes());
  (void)x->to_host();
  if (!heard()) GTEST_SKIP() << *recording->device_silence();
  EXPECT_EQ(recording->slices().size(), 153);
  expect_all_placed_in_order();
}

// Both clocks agree: no work begins before the host requested it, none ends after the recording.
TEST_F(GpuRecording, TheDevicesClockIsTheRecordings) {
  constexpr double tolerance = 50e-6;
  for (int i = 0; i < 20; ++i) {
    launch(*twice);
    device().synchronize();
  }
  if (!heard()) GTEST_SKIP() << *recording->device_silence();
  for (const auto& slice : recording->slices()) {
    ASSERT_TRUE(slice.begin && slice.end);
    EXPECT_GE(*slice.begin, recording->activities()[slice.activity].begin - tolerance);
    EXPECT_LE(*slice.end, recording->now());
  }
}

TEST_F(GpuRecording, TheDevicesCountsAreTheLedgers) {
  x->upload(std::vector<double>(size, 1.0));
  const auto graph = device().capture([&] {
    launch(*twice);
    copy();
  });
  for (int i = 0; i < 3; ++i) device().replay(graph);
  launch(*half);
  (void)x->to_host();
  const auto counts = backend->ledger.counts;
  if (!heard()) GTEST_SKIP() << *recording->device_silence();
  const auto told = recording->device_counts().value();
  EXPECT_EQ(recording->dropped(), 0);
  EXPECT_EQ(told.kernels, counts.launches);
  EXPECT_EQ(told.copied_bytes_h2d, counts.h2d_bytes);
  EXPECT_EQ(told.copied_bytes_d2h, counts.d2h_bytes);
  EXPECT_EQ(told.copied_bytes_d2d, 3 << 20);
  EXPECT_GE(told.memory_peak_bytes, backend->ledger.peak_bytes);
  EXPECT_GE(told.modules_loaded, 1);
  EXPECT_EQ(told.jit_runs, 0);
}

TEST_F(GpuRecording, TheNodesOfAReplayHaveTimesOfTheirOwn) {
  const auto graph = device().capture([&] {
    for (int i = 0; i < 4; ++i) {
      launch(*twice);
      copy();
      launch(*half);
      device().fill_zero(x->data(), 4096);
    }
  });
  for (int i = 0; i < 5; ++i) device().replay(graph);
  if (!heard()) GTEST_SKIP() << *recording->device_silence();
  EXPECT_EQ(recording->slices().size(), 80);
  expect_all_placed_in_order();
}

TEST_F(GpuRecording, LibraryCallsSpanTheirKernelsLaunchedOrReplayed) {
  Blas blas(*backend);
  const Gemm problem{.m = 256, .n = 256, .k = 256, .lda = 256, .ldb = 256, .ldc = 256, .beta = 1};
  const auto multiply = [&] { blas(problem, x->data(), x->data(), x->data() + 65536); };
  multiply();
  const auto graph = device().capture([&] {
    launch(*twice);
    multiply();
    launch(*half);
  });
  device().replay(graph);
  if (!heard()) GTEST_SKIP() << *recording->device_silence();
  EXPECT_EQ(recording->slices().size(), 4);
  expect_all_placed_in_order();
}

}  // namespace
}  // namespace holdfast

int main(int argc, char** argv) {
  return holdfast::gpu_main(argc, argv);
}
