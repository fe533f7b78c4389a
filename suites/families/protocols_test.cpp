// SPDX-License-Identifier: Apache-2.0
#include "families/protocols.hpp"

#include <gmock/gmock.h>

#include <map>

#include "families/family.hpp"
#include "harness/testing/toy.hpp"

namespace holdfast {
namespace {

using testing::Pair;
using testing::UnorderedElementsAre;

// Writes its value anew in each step, or only while the backend holds no other one's.
class Constant : public Computation {
 public:
  Constant(Backend& backend, double value, bool keeps)
      : backend_(&backend), value_(value), keeps_(keeps), out_(backend, 1, "out") {}
  void step() override {
    if (keeps_ && kept().contains(backend_)) value_ = kept()[backend_];
    kept()[backend_] = value_;
    out_.data()[0] = value_;
  }
  std::vector<double> result() override { return {out_.data()[0]}; }

 private:
  static std::map<Backend*, double>& kept() {
    static std::map<Backend*, double> all;
    return all;
  }
  Backend* backend_;
  double value_;
  bool keeps_;
  Buffer<double> out_;
};

Steps constant(double value, bool keeps = false) {
  return {.make = [=](Backend& backend,
                      Variant) { return std::make_unique<Constant>(backend, value, keeps); },
          .oracle = {.name = "arithmetic",
                     .limit = 1e-15,
                     .expected = [=](int) { return std::vector{value}; }},
          .rewritten = [](const Backend&, Variant) { return std::vector<std::string>{"out"}; }};
}

Turn turn(double value, bool keeps) {
  return {.steps = constant(value, keeps),
          .allclose = [=](const std::vector<double>& result) { return result.at(0) == value; }};
}

Measurement measured(const Protocol& protocol) {
  return measure({.id = "toy", .recipe = protocol}, "host", {});
}

TEST(InTurn, InputsThatAreComputedAnewAreRight) {
  const Measurement found = measured([](Session& session) {
    in_turn(session, {turn(1, false), turn(2, false)});
  });
  EXPECT_EQ(found.status, Measurement::Status::ok) << found.reason;
  EXPECT_EQ(found.optimized.readings.at("allclose"), 1);
  EXPECT_EQ(found.reference->readings.at("allclose"), 1);
}

TEST(InTurn, AnInputThatIsTakenForTheOtherIsFound) {
  const Measurement found = measured([](Session& session) {
    in_turn(session, {turn(1, true), turn(2, true)});
  });
  EXPECT_EQ(found.check, CheckStatus::failed);
  EXPECT_EQ(found.optimized.readings.at("allclose"), 0);
}

TEST(ShapeChange, HoldsEachOtherResultToItsOwnOracle) {
  Measurement found = measured([](Session& session) {
    shape_change(session, constant(1), {constant(2), constant(3)});
  });
  EXPECT_EQ(found.status, Measurement::Status::ok) << found.reason;
  EXPECT_THAT(found.optimized.readings,
              UnorderedElementsAre(Pair("compile_warm", 0), Pair("compile_steady", 0)));
  found = measured([](Session& session) {
    shape_change(session, constant(1), {constant(2), constant(3, true)});
  });
  EXPECT_EQ(found.check, CheckStatus::failed);
}

TEST(Memory, IsPutBesideItsEstimateAndTheRuleOfThumb) {
  const Steps steps = constant(1);
  const Measurement found = measured([&](Session& session) {
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
  EXPECT_EQ(found.check, CheckStatus::passed);
  EXPECT_THAT(found.optimized.readings,
              UnorderedElementsAre(Pair("peak_bytes", 8), Pair("rule_of_thumb_ratio", 2),
                                   Pair("estimate_ratio", 0.5)));
  EXPECT_THAT(found.reference->readings,
              UnorderedElementsAre(Pair("peak_bytes", 8), Pair("rule_of_thumb_ratio", 2)));
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
