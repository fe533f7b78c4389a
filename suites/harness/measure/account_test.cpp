// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/account.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "base/time.hpp"
#include "harness/measure/session.hpp"
#include "harness/testing/toy.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/backend/pinned_bytes.hpp"
#include "runtime/backend/recording.hpp"
#include "runtime/base/error.hpp"
#include "runtime/compile/compiler.hpp"

namespace holdfast {
namespace {

constexpr Source device_code = {"toy/fill.cu", R"(
__global__ void fill(double* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i;
}
)"};

class Fill : public Computation {
 public:
  Fill(Backend& backend, std::vector<LaunchShape> shapes, KernelKind kind = KernelKind::fused)
      : fill_(backend.compiler->compile({.code = device_code, .entries = {{"fill", kind}}})
                  .kernel<double*, int>("fill")),
        x_(backend, 64, "x"),
        shapes_(std::move(shapes)) {}
  void step() override {
    for (const LaunchShape& shape : shapes_) fill(shape, 64);
  }
  std::vector<double> result() override { return x_.to_host(); }

 protected:
  void fill(const LaunchShape& shape, int n) { fill_(shape, x(), n); }
  double* x() { return x_.data(); }

 private:
  Kernel<double*, int> fill_;
  Buffer<double> x_;
  std::vector<LaunchShape> shapes_;
};

std::string identity(const std::vector<LaunchShape>& shapes) {
  const Steps steps = {
      .make = [=](Backend& backend, Variant) { return std::make_unique<Fill>(backend, shapes); }};
  return account(steps, Variant::optimized, "cuda-dry:sm_90").measured.identity.value();
}

const LaunchShape base = {.grid = {4}, .block = {64}};

TEST(Identity, ChangesWithTheBlockAlone) {
  EXPECT_NE(identity({base}), identity({{.grid = {4}, .block = {128}}}));
}

TEST(Identity, ChangesWithTheGridAlone) {
  EXPECT_NE(identity({base}), identity({{.grid = {1, 4}, .block = {64}}}));
}

TEST(Identity, ChangesWithTheSharedMemoryAlone) {
  EXPECT_NE(identity({base}), identity({{.grid = {4}, .block = {64}, .shared_bytes = 1024}}));
}

TEST(Identity, DoesNotDependOnTheOrderOfLaunches) {
  const LaunchShape other = {.grid = {2}, .block = {128}};
  EXPECT_EQ(identity({base, other, base}), identity({other, base, base}));
}

TEST(Identity, ChangesWithTheNumberOfLaunchesAlone) {
  EXPECT_NE(identity({base}), identity({base, base}));
}

TEST(Identity, ChangesWithCooperationAlone) {
  EXPECT_NE(identity({base}), identity({{.grid = {4}, .block = {64}, .cooperative = true}}));
}

// Compiles another kernel's program, too, and if `once` launches it once.
class Compiling : public Fill {
 public:
  Compiling(Backend& backend, std::string_view code, bool once = false) : Fill(backend, {base}) {
    const Kernel<double*> other =
        backend.compiler->compile({.code = {"toy/other.cu", code}, .entries = {"other"}})
            .kernel<double*>("other");
    if (once) other(base, static_cast<double*>(nullptr));
  }
};
VariantMeasurement measured_beside(std::string_view code, bool once = false) {
  const Steps steps = {.make = [=](Backend& backend, Variant) {
    return std::make_unique<Compiling>(backend, code, once);
  }};
  return account(steps, Variant::optimized, "cuda-dry:sm_90").measured;
}
constexpr std::string_view twice = "__global__ void other(double* x) { x[threadIdx.x] *= 2; }";
constexpr std::string_view thrice = "__global__ void other(double* x) { x[threadIdx.x] *= 3; }";

TEST(Identity, ChangesWithTheMachineCodeAloneLaunchedOrNot) {
  for (const bool once : {false, true})
    EXPECT_NE(measured_beside(twice, once).identity, measured_beside(thrice, once).identity);
}

TEST(Identity, DoesNotDependOnTheOrderOfPrograms) {
  const auto measured = [](std::string_view first, std::string_view second) {
    struct Both : Compiling {
      Both(Backend& backend, std::string_view first, std::string_view second)
          : Compiling(backend, first), other(backend, second) {}
      Compiling other;
    };
    const Steps steps = {.make = [=](Backend& backend, Variant) {
      return std::make_unique<Both>(backend, first, second);
    }};
    return account(steps, Variant::optimized, "cuda-dry:sm_90").measured;
  };
  EXPECT_EQ(measured(twice, thrice).identity, measured(thrice, twice).identity);
}

TEST(Kernels, OfTheWarmUpAloneAreUsedAndLaunchedInNoStep) {
  const auto kernels = measured_beside(twice, true).kernels;
  ASSERT_EQ(kernels.size(), 2);
  EXPECT_EQ(kernels[1].name, "other");
  EXPECT_TRUE(kernels[1].used);
  EXPECT_EQ(kernels[1].launches, 0);
  EXPECT_FALSE(measured_beside(twice).kernels[1].used);
}

TEST(Kernels, AreLaunchedInAStepAsOftenAsThatDoesHoweverLongTheWarmUp) {
  const Steps steps = {.make =
                           [](Backend& backend, Variant) {
                             return std::make_unique<Fill>(backend, std::vector{base, base});
                           },
                       .warm_up = 9};
  const auto measured = account(steps, Variant::optimized, "cuda-dry:sm_90").measured;
  EXPECT_EQ(measured.kernels.at(0).launches, 2);
  EXPECT_EQ(measured.warm.launches, 18);
  EXPECT_EQ(measured.step.launches, 2);
}

// Each step copies a batch beside the former step's kernel.
TEST(Account, PassesAStreamThatGoesOnFromStepToStep) {
  struct Stream : Fill {
    explicit Stream(Backend& backend)
        : Fill(backend, {base}),
          device(*backend.device),
          home(device, 64),
          there(backend, 64, "b") {
      for (auto& event : read) {
        event = device.make_event("read");
        device.record(*event, Lane::main);
      }
    }
    void step() override {
      LaneEvent& free = *read[batch++ % 2];
      device.wait(Lane::copies, free);
      device.upload_later(there.data(), home.data(), 64);
      device.record(*arrived, Lane::copies);
      device.wait(Lane::main, *arrived);
      Fill::step();
      device.record(free, Lane::main);
    }
    Device& device;
    PinnedBytes home;
    Buffer<std::byte> there;
    std::unique_ptr<LaneEvent> read[2] = {}, arrived = device.make_event("arrived");
    int batch = 0;
  };
  const Steps steps = {
      .make = [](Backend& backend, Variant) { return std::make_unique<Stream>(backend); },
      .warm_up = 2};
  EXPECT_EQ(account(steps, Variant::optimized, "cuda-dry:sm_90").measured.step.hidden_bytes, 64);
}

// In 228 KiB of shared memory two blocks of 100 KiB fit: 4 warps of 64. Blocks of four warps
// without any fill all 64.
TEST(Kernels, AddUpTheirShapesAndTellTheWorstOccupancy) {
  const LaunchShape crowded = {.grid = {2}, .block = {64}, .shared_bytes = 100 << 10},
                    other = {.grid = {4}, .block = {128}};
  for (const auto& shapes : {std::vector{crowded, other}, std::vector{other, crowded}}) {
    const Steps steps = {
        .make = [=](Backend& backend, Variant) { return std::make_unique<Fill>(backend, shapes); }};
    const KernelUse kernel =
        account(steps, Variant::optimized, "cuda-dry:sm_90").measured.kernels.at(0);
    EXPECT_EQ(kernel.occupancy, 4. / 64);
    EXPECT_EQ(kernel.blocks, 2 + 4);
    EXPECT_EQ(kernel.threads, 2 * 64 + 4 * 128);
    EXPECT_EQ(kernel.block_threads, 128);
    EXPECT_EQ(kernel.dynamic_shared_bytes, 100 << 10);
    EXPECT_DOUBLE_EQ(kernel.waves, 2. / (2 * 132) + 4. / (16 * 132));
  }
}

TEST(Kernels, KeepTheirKindAndTheirLaunchesPerStep) {
  struct Scatter : Fill {
    explicit Scatter(Backend& backend) : Fill(backend, {base, base}, KernelKind::scatter) {}
  };
  const Steps steps = {
      .make = [](Backend& backend, Variant) { return std::make_unique<Scatter>(backend); }};
  const auto kernels = account(steps, Variant::optimized, "cuda-dry:sm_90").measured.kernels;
  ASSERT_EQ(kernels.size(), 1);
  EXPECT_EQ(kernels[0].kind, KernelKind::scatter);
  EXPECT_EQ(kernels[0].launches, 2);
}

// Each step launches once more, or once less, than the previous one.
class Drifting : public Fill {
 public:
  Drifting(Backend& backend, int by)
      : Fill(backend, std::vector<LaunchShape>(64, base)), backend_(&backend), by_(by) {}
  void step() override {
    Fill::step();
    backend_->ledger.counts.launches += by_ * steps_++;
  }

