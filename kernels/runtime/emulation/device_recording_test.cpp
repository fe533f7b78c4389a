// SPDX-License-Identifier: Apache-2.0
// Recordings of devices that need no GPU: dry, emulated, and one that traces itself.
#include <gmock/gmock.h>

#include <algorithm>

#include "runtime/backend/blas.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/backend/recording.hpp"
#include "runtime/base/error.hpp"
#include "runtime/count/recorder.hpp"
#include "runtime/emulation/emulated_device.hpp"

namespace holdfast {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Source code{"sample.cu", R"(
template <class T> __global__ void twice(T* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
)"};
const Program program{.code = code, .entries = {"twice<double>"}};

template <class T>
void twice_on_cpu(T* x, int n) {
  using namespace emulation;
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] *= 2;
}

std::vector<std::string> slices_of(const Recording& recording) {
  std::vector<std::string> result;
  for (const auto& slice : recording.slices())
    result.push_back(text(name(slice.kind), " ", slice.name, " ", slice.bytes));
  return result;
}

std::size_t count(const Recording& recording, Activity::Kind kind) {
  return static_cast<std::size_t>(
      std::count_if(recording.activities().begin(), recording.activities().end(),
                    [&](const auto& activity) { return activity.kind == kind; }));
}

struct DryRecording : testing::Test {
  std::unique_ptr<Backend> backend = open_backend("cuda-dry:sm_90");
  Device& device = *backend->device;
  Ledger& ledger = backend->ledger;
  Buffer<double> x{*backend, 1000, "x"};
  Kernel<double*, int> twice =
      backend->compiler->compile(program).kernel<double*, int>("twice<double>");

