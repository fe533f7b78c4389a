// SPDX-License-Identifier: Apache-2.0
#include "families/protocols.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/testing/variable.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/base/error.hpp"
#include "runtime/compile/program_cache.hpp"

namespace holdfast {
namespace {

using testing::Pair;
using testing::UnorderedElementsAre;

// Its value, or the first one that several of them keep.
using Kept = std::shared_ptr<std::optional<double>>;
Steps constant(double value, const Kept& kept = {}) {
  return {.make =
              [=](Backend& backend, Variant) {
                struct Constant : Computation {
                  Constant(Backend& where, double what) : out(where, 1, "out"), value(what) {}
                  void step() override { out.data()[0] = value; }
                  std::vector<double> result() override { return {out.data()[0]}; }
                  Buffer<double> out;
                  double value;
                };
                if (kept && !*kept) *kept = value;
                return std::make_unique<Constant>(backend, kept ? **kept : value);
              },
          .oracle = {.name = "arithmetic",
                     .limit = 1e-15,
                     .expected = [=](int) { return std::vector{value}; }},
          .rewritten = always({"out"})};
}

Turn turn(double value, const Kept& kept = {}) {
  return {.steps = constant(value, kept),
          .allclose = [=](const std::vector<double>& result) { return result.at(0) == value; }};
}

// A case fails unless it reads everything that it declares.
Measurement measured(const std::vector<MetricDeclaration>& metrics, const Protocol& protocol) {
  return measure({.id = "toy", .recipe = protocol, .metrics = metrics, .limit = 1}, "host", {});
}

TEST(InTurn, InputsThatAreComputedAnewAreRight) {
  const Measurement found = measured(turn_metrics(), [](Session& session) {
    in_turn(session, {turn(1), turn(2)});
  });
  EXPECT_EQ(found.status, Measurement::Status::ok) << found.reason;
  EXPECT_EQ(found.optimized.readings.at("allclose"), 1);
  EXPECT_EQ(found.reference->readings.at("allclose"), 1);
}

TEST(InTurn, AnInputThatIsTakenForTheOtherIsFound) {
  for (const double first : {1., 2.}) {  // the other one is wrong
    const auto kept = std::make_shared<std::optional<double>>(first);
    const Measurement found = measured(turn_metrics(), [&](Session& session) {
      in_turn(session, {turn(1, kept), turn(2, kept)});
    });
    EXPECT_EQ(found.check, CheckStatus::failed);
    EXPECT_EQ(found.optimized.readings.at("allclose"), 0) << first;
  }
}

TEST(InTurn, AResultThatIsLeftFromTheRoundBeforeIsFound) {
  struct Once : Computation {
    explicit Once(Backend& backend) : out(backend, 1, "out") {}
    void step() override {
      if (!std::exchange(done, true)) out.data()[0] = 1;
    }
    std::vector<double> result() override { return {out.data()[0]}; }
    Buffer<double> out;
    bool done = false;
  };
  Turn once = turn(1);
  once.steps.make = [](Backend& backend, Variant) { return std::make_unique<Once>(backend); };
  const Measurement found = measured(turn_metrics(), [&](Session& session) {
    in_turn(session, {once, turn(2)});
  });
  EXPECT_EQ(found.check, CheckStatus::failed);
}

TEST(CheckedStep, IsMadeFromSpoiltMemory) {
  const Measurement found =
      measured({}, [](Session& session) { checked_step(session, constant(1)); });
  EXPECT_EQ(found.check, CheckStatus::passed) << found.reason;

  struct Made : Computation {  // and never stepped
    explicit Made(Backend& backend) : out(backend, 1, "out") {
      out.data()[0] = 1;
      ++backend.ledger.counts.launches;
    }
    void step() override {}
    std::vector<double> result() override { return {out.data()[0]}; }
    Buffer<double> out;
  };
  Steps idle = constant(1);
  idle.make = [](Backend& backend, Variant) { return std::make_unique<Made>(backend); };
  const Measurement left = measured({}, [&](Session& session) {
    EXPECT_EQ(checked_step(session, idle), 0) << "launches of the step alone";
  });
  EXPECT_EQ(left.check, CheckStatus::failed);
}

TEST(Check, HoldsAResultToTheOraclesOwnLimit) {
  for (const double share : {0.9, 1.1}) {
    const Measurement found = measured({}, [&](Session& session) {
      const Steps one = constant(1 + share * 1e-3);
      const auto computation = one.make(session.open(), Variant::optimized);
      computation->step();
      const Oracle oracle = {
          .name = "one", .limit = 1e-3, .expected = [](int) { return std::vector{1.}; }};
      EXPECT_EQ(check(session, oracle, *computation).at(0), 1 + share * 1e-3);
    });
    EXPECT_EQ(found.check, share < 1 ? CheckStatus::passed : CheckStatus::failed) << share;
  }
}

TEST(Check, HoldsAResultToWhatTheOracleExpectsOfOneStep) {
  for (const double value : {1., 2.}) {
    Steps steps = constant(value);
    steps.oracle.expected = [](int made) { return std::vector{1. * made}; };
    const Measurement found = measured({}, [&](Session& session) { checked_step(session, steps); });
    EXPECT_EQ(found.check, value == 1 ? CheckStatus::passed : CheckStatus::failed) << value;
  }
}

TEST(TemporaryFolder, ThatCannotBeMadeIsABadInputThatNamesTmpdir) {
  for (const char* place : {"/nonexistent", "/proc"}) {
    const Variable here("TMPDIR", place);
    try {
      const TemporaryFolder folder;
      ADD_FAILURE() << folder.path();
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::bad_input);
      EXPECT_THAT(error.what(), testing::HasSubstr("name a place in TMPDIR"));
    }
  }
}

TEST(ShapeChange, HoldsEachOtherResultToItsOwnOracle) {
  const auto kept = std::make_shared<std::optional<double>>(2);
  for (const Kept& each : {Kept(), kept}) {
    const Measurement found = measured(shape_change_metrics(any_kind), [&](Session& session) {
      shape_change(session, constant(1), {constant(3, each)});
    });
    EXPECT_EQ(found.check, each ? CheckStatus::failed : CheckStatus::passed) << found.reason;
    EXPECT_THAT(found.optimized.readings,
                UnorderedElementsAre(Pair("compile_warm", 0), Pair("compile_steady", 0)));
  }
}

TEST(Memory, IsPutBesideItsEstimateAndTheRuleOfThumb) {
  const Steps steps = constant(1);
  const Measurement found = measured(memory_metrics(), [&](Session& session) {
    memory(session, {.make = steps.make,
                     .rule_of_thumb_bytes = 4,
                     .live =
                         [&](Backend& backend, Variant variant, Computation& computation) {
                           const Buffer<double> scratch(
                               backend, variant == Variant::optimized ? 1 : 3, "scratch");
                           computation.step();
                           check(session, steps.oracle, computation);
                         },
                     .estimate =
                         [](Backend&, Variant variant, Computation&) {
                           return variant == Variant::optimized ? std::optional(16.) : std::nullopt;
                         }});
  });
  EXPECT_EQ(found.status, Measurement::Status::ok) << found.reason;
  EXPECT_EQ(found.check, CheckStatus::passed);
  EXPECT_THAT(found.optimized.readings,
              UnorderedElementsAre(Pair("peak_bytes", 16), Pair("rule_of_thumb_ratio", 4),
                                   Pair("estimate_ratio", 1)));
  EXPECT_THAT(found.reference->readings,
              UnorderedElementsAre(Pair("peak_bytes", 32), Pair("rule_of_thumb_ratio", 8)));
}

TEST(Memory, IsThatOfEachVariant) {
  std::vector<Variant> made;
  const Measurement found = measured(memory_metrics(), [&](Session& session) {
    memory(session, {.make =
                         [&](Backend& backend, Variant variant) {
                           made.push_back(variant);
                           return constant(1).make(backend, variant);
                         },
                     .rule_of_thumb_bytes = 8,
                     .live =
                         [&](Backend&, Variant, Computation& computation) {
                           computation.step();
                           check(session, constant(1).oracle, computation);
                         },
                     .estimate =
                         [](Backend&, Variant variant, Computation&) {
                           return std::optional(variant == Variant::optimized ? 8. : 32.);
                         }});
  });
  EXPECT_EQ(found.status, Measurement::Status::ok) << found.reason;
  EXPECT_THAT(made, testing::ElementsAre(Variant::optimized, Variant::reference));
  EXPECT_EQ(found.optimized.readings.at("estimate_ratio"), 1);
  EXPECT_EQ(found.reference->readings.at("estimate_ratio"), 0.25);  // peak over estimate
}

TEST(Metrics, OfAProtocolAndOfItsSuiteStandInOneList) {
  const auto names = [](const std::vector<MetricDeclaration>& metrics) {
    std::vector<std::string> all;
    for (const MetricDeclaration& metric : metrics) all.push_back(metric.name);
    return all;
  };
  EXPECT_THAT(
      names(memory_metrics({{.name = "bytes_in_use"}})),
      UnorderedElementsAre("peak_bytes", "estimate_ratio", "rule_of_thumb_ratio", "bytes_in_use"));
  EXPECT_THAT(names(shape_change_metrics(gpu, {{.name = "compile_other_size"}})),
              UnorderedElementsAre("compile_warm", "compile_steady", "compile_other_size"));
}

#ifdef HOLDFAST_CUDA
struct Idle : Computation {
  void step() override {}
  std::vector<double> result() override { return {}; }
};

TEST(Compile, ReadsAllOfItsMetricsAndWhatIsCompiledAgain) {
  Case one = {.id = "toy", .devices = gpu, .metrics = compile_metrics()};
  one.recipe = Protocol([](Session& session) {
    (void)compile(
        session, [](Backend&) { return std::make_unique<Idle>(); },
        [](const FirstCall& call) { call.backend.ledger.counts.programs += 2; });
  });
  const Measurement found = measure(one, "cuda-dry:sm_90", {});
  EXPECT_EQ(found.status, Measurement::Status::ok) << found.reason;
  EXPECT_EQ(found.optimized.readings.size(), compile_metrics().size());
  EXPECT_EQ(found.optimized.readings.at("compile_steady"), 2);
}

// Construction and every step each request another program.
struct Compiling : Idle {
  explicit Compiling(Backend& on) : backend(on) { step(); }
  void step() override { ++backend.ledger.counts.programs; }
  Backend& backend;
};
Steps compiling() {
  return {.make = [](Backend& backend, Variant) { return std::make_unique<Compiling>(backend); }};
}

std::map<std::string, double> dry_readings(const std::vector<MetricDeclaration>& metrics,
                                           const Protocol& protocol) {
  const Measurement found = measure(
      {.id = "toy", .devices = gpu, .recipe = protocol, .metrics = metrics}, "cuda-dry:sm_90", {});
  EXPECT_EQ(found.status, Measurement::Status::ok) << found.reason;
  return {found.optimized.readings.begin(), found.optimized.readings.end()};
}

TEST(Compile, CountsWhatAFirstCallNeedsApartFromWhatComesAgain) {
  const auto readings = dry_readings(compile_metrics(), [](Session& session) {
    (void)compile(
        session, [](Backend& backend) { return compiling().make(backend, Variant::optimized); },
        [](const FirstCall& call) { call.computation->step(); });
  });
  EXPECT_EQ(readings.at("compile_warm"), 2);  // construction and one step
  EXPECT_EQ(readings.at("compile_steady"), 1);
}

TEST(ShapeChange, CountsTheProgramsOfTheOthersApart) {
  const auto readings = dry_readings(shape_change_metrics(), [](Session& session) {
    shape_change(session, compiling(), {compiling(), compiling()});
  });
  EXPECT_EQ(readings.at("compile_warm"), 2);
  EXPECT_EQ(readings.at("compile_steady"), 4);
}

TEST(InTurn, CountsTheProgramsOfAllTurnsOfEachVariantAfterTheFirst) {
  // The reference asks for two in each step.
  Steps steps = compiling();
  steps.make = [](Backend& backend, Variant variant) {
    struct Twice : Compiling {
      using Compiling::Compiling;
      void step() override { Compiling::step(), Compiling::step(); }
    };
    return variant == Variant::optimized ? std::make_unique<Compiling>(backend)
                                         : std::make_unique<Twice>(backend);
  };
  Case one = {.id = "toy", .devices = gpu, .metrics = turn_metrics()};
  one.recipe = Protocol([=](Session& session) {
    in_turn(session, {{.steps = steps}, {.steps = steps}});
  });
  const Measurement found = measure(one, "cuda-dry:sm_90", {});
  EXPECT_EQ(found.status, Measurement::Status::ok) << found.reason;
  EXPECT_EQ(found.optimized.readings.at("compile_steady"), 4);
  EXPECT_EQ(found.reference->readings.at("compile_steady"), 8);
}

const Program toy = {.code = {"test/toy.cu", "__global__ void toy() {}"}, .entries = {"toy"}};

std::unique_ptr<Computation> compile_toy(Backend& backend) {
  backend.compiler->compile(toy);
  return std::make_unique<Idle>();
}

TEST(Compile, RunsTheCompilerWhateverTheCachesHold) {
  (void)compile_toy(*open_backend("cuda-dry:sm_90"));
  const auto readings = dry_readings(compile_metrics(), [](Session& session) {
    (void)compile(session, compile_toy, [](const FirstCall&) {});
  });
  EXPECT_EQ(readings.at("nvrtc_runs"), 1);
}

TEST(SlowestProgram, IsTheOneThatBothOfItsCompilersTakeLongestFor) {
  const auto readings = dry_readings({}, [](Session& session) {
    Backend& backend = session.open();
    backend.compiler->compile(toy);
    backend.compiler->compile(
        {.code = {"test/other.cu", "__global__ void other() {}"}, .entries = {"other"}});
    const auto& programs = backend.compiler->programs();
    programs[0]->seconds = {.trace = 9, .lower = 3, .compile = 2, .load = 9};
    programs[1]->seconds = {.lower = 1, .compile = 3};
    read_slowest_program(session, backend);
  });
  EXPECT_EQ(readings.at("slowest_program_s"), 5);
}

// Uses neither the user's cache nor the process's.
TEST(WarmFirstCall, CompilesOnceAndThenTakesAllFromTheDisk) {
  for (int again = 0; again < 2; ++again) {
    std::vector<std::int64_t> compiled;
    const auto readings = dry_readings({}, [&](Session& session) {
      warm_first_call(session, [&](Backend& backend) {
        auto made = compile_toy(backend);
        compiled.push_back(backend.ledger.counts.nvrtc_runs);
        return made;
      });
    });
    EXPECT_THAT(compiled, testing::ElementsAre(1, 0));
    EXPECT_EQ(readings.at("warm_nvrtc_runs"), 0);
  }
}

TEST(WarmFirstCall, FindsACacheThatKeepsNothing) {
  const auto readings = dry_readings({}, [&](Session& session) {
    warm_first_call(session, [](Backend& backend) {
      const ProgramsKeptIn nowhere("/proc/none");
      return compile_toy(backend);
    });
  });
  EXPECT_EQ(readings.at("warm_nvrtc_runs"), 1);
}

TEST(WarmFirstCall, LeavesNothingBehind) {
  const NewFolder place(testing::TempDir() + "holdfast_warm_");
  const Variable here("TMPDIR", place.path());
  (void)dry_readings({}, [](Session& session) { warm_first_call(session, compile_toy); });
  EXPECT_TRUE(std::filesystem::is_empty(place.path()));
}
#endif

}  // namespace
}  // namespace holdfast