 private:
  Backend* backend_;
  int by_, steps_ = 0;
};

std::string refusal(int by) {
  try {
    (void)account({.make = [=](Backend& backend,
                               Variant) { return std::make_unique<Drifting>(backend, by); }},
                  Variant::optimized, "cuda-dry:sm_90");
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Steps, ThatCountMoreEachTimeAreNotSteady) {
  EXPECT_NE(refusal(1).find("launches is not steady"), std::string::npos);
}

TEST(Steps, ThatCountLessEachTimeAreNotSteady) {
  EXPECT_NE(refusal(-1).find("launches is not steady"), std::string::npos);
}

TEST(Steps, OfWhichTheFirstFillsACacheAreSteady) {
  struct Filling : Fill {
    explicit Filling(Backend& on) : Fill(on, {base}), backend(&on) {}
    void step() override {
      Fill::step();
      if (++steps == 2) ++backend->ledger.counts.nvrtc_runs;
    }
    Backend* backend;
    int steps = 0;
  };
  EXPECT_NO_THROW(account(
      {.make = [](Backend& backend, Variant) { return std::make_unique<Filling>(backend); }},
      Variant::optimized, "cuda-dry:sm_90"));
}

TEST(Steps, ThatAreTimedMayWaitMoreOrLessOftenAndLaunchAsMuch) {
  const Subject subject = {.measured = {.step = {.launches = 2, .syncs = 1}}};
  EXPECT_NO_THROW(check_counts(subject, {.launches = 6, .syncs = 1}, 3));
  EXPECT_THROW(check_counts(subject, {.launches = 5, .syncs = 3}, 3), Error);
}

constexpr std::string_view other = "__global__ void other(double* x, int n) { x[n] = n; }";

// The same number of launches, but of two kernels alternately, which are told the same.
TEST(Steps, ThatLaunchKernelsInTurnAreNotSteady) {
  struct InTurn : Fill {
    explicit InTurn(Backend& backend)
        : Fill(backend, {base}),
          second(backend.compiler->compile({.code = {"toy/other.cu", other}, .entries = {"other"}})
                     .kernel<double*, int>("other")) {}
    void step() override {
      if (++steps % 2 == 0) return Fill::step();
      second(base, x(), 64);
    }
    Kernel<double*, int> second;
    int steps = 0;
  };
  const auto counted = [] {
    return account(
        {.make = [](Backend& backend, Variant) { return std::make_unique<InTurn>(backend); }},
        Variant::optimized, "cuda-dry:sm_90");
  };
  EXPECT_THAT(counted, testing::ThrowsMessage<Error>(
                           testing::HasSubstr("every step must launch the same kernels")));
}

TEST(Steps, ThatTellAKernelToDoMoreEachTimeAreNotSteady) {
  struct More : Fill {
    explicit More(Backend& backend) : Fill(backend, {}) {}
    void step() override { fill(base, ++steps); }
    int steps = 0;
  };
  const auto counted = [] {
    return account(
        {.make = [](Backend& backend, Variant) { return std::make_unique<More>(backend); }},
        Variant::optimized, "cuda-dry:sm_90");
  };
  EXPECT_THAT(counted, testing::ThrowsMessage<Error>(testing::StartsWith(
                           "argument_sum is not steady: one step counts 4, another 5 (kernel fill: "
                           "its arguments add up to 4, then 5; let it read from memory what")));
}

TEST(KernelUse, HasTheSumOfWhatOneStepTellsIt) {
  const Steps steps = {.make = [](Backend& backend, Variant) {
    return std::make_unique<Fill>(backend, std::vector{base, base, base});
  }};
  const VariantMeasurement measured = account(steps, Variant::optimized, "cuda-dry:sm_90").measured;
  EXPECT_EQ(measured.kernels.front().argument_sum, 3 * (64 + 1)) << "with an array";
  EXPECT_EQ(measured.step.argument_sum, 3 * (64 + 1));
}

TEST(Steps, WithALaunchMoreNowAndThenAreNotSteadyThoughNothingExecutes) {
  struct NowAndThen : Fill {
    explicit NowAndThen(Backend& backend) : Fill(backend, {base}) {}
    void step() override {
      Fill::step();
      if (++steps % 16 == 0) Fill::step();
    }
    int steps = 0;
  };
  const auto counted = [] {
    return account(
        {.make = [](Backend& backend, Variant) { return std::make_unique<NowAndThen>(backend); }},
        Variant::optimized, "cuda-dry:sm_90");
  };
  EXPECT_THAT(counted, testing::ThrowsMessage<Error>(testing::HasSubstr(
                           "launches is not steady: one step counts 1, another 2 (kernel fill: "
                           "launched 1 times, then 2); every step must do the same work")));
}

TEST(Uploads, AreHeldAgainstWhatTheCaseSaysThatAStepMustBring) {
  struct Uploading : Fill {
    explicit Uploading(Backend& backend) : Fill(backend, {base}), in_(backend, 8, "in") {}
    void step() override { in_.upload(std::vector<double>(8)); }
    Buffer<double> in_;
  };
  const Steps steps = {
      .make = [](Backend& backend, Variant) { return std::make_unique<Uploading>(backend); },
      .estimate_bytes = [](const Backend&,
                           Variant variant) { return variant == Variant::optimized ? 512 : 600; },
      .upload_bytes = [](Variant variant) { return variant == Variant::optimized ? 48 : 56; }};
  const auto measured = account(steps, Variant::optimized, "cuda-dry:sm_90").measured;
  EXPECT_EQ(measured.step.h2d_bytes, 64);
  EXPECT_EQ(measured.least_upload_bytes, 48);
  EXPECT_EQ(measured.estimated_bytes, 512);
  const auto reference = account(steps, Variant::reference, "cuda-dry:sm_90").measured;
  EXPECT_EQ(reference.least_upload_bytes, 56);
  EXPECT_EQ(reference.estimated_bytes, 600);
}

TEST(WarmUp, EndsBeforeItsResultIsTaken) {
  struct Launching : Fill {
    explicit Launching(Backend& on) : Fill(on, {base}), backend(&on) {}
    std::vector<double> result() override {
      const Buffer<double> copy(*backend, 64, "copy");
      step();
      return {};
    }
    Backend* backend;
  };
  const auto measured =
      account(
          {.make = [](Backend& backend, Variant) { return std::make_unique<Launching>(backend); }},
          Variant::optimized, "cuda-dry:sm_90")
          .measured;
  EXPECT_EQ(measured.warm.launches, 1);
  EXPECT_EQ(measured.peak_bytes_warm, 512);
  EXPECT_EQ(measured.peak_bytes, 1024);
}

TEST(WarmUp, IsHeldAgainstWhatTheOracleExpectsOfAsManySteps) {
  Case one = toy_case();
  steps_of(one).warm_up = 3;
  const Subject warm = warmed_up(steps_of(one), Variant::optimized, "host");
  EXPECT_NO_THROW(verify(steps_of(one), warm, "host"));
  steps_of(one).warm_up = 2;
  EXPECT_THROW(verify(steps_of(one), warm, "host"), Error);
}

TEST(WarmUp, OfOneStepLeavesWhatThatWroteAsItIs) {
  Case one = toy_case();
  steps_of(one).warm_up = 1;
  steps_of(one).rewritten = always({"state"});
  EXPECT_THAT(warmed_up(steps_of(one), Variant::optimized, "host").warm_result,
              testing::ElementsAre(10));
}

TEST(WarmUp, LastsNoShorterThanTheFirstCallThatItBeginsWith) {
  struct Slow : Fill {
    explicit Slow(Backend& backend) : Fill(backend, {base}) {
      for (const double begin = thread_cpu_seconds(); thread_cpu_seconds() - begin < 1e-3;)
        continue;
    }
  };
  const Steps steps = {
      .make = [](Backend& backend, Variant) { return std::make_unique<Slow>(backend); },
      .warm_up = 3};
  const auto measured = account(steps, Variant::optimized, "cuda-dry:sm_90").measured;
  EXPECT_GE(measured.first_call_seconds, 1e-3);
  EXPECT_GT(measured.warm_up_seconds, measured.first_call_seconds);
}

TEST(Timers, OfADeviceTakeAllStepsThatTheyAreAskedFor) {
  const auto backend = open_backend("cuda-dry:sm_90");
  Fill fill(*backend, {base});
  (void)timer(*backend, fill)(5);
  EXPECT_EQ(backend->ledger.counts.launches, 5);
}

TEST(Protocols, ReadTheProgramsThatTheirBackendAskedForAndTheirStages) {
  (void)Fill(*open_backend("cuda-dry:sm_90"), {base});
  Measurement measurement;
  Session session("cuda-dry:sm_90", measurement, std::nullopt);
  Backend& backend = session.open();
  const Fill fill(backend, {base});
  session.read_compilation(backend);
  const StageSeconds stages = stage_seconds(backend);
  EXPECT_EQ(measurement.optimized.readings,
            (std::map<std::string, double>{{"trace_s", stages.trace},
                                           {"lower_s", 0},
                                           {"compile_s", 0},
                                           {"load_s", stages.load},
                                           {"compile_warm", 1},
                                           {"nvrtc_runs", 0}}));
}

TEST(Stages, AreOfAllProgramsOfABackend) {
  const auto backend = open_backend("cuda-dry:sm_90");
  backend->compiler->bypass_caches();
  const Compiling both(*backend, twice);
  ASSERT_EQ(backend->compiler->programs().size(), 2u);
  const auto &first = backend->compiler->programs()[0]->seconds,
             &second = backend->compiler->programs()[1]->seconds;
  for (const auto stage :
       {&StageSeconds::trace, &StageSeconds::lower, &StageSeconds::compile, &StageSeconds::load}) {
    EXPECT_GT(std::min(first.*stage, second.*stage), 0);
    EXPECT_DOUBLE_EQ(stage_seconds(*backend).*stage, first.*stage + second.*stage);
  }
  EXPECT_EQ(stage_seconds(*open_backend("host")).lower, 0);
  EXPECT_GT(measured_beside(twice).stages.trace, 0);
}

TEST(Seconds, OfADryDeviceAreThoseOfTheThreadThatWorks) {
  const auto other_computes = [&] {
    std::thread([&] {
      while (thread_cpu_seconds() < 0.05) continue;
    }).join();
  };
  const auto dry = open_backend("cuda-dry:sm_90"), host = open_backend("host");
  EXPECT_LT(seconds_until_done(*dry, other_computes), 0.04);
  EXPECT_GE(seconds_until_done(*host, other_computes), 0.05);
}

// Each step takes `seconds` of this thread.
int counted_steps(const char* device, double seconds) {
  struct Lasting : Computation {
    double seconds;
    int made = 0;
    explicit Lasting(double of) : seconds(of) {}
    void step() override {
      ++made;
      for (const double begin = thread_cpu_seconds(); thread_cpu_seconds() - begin < seconds;)
        continue;
    }
    std::vector<double> result() override { return {}; }
  } lasting(seconds);
  const auto backend = open_backend(device);
  (void)steady_step(*backend, lasting);
  return lasting.made;
}

TEST(Steps, ThatMustCountTheSameAreEightAndMoreWhereNoneIsTimed) {
  EXPECT_EQ(counted_steps("host", 0), 8);
  EXPECT_EQ(counted_steps("cuda-dry:sm_90", 0), 1 + 128) << "the first is behind a wait";
}

TEST(Steps, ThatAreSlowAreFewerAndEightWhereNoneIsTimed) {
  EXPECT_EQ(counted_steps("host", 0.05), 1);
  EXPECT_EQ(counted_steps("cuda-dry:sm_90", 0.006), 1 + 8);
}

TEST(Waiting, ForTheDeviceIsDoneOnceAndNotCounted) {
  const auto backend = open_backend("cuda-dry:sm_90");
  const Recording recording(*backend);
  (void)seconds_until_done(*backend, [] {});
  EXPECT_THAT(recording.activities(),
              testing::ElementsAre(testing::Field(&Activity::kind, Activity::Kind::synchronize)));
  EXPECT_EQ(backend->ledger.counts.syncs, 0);
}

TEST(Accounting, OfASlowCaseIsLeftToItsTimedStepsUnlessASampleHasSeveral) {
  Case slow = toy_case([](Backend&, int) {
    for (const double begin = thread_cpu_seconds(); thread_cpu_seconds() - begin < 0.02;) continue;
  });
  EXPECT_FALSE(account(steps_of(slow), Variant::optimized, "host").counted);
  steps_of(slow).batch = 2;
  EXPECT_TRUE(account(steps_of(slow), Variant::optimized, "host").counted);
}

TEST(Accounting, ANameThatNobodyHoldsShowsThoughNothingExecutes) {
  Steps steps = {.make = [](Backend& backend, Variant) {
    return std::make_unique<Fill>(backend, std::vector{base});
  }};
  steps.rewritten = always({"x"});
  EXPECT_NO_THROW(account(steps, Variant::optimized, "cuda-dry:sm_90"));
  steps.rewritten = always({"x", "result"});
  EXPECT_THROW(account(steps, Variant::optimized, "cuda-dry:sm_90"), Error);
}

}  // namespace
}  // namespace holdfast