  void launch() { twice({.grid = {4}, .block = {256}}, x.data(), 1000); }
  void copy() { device.copy(x.data(), x.data() + 100, 800); }
};

TEST_F(DryRecording, SlicesStandInTheOrderOfTheStreamWithoutTimes) {
  Recording recording(*backend);
  x.upload(std::vector<double>(1000));
  launch();
  copy();
  device.fill_zero(x.data(), 80);
  (void)x.to_host();
  recording.stop();
  EXPECT_THAT(slices_of(recording),
              ElementsAre("upload upload 8000", "kernel twice<double> 0", "copy copy 800",
                          "fill fill 80", "download download 8000"));
  for (const auto& slice : recording.slices()) EXPECT_FALSE(slice.begin || slice.end);
  EXPECT_FALSE(recording.device_silence());
}

TEST_F(DryRecording, AKernelsSliceKnowsItsFunctionShapeAndActivity) {
  Recording recording(*backend);
  copy();
  launch();
  recording.stop();
  const auto& slice = recording.slices().at(1);
  EXPECT_EQ(slice.function, &twice.function());
  EXPECT_EQ(slice.shape.grid.x, 4);
  EXPECT_EQ(slice.shape.block.x, 256);
  EXPECT_EQ(recording.activities().at(slice.activity).name, "twice<double>");
}

TEST_F(DryRecording, AReplayIsExpandedNodeByNode) {
  Blas blas(*backend);
  const Gemm problem{.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2};
  const auto graph = device.capture([&] {
    launch();
    blas(problem, x.data(), x.data(), x.data());
    copy();
    device.fill_zero(x.data(), 80);
  });
  Recording recording(*backend);
  device.replay(graph);
  device.replay(graph);
  recording.stop();
  const std::vector<std::string> once = {
      "kernel twice<double> 0", "library gemm [1, 2, 2, 2] f64 0", "copy copy 800", "fill fill 80"};
  auto expected = once;
  expected.insert(expected.end(), once.begin(), once.end());
  EXPECT_EQ(slices_of(recording), expected);
  ASSERT_EQ(recording.activities().size(), 2);
  EXPECT_EQ(recording.activities()[0].name, "graph of 4 nodes");
  EXPECT_EQ(recording.slices()[3].activity, 0);
  EXPECT_EQ(recording.slices()[4].activity, 1);
}

// Scopes opened inside the capture appear below those open at the replay.
TEST_F(DryRecording, AReplayShowsTheScopesOfItsCapture) {
  const auto capture = [&] {
    const Scope around("setting up");
    return device.capture([&] {
      {
        const Scope forward("forward");
        copy();
        const Scope layer("layer");
        copy();
        copy();
      }
      copy();
      const Scope back("backward"), layer("layer");
      copy();
    });
  };
  const Graph graph = capture();
  Recording recording(*backend);
  {
    const Scope step("step");
    device.replay(graph);
  }
  recording.stop();
  std::vector<std::string> scopes, of_slices;
  for (const ScopeRecord& scope : recording.scopes()) {
    scopes.push_back(std::string(2 * std::size_t(scope.depth), ' ') + scope.name);
    EXPECT_EQ(scope.replayed, scope.name != "step");
    EXPECT_EQ(scope.end == scope.begin, scope.replayed);
  }
  EXPECT_EQ(scopes, (std::vector<std::string>{"step", "  forward", "    layer", "  backward",
                                              "    layer"}));
  for (const DeviceSlice& slice : recording.slices())
    of_slices.push_back(recording.scopes()[std::size_t(slice.scope)].name);
  EXPECT_EQ(of_slices, (std::vector<std::string>{"forward", "layer", "layer", "step", "layer"}));
  EXPECT_EQ(recording.slices().back().scope, 4);
}

TEST_F(DryRecording, ACaptureIsOneActivityAndEnqueuesNothing) {
  Recording recording(*backend);
  (void)device.capture([&] {
    launch();
    copy();
  });
  recording.stop();
  ASSERT_EQ(recording.activities().size(), 1);
  EXPECT_EQ(recording.activities()[0].kind, Activity::Kind::capture);
  EXPECT_THAT(recording.slices(), IsEmpty());
}

TEST_F(DryRecording, AgreesWithTheLedger) {
  const auto graph = device.capture([&] {
    launch();
    copy();
  });
  const auto before = ledger.counts;
  Recording recording(*backend);
  for (int i = 0; i < 3; ++i) device.replay(graph);
  launch();
  x.upload(std::vector<double>(1000));
  device.synchronize();
  recording.stop();
  const auto counts = ledger.counts - before;
  const auto& slices = recording.slices();
  const auto kernels = std::count_if(slices.begin(), slices.end(), [](const auto& slice) {
    return slice.kind == Activity::Kind::kernel;
  });
  const auto copies = std::count_if(slices.begin(), slices.end(), [](const auto& slice) {
    return slice.kind == Activity::Kind::copy;
  });
  EXPECT_EQ(kernels, counts.launches);
  EXPECT_EQ(copies, counts.copies);
  EXPECT_EQ(
      count(recording, Activity::Kind::synchronize) + count(recording, Activity::Kind::upload),
      counts.syncs);
}

TEST_F(DryRecording, ACompilationIsTiedToItsProgramAndReason) {
  Recording recording(*backend);
  auto changed = program;
  changed.definitions = {"TILE=8"};
  backend->compiler->compile(changed);
  backend->compiler->compile(changed);  // already known: no compilation
  recording.stop();
  ASSERT_EQ(recording.activities().size(), 1);
  const auto& activity = recording.activities()[0];
  EXPECT_EQ(activity.kind, Activity::Kind::compile);
  EXPECT_EQ(activity.name, "sample.cu");
  ASSERT_NE(activity.compiled, nullptr);
  EXPECT_EQ(activity.compiled->reason, "constant TILE: none -> 8");
}

TEST_F(DryRecording, ARefusedLaunchIsNotKept) {
  Recording recording(*backend);
  EXPECT_THROW(twice({.grid = {4}, .block = {2048}}, x.data(), 1000), Error);
  EXPECT_THAT(recording.activities(), IsEmpty());
  EXPECT_THAT(recording.slices(), IsEmpty());
}

TEST_F(DryRecording, AReplayThatDoesNotFitIsDroppedAsAWhole) {
  const auto graph = device.capture([&] {
    launch();
    copy();
  });
  Recording recording(*backend, {.activities = 3});
  for (int i = 0; i < 3; ++i) device.replay(graph);
  recording.stop();
  EXPECT_EQ(recording.activities().size(), 1);
  EXPECT_EQ(recording.slices().size(), 2);
  EXPECT_EQ(recording.dropped(), 2);
}

// A device's trace without the device: each reported verb ran one `twice` for 1 us, ten
// microseconds after the previous one.
class ScriptedTrace final : public DeviceTrace {
 public:
  struct Heard {
    std::vector<std::uint64_t> verbs = {};
    int open = 0;
  };
  ScriptedTrace(Heard& heard, std::string kernel, std::string silence = {})
      : heard_(&heard), kernel_(std::move(kernel)), silence_(std::move(silence)) {}

