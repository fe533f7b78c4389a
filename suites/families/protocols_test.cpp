// SPDX-License-Identifier: Apache-2.0
#include "families/protocols.hpp"

#include <gmock/gmock.h>

#include <optional>

#include "runtime/backend/buffer.hpp"

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

// A case fails that does not read all that it declares.
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
  const auto kept = std::make_shared<std::optional<double>>();
  const Measurement found = measured(turn_metrics(), [&](Session& session) {
    in_turn(session, {turn(1, kept), turn(2, kept)});
  });
  EXPECT_EQ(found.check, CheckStatus::failed);
  EXPECT_EQ(found.optimized.readings.at("allclose"), 0);
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
                         [&](Backend&, Variant, Computation& computation) {
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
              UnorderedElementsAre(Pair("peak_bytes", 8), Pair("rule_of_thumb_ratio", 2),
                                   Pair("estimate_ratio", 0.5)));
  EXPECT_THAT(found.reference->readings,
              UnorderedElementsAre(Pair("peak_bytes", 8), Pair("rule_of_thumb_ratio", 2)));
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
#endif

}  // namespace
}  // namespace holdfast
