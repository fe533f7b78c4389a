// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/measure.hpp"

#include <gmock/gmock.h>
#include <omp.h>
#include <xmmintrin.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "base/time.hpp"
#include "harness/case/profile_options.hpp"
#include "harness/measure/session.hpp"
#include "harness/testing/toy.hpp"
#include "runtime/backend/host_limits.hpp"

namespace holdfast {
namespace {

using testing::HasSubstr;

const MeasureOptions quick = {.budget = {.seconds = 0,
                                         .fewest_rounds = 3,
                                         .long_round_seconds = 1e9,
                                         .most_rounds = 3,
                                         .patience = 1}};

// The same, where each round has two samples of either variant, whatever interrupts them.
const MeasureOptions quick_in_full = [] {
  MeasureOptions options = quick;
  options.budget.long_sample_seconds = 1e9;
  return options;
}();

// Brings nothing back.
class Empty : public Toy {
 public:
  using Toy::Toy;
  std::vector<double> result() override { return {}; }
};

TEST(Measure, TimesBothVariantsOfARightCase) {
  const Measurement measured = measure(toy_case(), "host", quick);
  EXPECT_EQ(measured.status, Measurement::Status::ok) << measured.reason;
  EXPECT_EQ(measured.check, CheckStatus::passed);
  EXPECT_TRUE(measured.optimized.seconds && measured.reference->seconds && measured.speedup);
  EXPECT_EQ(measured.optimized.samples, 3);
}

TEST(Measure, AccountsThePeakOfTheVariantsOwnBackend) {
  EXPECT_EQ(measure(toy_case(), "host", quick).optimized.peak_bytes, sizeof(double));
}

TEST(Measure, ThePeakIsOfTheWholeLifeOfEitherVariant) {
  struct Reading : Toy {
    explicit Reading(Backend& on) : Toy(on), backend(&on) {}
    std::vector<NamedReading> readings() override {
      const Buffer<double> copy(*backend, 99, "copy");
      return {{"copied", 99}};
    }
    Backend* backend;
  };
  Case one = toy_case();
  steps_of(one).make = [](Backend& backend, Variant) { return std::make_unique<Reading>(backend); };
  const Measurement measured = measure(one, "host", quick);
  EXPECT_EQ(measured.optimized.peak_bytes, 100 * sizeof(double));
  EXPECT_EQ(measured.reference->peak_bytes, 100 * sizeof(double));
  EXPECT_EQ(measured.optimized.peak_bytes_warm, sizeof(double));
}

// Steps of a fifth of a millisecond and steps of some nanoseconds.
TEST(Measure, SpeedupAndTimesSayWhichVariantIsFaster) {
  constexpr double slow_seconds = 2e-4;
  Case one = toy_case();
  steps_of(one).make = [=](Backend& backend, Variant variant) {
    const auto slow = [=](Backend&, int) {
      for (const double begin = monotonic_seconds(); monotonic_seconds() - begin < slow_seconds;)
        continue;
    };
    return variant == Variant::reference ? std::make_unique<Toy>(backend, slow)
                                         : std::make_unique<Toy>(backend);
  };
  const Measurement measured = measure(one, "host", quick);
  EXPECT_GT(measured.speedup, 1);
  EXPECT_GT(measured.reference->seconds, 0.99 * slow_seconds);
  EXPECT_LT(measured.optimized.seconds, slow_seconds);
}

TEST(Measure, TheFloorsFootprintIsNoMoreThanAStepMoves) {
  Case one = toy_case();
  one.work = {.bytes = 1000};
  steps_of(one).make = [](Backend& backend, Variant) {
    struct Wide : Toy {
      explicit Wide(Backend& b) : Toy(b), kept(b, 1 << 20, "kept") {}
      Buffer<double> kept;
    };
    return std::make_unique<Wide>(backend);
  };
  const Ceilings ceilings = {.levels = {{.name = "l1",
                                         .capacity_bytes = 32768,
                                         .footprint_bytes = 16384,
                                         .bytes_per_second = 1e12},
                                        {.name = "memory",
                                         .capacity_bytes = 1e18,
                                         .footprint_bytes = 1e8,
                                         .bytes_per_second = 1e10}}};
  MeasureOptions options = quick;
  options.ceilings = &ceilings;
  EXPECT_NEAR(*measure(one, "host", options).floor_seconds, 1e-9, 1e-12);
  one.work = {.bytes = 1e6};
  EXPECT_NEAR(*measure(one, "host", options).floor_seconds, 1e-4, 1e-5);
}

TEST(Measure, ExpectsNoSpeedupWithoutAReference) {
  Case one = toy_case();
  one.reference = false;
  const Measurement measured = measure(one, "host", quick);
  EXPECT_FALSE(measured.speedup);
  EXPECT_FALSE(measured.reference);
  EXPECT_TRUE(measured.optimized.seconds);
}

TEST(Measure, AWrongResultFailsAndIsNeverTimed) {
  Case one = toy_case();
  steps_of(one).oracle.expected = [](int steps) { return std::vector{10. * steps + 1}; };
  const Measurement measured = measure(one, "host", quick);
  EXPECT_EQ(measured.status, Measurement::Status::failed);
  EXPECT_EQ(measured.check, CheckStatus::failed);
  EXPECT_FALSE(measured.optimized.seconds);
  EXPECT_THAT(measured.reason, HasSubstr("wrong by 0.047619"));
}

TEST(Measure, AReferenceThatIsWrongFailsTheCaseToo) {
  Case one = toy_case();
  steps_of(one).make = [](Backend& backend, Variant variant) {
    auto toy = std::make_unique<Toy>(backend);
    if (variant == Variant::reference) toy->step();
    return toy;
  };
  EXPECT_THAT(measure(one, "host", quick).reason, HasSubstr("reference variant is wrong"));
}

TEST(Measure, AnOracleMayMeasureAnErrorItself) {
  Case one = toy_case();
  Oracle& oracle = steps_of(one).oracle;
  oracle.expected = [](int) { return std::vector<double>(2); };
  oracle.distance = [](const std::vector<double>& result, const std::vector<double>& expected) {
    return result.at(0) + static_cast<double>(expected.size());
  };
  oracle.between = oracle.distance;
  oracle.limit = 1;
  const Measurement measured = measure(one, "host", quick);
  EXPECT_EQ(measured.check, CheckStatus::failed);
  EXPECT_EQ(measured.check_error, 22);
}

TEST(Measure, AnOracleThatCannotTellVariantsApartFailsItsCase) {
  Case one = toy_case();
  steps_of(one).oracle.distance = [](const auto&, const auto&) { return 0; };
  EXPECT_THAT(measure(one, "host", quick).reason, HasSubstr("no `between`"));
}

TEST(Measure, AGoldenValueThatIsMissedFails) {
  Case one = toy_case();
  steps_of(one).oracle.golden = [](Backend&, Variant) { return 0.5; };
  EXPECT_EQ(measure(one, "host", quick).check_error, 0.5);
}

// A number that stands for none made the gate refuse the whole file.
TEST(Measure, AResultThatHoldsNoNumberIsWrongWithoutAnError) {
  Case one = toy_case();
  steps_of(one).make = [](Backend& backend, Variant variant) {
    struct Spoilt : Toy {
      using Toy::Toy;
      std::vector<double> result() override { return {NAN}; }
    };
    if (variant == Variant::optimized) return std::unique_ptr<Computation>(new Spoilt(backend));
    return std::unique_ptr<Computation>(new Toy(backend));
  };
  const Measurement measured = measure(one, "host", quick);
  EXPECT_EQ(measured.status, Measurement::Status::failed);
  EXPECT_EQ(measured.check, CheckStatus::failed);
  EXPECT_FALSE(measured.check_error);
  EXPECT_FALSE(measured.optimized.check_error);
  EXPECT_THAT(measured.reason, HasSubstr("the optimized variant's result after 2 steps is none"));
}

TEST(Measure, AnErrorOfAnOraclesOwnThatIsNoNumberIsWrongToo) {
  Case one = toy_case();
  Oracle& oracle = steps_of(one).oracle;
  oracle.distance = [](const auto&, const auto&) { return NAN; };
  oracle.between = [](const auto&, const auto&) { return 0; };
  const Measurement measured = measure(one, "host", quick);
  EXPECT_EQ(measured.check, CheckStatus::failed);
  EXPECT_FALSE(measured.check_error);
}

TEST(Measure, AnOracleThatSubtractsOneWayOnlyFailsItsCase) {
  const auto below = [](const std::vector<double>& result, const std::vector<double>& expected) {
    return result.at(0) - 2 * expected.at(0);
  };
  Case own = toy_case(), between = toy_case(), golden = toy_case();
  steps_of(own).oracle.distance = below;
  steps_of(own).oracle.between = [](const auto&, const auto&) { return 0; };
  steps_of(between).oracle.between = below;
  steps_of(golden).oracle.golden = [](Backend&, Variant) { return -1; };
  for (const Case& one : {own, between, golden})
    EXPECT_THAT(measure(one, "host", quick).reason,
                HasSubstr("(arithmetic) measures an error of -"));
}

TEST(Measure, TheErrorOfACaseIsThatOfItsWorseVariant) {
  for (const Variant worse : {Variant::optimized, Variant::reference}) {
    Case one = toy_case();
    steps_of(one).oracle.golden = [=](Backend&, Variant variant) {
      return variant == worse ? 2e-16 : 1e-16;
    };
    const Measurement measured = measure(one, "host", quick);
    EXPECT_EQ(measured.check_error, 2e-16);
    EXPECT_EQ(std::min(measured.optimized.check_error, measured.reference->check_error), 1e-16);
  }
}

TEST(Measure, AReadingThatIsNoNumberFailsItsCaseAlone) {
  Case one = toy_case();
  steps_of(one).make = [](Backend& backend, Variant) {
    struct Reading : Toy {
      using Toy::Toy;
      std::vector<NamedReading> readings() override { return {{"drift", NAN}}; }
    };
    return std::make_unique<Reading>(backend);
  };
  const Measurement measured = measure(one, "host", quick);
  EXPECT_EQ(measured.status, Measurement::Status::failed);
  EXPECT_THAT(measured.reason, HasSubstr("its metric drift is nan"));
  EXPECT_THAT(measured.optimized.readings, testing::IsEmpty());
}

TEST(Measure, AReadingOfTheReferenceAloneThatIsNoNumberFailsItsCase) {
  Case one = toy_case();
  steps_of(one).read = [](const Verified& found) -> std::vector<NamedReading> {
    return {{"drift", found.variant == Variant::reference ? NAN : 1}};
  };
  const Measurement measured = measure(one, "host", quick);
  EXPECT_EQ(measured.status, Measurement::Status::failed);
  EXPECT_THAT(measured.reference->readings, testing::IsEmpty());
}

TEST(Measure, ADerivedMetricThatIsNoNumberFailsItsCase) {
  Case one = toy_case();
  one.derived = {{.name = "share", .factor = NAN, .other = [](Backend& backend) {
                    return std::make_unique<Toy>(backend);
                  }}};
  const Measurement measured = measure(one, "host", quick);
  EXPECT_THAT(measured.reason, HasSubstr("its metric share is nan"));
  EXPECT_THAT(measured.derived, testing::IsEmpty());
}

TEST(Measure, ACaseForWhichThereIsNoRoomBrokeOff) {
  Case one = toy_case();
  steps_of(one).make = [](Backend& backend, Variant) {
    backend.ledger.limit_to(1);
    return std::make_unique<Toy>(backend);
  };
  const Measurement measured = measure(one, "host", quick);
  EXPECT_TRUE(measured.broke_off);
  EXPECT_FALSE(measured.device_broke);
  EXPECT_FALSE(measure(toy_case(), "host", quick).broke_off);
}

TEST(Measure, ACaseWithoutAReferenceIsVerifiedAgainToo) {
  struct Onward : Toy {
    using Toy::Toy;
    void start_again(int) override {}
  };
  Case one = toy_case();
  one.reference = false;
  steps_of(one).make = [](Backend& backend, Variant) { return std::make_unique<Onward>(backend); };
  const Measurement measured = measure(one, "host", quick);
  EXPECT_EQ(measured.check, CheckStatus::failed);
  EXPECT_THAT(measured.reason, HasSubstr("verified again after the timed section"));
}

TEST(Measure, WhatSkipsWorkOnceItWasTimedIsWrong) {
  Case one = toy_case();
  one.rates = {{.name = "points_per_s", .per_step = 64}};
  steps_of(one).make = [](Backend& backend, Variant variant) {
    struct Skipping : Toy {
      using Toy::Toy;
      void step() override {
        ++calls;
        if (calls <= 5 || calls % 10 != 0) Toy::step();
      }
      int calls = 0;
    };
    if (variant == Variant::optimized) return std::unique_ptr<Computation>(new Skipping(backend));
    return std::unique_ptr<Computation>(new Toy(backend));
  };
  const Measurement measured = measure(one, "host", quick);
  EXPECT_EQ(measured.check, CheckStatus::failed);
  EXPECT_THAT(measured.reason, HasSubstr("verified again after the timed section"));
  EXPECT_FALSE(measured.check_error) << "that of the warm-up, which was right";
  EXPECT_THAT(measured.optimized.readings, testing::IsEmpty());
}

TEST(Measure, TellsHowManySamplesItTookWithAReferenceAndWithout) {
  Case one = toy_case();
  for (const bool reference : {true, false}) {
    one.reference = reference;
    EXPECT_GE(measure(one, "host", quick).optimized.samples, quick.budget.fewest_rounds);
  }
}

TEST(Measure, TimesAreMediansWhichOneSlowSampleLeavesAsTheyAre) {
  Case one = toy_case([](Backend&, int step) {
    const double begin = thread_cpu_seconds();
    while (step == 2 + 8 + 1 && thread_cpu_seconds() - begin < 0.04) continue;  // the first timed
  });
  steps_of(one).batch = 1;
  const Measurement measured = measure(one, "host", quick);
  EXPECT_LT(measured.optimized.seconds.value(), 0.02);
  EXPECT_LT(measured.reference->seconds.value(), 0.02);
}

TEST(Measure, AGoldenErrorThatIsNoNumberFails) {
  Case one = toy_case();
  steps_of(one).oracle.golden = [](Backend&, Variant) { return NAN; };
  EXPECT_EQ(measure(one, "host", quick).check, CheckStatus::failed);
}

TEST(Measure, AStepThatAllocatesIsAnError) {
  const Case one = toy_case([](Backend& backend, int) { Buffer<double>(backend, 7, "scratch"); });
  const Measurement measured = measure(one, "host", quick);
  EXPECT_EQ(measured.status, Measurement::Status::failed);
  EXPECT_THAT(measured.reason, HasSubstr("allocates 56 bytes for 'scratch'"));
}

TEST(Measure, AnAllocationThatOnlyTimingReachesIsAnErrorToo) {
  const Case one = toy_case([](Backend& backend, int step) {
    if (step > 20) Buffer<double>(backend, 7, "late scratch");
  });
  EXPECT_THAT(measure(one, "host", quick).reason, HasSubstr("late scratch"));
}

// What a step does that holds blocks of so many bytes of the heap, and takes so many milliseconds.
std::function<void(Backend&, int)> holding(const std::vector<std::size_t>& blocks,
                                           double milliseconds = 0) {
  return [=](Backend&, int) {
    std::vector<std::vector<char>> scratch;
    for (const std::size_t bytes : blocks) scratch.emplace_back(bytes);
    for (const double begin = thread_cpu_seconds();
         thread_cpu_seconds() - begin < 1e-3 * milliseconds;)
      continue;
  };
}

TEST(Measure, AStepThatHoldsMoreOfTheHeapThanPeakBytesMayLeaveOutIsAnError) {
  for (const double milliseconds : {0., 20.}) {
    const Case one = toy_case(holding({100'000, 70'000}, milliseconds));
    EXPECT_THAT(measure(one, "host", quick).reason,
                testing::ContainsRegex("holds 1[78][0-9]{4} bytes of heap memory in a steady step, "
                                       "10[0-9]{4} of them in one block, .*131072 are allowed"));
  }
}

TEST(Measure, AHundredthOfThePeakMayBeHeapAndBlocksMayFollowOneAnother) {
  const auto in_turn = [hold = holding({100'000})](Backend& backend, int step) {
    for (int i = 0; i < 4; ++i) hold(backend, step);
  };
  EXPECT_EQ(measure(toy_case(in_turn), "host", quick).reason, "");
  const auto beside_an_input = [](std::size_t bytes) {
    Case one = toy_case(holding({100'000, 70'000}));
    steps_of(one).make = [=, make = steps_of(one).make](Backend& backend, Variant variant) {
      { const Buffer<char> input(backend, bytes, "input"); }
      return make(backend, variant);
    };
    return measure(one, "host", quick).reason;
  };
  EXPECT_EQ(beside_an_input(20 << 20), "");
  EXPECT_THAT(beside_an_input(15 << 20), HasSubstr("(157286 are allowed)"));
}

TEST(Measure, StepsThatEachLeaveALittleOnTheHeapAreAnError) {
  auto left = std::make_shared<std::vector<std::vector<char>>>();
  const Case one = toy_case([=](Backend&, int) { left->emplace_back(60'000); });
  EXPECT_THAT(measure(one, "host", quick).reason,
              testing::ContainsRegex("holds 1[78][0-9]{4} bytes of heap memory in a steady step"));
}

// A case of which both variants, or one of them, keep so many bytes of the heap beside a buffer.
Case keeping(std::size_t heap_bytes, std::size_t buffer_bytes,
             std::optional<Variant> only = std::nullopt) {
  struct Keeping : Toy {
    Keeping(Backend& backend, std::size_t heap_bytes, std::size_t buffer_bytes)
        : Toy(backend, {}), table(heap_bytes), counted(backend, buffer_bytes, "counted") {}
    std::vector<char> table;
    Buffer<char> counted;
  };
  Case one = toy_case();
  steps_of(one).make = [=](Backend& backend, Variant variant) {
    return std::make_unique<Keeping>(backend, variant == only.value_or(variant) ? heap_bytes : 0,
                                     buffer_bytes);
  };
  return one;
}

TEST(Measure, AVariantThatKeepsATableOutsideOfBuffersIsAnError) {
  for (const Variant only : {Variant::optimized, Variant::reference})
    EXPECT_THAT(
        measure(keeping(40 << 20, 1 << 20, only), "host", quick).reason,
        testing::ContainsRegex("keeps 4[12][0-9]{6} bytes of heap memory after the warm-up, which "
                               "peak_bytes does not count \\(9[0-9]{6} are allowed\\)"));
}

TEST(Measure, AnInputThatIsKeptOnceMoreBesideItsBufferIsNone) {
  EXPECT_EQ(measure(keeping(40 << 20, 40 << 20), "host", quick).reason, "");
}

TEST(Measure, ACaseWhosePeakDoesNotGateMayKeepWhatItLikesOfTheHeap) {
  Case one = keeping(40 << 20, 1 << 20);
  one.tier = Tier::full;
  EXPECT_EQ(measure(one, "host", quick).reason, "");
}

TEST(Measure, AVariantThatMayAllocateMayHoldWhatItLikesOfTheHeap) {
  struct Permitted : Toy {
    using Toy::Toy;
    Permissions permissions() const override { return {.may_allocate = true}; }
  };
  Case one = toy_case();
  steps_of(one).make = [](Backend& backend, Variant) {
    return std::make_unique<Permitted>(backend, holding({1 << 20}));
  };
  EXPECT_EQ(measure(one, "host", quick).reason, "");
}

// The other variant would compute with them, and the oracle as well.
TEST(Measure, AStepThatLeavesOtherModesOfThreadsIsAnError) {
  constexpr unsigned flush_to_zero = 0x8000;
  const unsigned usual = _mm_getcsr();
  const int threads = omp_get_max_threads();
  const auto last_of_the_team_flushes = [=] {
#pragma omp parallel num_threads(host_limits().threads)
    if (omp_get_thread_num() == omp_get_num_threads() - 1) _mm_setcsr(usual | flush_to_zero);
  };
  const std::function<void()> leaving[] = {last_of_the_team_flushes,
                                           [=] { omp_set_num_threads(threads + 1); }};
  for (const auto& leave : leaving)
    for (const int when : {1, 20}) {
      const Case one = toy_case([=](Backend&, int step) {
        if (step == when) leave();
      });
      const std::string reason = measure(one, "host", quick).reason;
#pragma omp parallel num_threads(host_limits().threads)
      _mm_setcsr(usual);
      omp_set_num_threads(threads);
      EXPECT_THAT(reason, HasSubstr(when == 1 ? "the optimized variant left " : "section left "));
    }
}

TEST(Measure, AnOracleThatExpectsNothingChecksNothingAndFails) {
  Case one = toy_case();
  steps_of(one).make = [](Backend& backend, Variant) { return std::make_unique<Empty>(backend); };
  steps_of(one).oracle.expected = [](int) { return std::vector<double>(); };
  EXPECT_EQ(measure(one, "host", quick).check, CheckStatus::failed);
  Oracle& oracle = steps_of(one).oracle;
  oracle.distance = oracle.between = [](const auto&, const auto&) { return 0; };
  EXPECT_EQ(measure(one, "host", quick).check, CheckStatus::failed);
}

TEST(Measure, ACountThatDiffersFromStepToStepIsAnError) {
  for (const Counter& counter : counter_table) {
    if (!counter.steady) continue;
    const Case one = toy_case(
        [&](Backend& backend, int step) { backend.ledger.counts.*counter.member += step % 2; });
    EXPECT_THAT(measure(one, "host", quick).reason,
                HasSubstr(text(counter.name, " is not steady")));
  }
}

TEST(Measure, AnInvariantSeesAVariantThatStopsWorking) {
  Case one = toy_case();
  steps_of(one).invariant = [](const auto& before,
                               const auto& after) -> std::optional<std::string> {
    if (after[0] > before[0]) return std::nullopt;
    return "the count stands still";
  };
  EXPECT_EQ(measure(one, "host", quick).status, Measurement::Status::ok);

  steps_of(one).make = [](Backend& backend, Variant) {
    struct Lazy : Toy {
      using Toy::Toy;
      void step() override {
        if (made++ < 2) Toy::step();  // as many as are checked
      }
      int made = 0;
    };
    return std::make_unique<Lazy>(backend);
  };
  const Measurement measured = measure(one, "host", quick);
  EXPECT_THAT(measured.reason, HasSubstr("stands still"));
  EXPECT_EQ(measured.check, CheckStatus::failed);
  EXPECT_FALSE(measured.check_error);
}

// While the other one does what it should.
TEST(Measure, EitherVariantIsLookedAtOnceItWasTimed) {
  struct Stopping : Toy {
    using Toy::Toy;
    void step() override {
      if (made++ < 2) Toy::step();
    }
    int made = 0;
  };
  for (const Variant lazy : {Variant::optimized, Variant::reference}) {
    const std::string named = text("the ", variant_name(lazy), " variant ");
    Case one = toy_case();
    steps_of(one).make = [=](Backend& backend, Variant variant) {
      return std::make_unique<Toy>(backend, [=](Backend& b, int step) {
        b.ledger.counts.launches += variant != lazy || step <= 2 + 8;
      });
    };
    EXPECT_THAT(measure(one, "host", quick).reason, HasSubstr(named + "counts 0 launches in"));

    steps_of(one).make = [=](Backend& backend, Variant variant) -> std::unique_ptr<Computation> {
      if (variant == lazy) return std::make_unique<Stopping>(backend);
      return std::make_unique<Toy>(backend);
    };
    steps_of(one).invariant = [](const auto& first,
                                 const auto& last) -> std::optional<std::string> {
      if (last[0] > first[0]) return std::nullopt;
      return "the count stands still";
    };
    EXPECT_THAT(measure(one, "host", quick).reason, HasSubstr(named + "broke an invariant"));
  }
}

// Writes the same result in each of its first steps, and then leaves it as it is.
class Idler : public Computation {
 public:
  explicit Idler(Backend& backend) : out_(backend, 1, "out") {}
  void step() override {
    if (made_++ < 8) out_.data()[0] = 20;
  }
  std::vector<double> result() override { return {out_.data()[0]}; }

 private:
  Buffer<double> out_;
  int made_ = 0;
};

TEST(Measure, AVariantThatKeepsAnEarlierResultIsFoundWhereEachStepWritesAnew) {
  Case one = toy_case();
  steps_of(one).make = [](Backend& backend, Variant) { return std::make_unique<Idler>(backend); };
  steps_of(one).invariant = [](const auto& before,
                               const auto& after) -> std::optional<std::string> {
    if (after[0] == before[0]) return std::nullopt;
    return "the result is another";
  };
  EXPECT_EQ(measure(one, "host", quick).status, Measurement::Status::ok);
  steps_of(one).rewritten = always({"out"});
  EXPECT_THAT(measure(one, "host", quick).reason, HasSubstr("the result is another"));
}

TEST(Measure, WhatEachStepWritesAnewIsSpoiltBeforeItIsVerified) {
  Case one = toy_case();
  steps_of(one).rewritten = always({"state"});  // which a Toy adds to
  EXPECT_EQ(measure(one, "host", quick).check, CheckStatus::failed);
  steps_of(one).rewritten = always({"state", "result"});
  EXPECT_THAT(measure(one, "host", quick).reason,
              HasSubstr("writes 'result' anew, and nobody holds memory of that name"));
}

TEST(Measure, TheStateIsChainedThroughAccountingAndTiming) {
  Case one = toy_case();
  double last = 0;
  steps_of(one).batch = 5;
  one.reference = false;
  steps_of(one).invariant = [&](const auto&, const auto& after) -> std::optional<std::string> {
    last = after[0];
    return std::nullopt;
  };
  (void)measure(one, "host", quick_in_full);
  EXPECT_EQ(last,
            10 * (2 + 8 + 2 * 3 * 5));  // warm-up, accounting, three rounds of two samples of five
}

// The steps that a case took in all whose steps spend 4.5 ms, or as many, where they are slow.
double steps_taken(const std::function<bool(int step)>& slow, double milliseconds = 4.5) {
  Case one = toy_case([=](Backend&, int step) {
    const double begin = thread_cpu_seconds(), least = slow(step) ? 1e-3 * milliseconds : 0;
    while (thread_cpu_seconds() - begin < least) continue;
  });
  double last = 0;
  one.reference = false;
  steps_of(one).invariant = [&](const auto&, const auto& after) -> std::optional<std::string> {
    last = after[0];
    return std::nullopt;
  };
  (void)measure(one, "host", quick);
  return last / 10;
}

// Warm-up, accounting, three rounds of two samples of one, or of one sample where whatever
// interrupted it made it long.
constexpr int steps_one_at_a_time = 2 + 8 + 3 * 2;

TEST(Measure, AStepThatTakesFarLongerThanASampleIsNotProbedForItsBatch) {
  EXPECT_THAT(steps_taken([](int) { return true; }),
              testing::AllOf(testing::Ge(2 + 3), testing::Le(steps_one_at_a_time)));
}

TEST(Measure, ASlowStepIsAccountedWhereItIsTimedAndTimedOnceARound) {
  EXPECT_EQ(steps_taken([](int) { return true; }, 60), 2 + 3);
}

TEST(Measure, WhatAStepCountsIsToldOfSlowStepsToo) {
  const auto slow = [](Backend& backend, int) {
    backend.ledger.counts.launches += 3;
    for (const double begin = thread_cpu_seconds(); thread_cpu_seconds() - begin < 0.05;) continue;
  };
  const Measurement measured = measure(toy_case(slow), "host", quick);
  EXPECT_EQ(measured.status, Measurement::Status::ok) << measured.reason;
  EXPECT_EQ(measured.optimized.step.launches, 3);
  EXPECT_EQ(measured.reference->step.launches, 3);
  Case wrong = toy_case(slow);
  steps_of(wrong).oracle.expected = [](int) { return std::vector{1.}; };
  EXPECT_EQ(measure(wrong, "host", quick).optimized.step.launches, 3);
}

TEST(Measure, ASlowStepThatCountsOtherwiseAfterTheFirstIsAnError) {
  const Case one = toy_case([](Backend& backend, int step) {
    backend.ledger.counts.launches += step == 3;
    for (const double begin = thread_cpu_seconds(); thread_cpu_seconds() - begin < 0.05;) continue;
  });
  EXPECT_THAT(measure(one, "host", quick).reason,
              HasSubstr("counts 1 launches in 3 timed steps and not 3"));
}

TEST(Measure, AStepThatWasInterruptedBeforeItIsTimedIsProbedForItsBatch) {
  EXPECT_GT(steps_taken([](int step) { return step < 6; }), steps_one_at_a_time);
}

// Forgets its result, of which it reads the first value.
class Forgetful : public Toy {
 public:
  using Toy::Toy;
  std::vector<double> result() override { return {}; }
  std::vector<NamedReading> readings() override { return {{"first", result().at(0)}}; }
};

TEST(Measure, OfAWrongResultNothingIsRead) {
  Case one = toy_case();
  steps_of(one).make = [](Backend& backend, Variant) {
    return std::make_unique<Forgetful>(backend);
  };
  const Measurement measured = measure(one, "host", quick);
  EXPECT_EQ(measured.check, CheckStatus::failed);
  EXPECT_THAT(measured.optimized.readings, testing::IsEmpty());
}

// Of a step that takes thousands of times as long as one of the toy: however busy the machine is,
// the quotient is above 1, and beside a factor of 1e9 it shows which way round it was taken.
double ratio_to_a_slow_step(Derived::Form form) {
  Case one = toy_case();
  const auto busy = [](Backend&, int) {
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < std::chrono::microseconds(200)) continue;
  };
  one.derived = {{.name = "ratio",
                  .factor = 1e9,
                  .other = [=](Backend& b) { return std::make_unique<Toy>(b, busy); },
                  .form = form}};
  return measure(one, "host", quick).derived.at("ratio");
}

TEST(Measure, ADerivedRatioIsAFactorTimesTheOtherOverTheCase) {
  EXPECT_GT(ratio_to_a_slow_step(Derived::Form::other_over_case), 1e9);
}

TEST(Measure, ADerivedRatioMayBeTheOtherWayRound) {
  const double found = ratio_to_a_slow_step(Derived::Form::case_over_other);
  EXPECT_LT(found, 1e9);
  EXPECT_GT(found, 1);  // without the factor it is far below
}

TEST(Measure, ARateIsSoMuchPerStepOverTheSecondsOfAStep) {
  Case one = toy_case();
  one.rates = {{.name = "points_per_s", .per_step = 64}, {.name = "vs_published", .per_step = 0.5}};
  const Measurement measured = measure(one, "host", quick);
  const double seconds = measured.optimized.seconds.value();
  EXPECT_DOUBLE_EQ(measured.optimized.readings.at("points_per_s"), 64 / seconds);
  EXPECT_DOUBLE_EQ(measured.optimized.readings.at("vs_published"), 0.5 / seconds);
}

TEST(Measure, ARateMayBeAShareOfWhatTheBackendCanDoWhereThatIsKnown) {
  Case one = toy_case();
  one.rates = {{.name = "used", .per_step = 64, .peak = [](const Backend&) { return 4e9; }},
               {.name = "unknown", .per_step = 64, .peak = [](const Backend&) { return 0.; }}};
  const Measurement measured = measure(one, "host", quick);
  EXPECT_DOUBLE_EQ(measured.optimized.readings.at("used"),
                   64 / measured.optimized.seconds.value() / 4e9);
  EXPECT_FALSE(measured.optimized.readings.contains("unknown"));
  EXPECT_EQ(measured.status, Measurement::Status::ok) << measured.reason;
}

TEST(Measure, ADerivedRatioMayBeTakenAgainstTheReference) {
  Case one = toy_case();
  one.derived = {{.name = "share",
                  .other = [](Backend& b) { return std::make_unique<Toy>(b); },
                  .against = Variant::reference}};
  steps_of(one).make = [](Backend& b, Variant variant) {
    const auto slow = [](Backend&, int) {
      for (const double begin = monotonic_seconds(); monotonic_seconds() - begin < 2e-4;) continue;
    };
    return variant == Variant::reference ? std::make_unique<Toy>(b, slow)
                                         : std::make_unique<Toy>(b);
  };
  EXPECT_LT(measure(one, "host", quick).derived.at("share"), 0.1);
  one.unreferenced = {"host"};
  EXPECT_FALSE(measure(one, "host", quick).derived.contains("share"));
}

TEST(Measure, LeavesTheReferenceOutWhereItTakesTooLong) {
  Case one = toy_case();
  one.unreferenced = {"host"};
  const Measurement measured = measure(one, "host", quick);
  EXPECT_FALSE(measured.reference);
  EXPECT_FALSE(measured.speedup);
  EXPECT_TRUE(measured.optimized.seconds);
}

TEST(Measure, ADeclaredMetricThatNothingReadsFailsTheCase) {
  Case one = toy_case();
  one.metrics = {{.name = "mass_drift"}};
  const Measurement measured = measure(one, "host", quick);
  EXPECT_EQ(measured.status, Measurement::Status::failed);
  EXPECT_THAT(measured.reason, HasSubstr("declares the metric mass_drift"));
}

TEST(Measure, AMetricOfTheSizeAloneNeedsNoReading) {
  Case one = toy_case();
  one.metrics = {{.name = "dense_waste", .value = 0.875}};
  EXPECT_EQ(measure(one, "host", quick).optimized.readings.at("dense_waste"), 0.875);
}

TEST(Measure, ReadsBothVariants) {
  struct Counted : Toy {
    using Toy::Toy;
    std::vector<NamedReading> readings() override { return {{"counted", result()[0]}}; }
  };
  Case one = toy_case();
  steps_of(one).batch = 1;
  steps_of(one).make = [](Backend& backend, Variant) { return std::make_unique<Counted>(backend); };
  const Measurement measured = measure(one, "host", quick_in_full);
  EXPECT_EQ(measured.optimized.readings.at("counted"), 10 * (2 + 8 + 2 * 3));
  EXPECT_EQ(measured.reference->readings.at("counted"), 10 * (2 + 8 + 2 * 3));
}

TEST(Measure, ReadsWhatACaseMakesOfAVerifiedResult) {
  Case one = toy_case([](Backend& backend, int) { backend.ledger.counts.launches += 3; });
  steps_of(one).read = [](const Verified& found) -> std::vector<NamedReading> {
    return {{"launches", static_cast<double>(found.launches)},
            {"own", static_cast<double>(found.own.size())},
            {"over_reference", found.result.at(0) / found.reference->at(0)},
            {"result", found.result.at(0)}};
  };
  const Measurement measured = measure(one, "host", quick);
  for (const auto& readings : {measured.optimized.readings, measured.reference->readings})
    EXPECT_THAT(readings,
                testing::ElementsAre(std::pair("launches", 3), std::pair("over_reference", 1),
                                     std::pair("own", 0), std::pair("result", 20)));
}

TEST(Measure, OfAWrongResultACaseReadsNothing) {
  Case one = toy_case();
  steps_of(one).oracle.expected = [](int) { return std::vector{1.}; };
  steps_of(one).read = [](const Verified&) -> std::vector<NamedReading> { return {{"read", 1}}; };
  EXPECT_THAT(measure(one, "host", quick).optimized.readings, testing::IsEmpty());
}

TEST(Measure, AStepThatDoesLessWhileTheClockRunsIsAnError) {
  for (const Counter& counter : counter_table) {
    if (counter.timed.empty()) continue;
    const Case one = toy_case([&](Backend& backend, int step) {
      if (step <= 2 + 8) ++(backend.ledger.counts.*counter.member);
    });
    const Measurement measured = measure(one, "host", quick);
    EXPECT_EQ(measured.status, Measurement::Status::failed);
    EXPECT_THAT(measured.reason, HasSubstr(text("counts 0 ", counter.timed, " in")));
  }
}

TEST(Measure, AProtocolThatVerifiesNothingFails) {
  Case one = toy_case();
  one.recipe = Protocol([](Session&) {});
  EXPECT_THAT(measure(one, "host", quick).reason, HasSubstr("verified no result"));
}

TEST(Measure, AProtocolsReadingsAreKept) {
  Case one = toy_case();
  one.recipe = Protocol([](Session& session) {
    Backend& backend = session.open();
    const Buffer<double> held(backend, 3, "held");
    session.read("held_bytes", static_cast<double>(backend.ledger.live_bytes));
    session.check("arithmetic", 0, 1e-9);
  });
  one.limit = 1e-9;
  const Measurement measured = measure(one, "host", quick);
  EXPECT_EQ(measured.check, CheckStatus::passed);
  EXPECT_EQ(measured.optimized.readings.at("held_bytes"), 24);
}

TEST(RelativeError, IsRelativeToEachPartsLargestMagnitude) {
  EXPECT_DOUBLE_EQ(relative_error({100, 1.5}, {100, 1}, {1, 1}), 0.5);
  EXPECT_DOUBLE_EQ(relative_error({100, 1.5}, {100, 1}, {}), 0.005);
}

TEST(RelativeError, WhereNothingIsExpectedIsInfinite) {
  EXPECT_EQ(relative_error({1e-30}, {0}, {}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(relative_error({1, 1e-30}, {1, 0}, {1, 1}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(relative_error({0, 0}, {0, 0}, {}), 0);
  EXPECT_EQ(relative_error({}, {}, {}), std::numeric_limits<double>::infinity());
}

TEST(RelativeError, OfPartsThatLeaveSomethingOutIsInfinite) {
  EXPECT_EQ(relative_error({1, 2}, {1, 2}, {1}), std::numeric_limits<double>::infinity());
}

TEST(RelativeError, OfAnythingNotFiniteIsInfinite) {
  EXPECT_EQ(relative_error({std::numeric_limits<double>::quiet_NaN()}, {1}, {}),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(relative_error({1}, {std::numeric_limits<double>::quiet_NaN()}, {}),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ(relative_error({1}, {1, 2}, {}), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace holdfast