  void begin_verb(std::uint64_t verb) override {
    heard_->verbs.push_back(verb);
    ++heard_->open;
  }
  void end_verb() override { --heard_->open; }
  DeviceRecords finish() override {
    DeviceRecords records{.dropped = 5, .silence = silence_};
    for (const auto verb : heard_->verbs) {
      const auto correlation = static_cast<std::uint32_t>(1000 + verb);
      const auto begin = static_cast<std::int64_t>(10'000 * (verb + 1));
      records.work.push_back({.name = records.named(kernel_),
                              .correlation = correlation,
                              .begin = begin,
                              .end = begin + 1000});
      records.correlations.push_back({correlation, verb});
    }
    return records;
  }

 private:
  Heard* heard_;
  std::string kernel_, silence_;
};

struct TracedRecording : DryRecording {
  ~TracedRecording() override { ledger.recorder = nullptr; }
  void listen(std::string_view kernel, std::string_view silence = {}) {
    recorder.listen_to(
        std::make_unique<ScriptedTrace>(heard, std::string(kernel), std::string(silence)));
    ledger.recorder = &recorder;
  }

  ScriptedTrace::Heard heard = {};
  Recorder recorder{ledger, {}};
};

TEST_F(TracedRecording, WhatTheDeviceToldIsLaidOntoTheSlices) {
  listen(twice.function().name);
  launch();
  device.synchronize();
  launch();
  recorder.finish();
  ASSERT_EQ(recorder.slices.size(), 2);
  EXPECT_NEAR(recorder.slices[0].begin.value(), 10e-6, 1e-12);
  EXPECT_NEAR(recorder.slices[1].begin.value(), 30e-6, 1e-12);
  EXPECT_NEAR(recorder.slices[1].end.value(), 31e-6, 1e-12);
  EXPECT_EQ(recorder.device_counts.value().kernels, 3);
  EXPECT_EQ(recorder.dropped, 5);
  EXPECT_FALSE(recorder.silence);
}

TEST_F(TracedRecording, TheDeviceHearsOfEveryVerbAndOfItsEndAlsoWhenItThrows) {
  listen(twice.function().name);
  launch();
  ledger.enter(Ledger::Phase::steady);
  EXPECT_THROW(Buffer<int>(*backend, 1, "forbidden"), Error);
  launch();
  EXPECT_THAT(heard.verbs, ElementsAre(0, 1, 2));
  EXPECT_EQ(heard.open, 0);
}

TEST_F(TracedRecording, WhatAVerbRanBeforeItThrewIsNotTheNextOnes) {
  listen(twice.function().name);
  ledger.enter(Ledger::Phase::steady);
  EXPECT_THROW(Buffer<int>(*backend, 1, "forbidden"), Error);  // the trace says it ran a kernel
  launch();
  recorder.finish();
  ASSERT_EQ(recorder.slices.size(), 1);
  EXPECT_NEAR(recorder.slices[0].begin.value(), 20e-6, 1e-12);
}

TEST_F(TracedRecording, ADeviceThatRefusedIsSilentWithItsReason) {
  listen(twice.function().name, "CUPTI: failed to enable");
  launch();
  recorder.finish();
  EXPECT_EQ(recorder.silence, "CUPTI: failed to enable");
  EXPECT_FALSE(recorder.device_counts);
  EXPECT_FALSE(recorder.slices[0].begin);
}

TEST_F(TracedRecording, ADeviceThatToldTheTimeOfNothingIsSilent) {
  listen("another");
  launch();
  launch();
  recorder.finish();
  EXPECT_EQ(recorder.silence, "CUPTI: told the time of none of 2 pieces of work");
}

TEST(EmulatedRecording, ADeviceThatExecutesIsRecordedAlike) {
  EmulatedKernels kernels;
  kernels.add("twice<double>", &twice_on_cpu<double>);
  const auto backend = make_emulated_backend(std::move(kernels));
  Recording recording(*backend);
  const Buffer<double> x(*backend, std::vector<double>(10, 1.5), "x");
  const auto twice = backend->compiler->compile(program).kernel<double*, int>("twice<double>");
  twice({.grid = {1}, .block = {32}}, x.data(), 10);
  EXPECT_THAT(x.to_host(), testing::Each(3.0));
  recording.stop();
  EXPECT_THAT(slices_of(recording),
              ElementsAre("upload upload 80", "kernel twice<double> 0", "download download 80"));
  EXPECT_EQ(count(recording, Activity::Kind::allocate), 1);
  EXPECT_EQ(count(recording, Activity::Kind::compile), 1);
}

TEST(EmulatedRecording, WhatTheDeviceRefusedLeavesNoSlice) {
  const auto backend = make_emulated_backend({});
  const Buffer<double> x(*backend, 10, "x");
  const auto twice = backend->compiler->compile(program).kernel<double*, int>("twice<double>");
  Recording recording(*backend);
  EXPECT_THROW(twice({.grid = {1}, .block = {32}}, x.data(), 10), Error);
  backend->device->fill_zero(x.data(), x.bytes());
  recording.stop();
  EXPECT_THAT(slices_of(recording), ElementsAre("fill fill 80"));
}

}  // namespace
}  // namespace holdfast
