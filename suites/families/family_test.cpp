// SPDX-License-Identifier: Apache-2.0
#include "families/family.hpp"

#include <gmock/gmock.h>

#include "families/known.hpp"
#include "harness/measure/session.hpp"
#include "harness/testing/toy.hpp"

namespace holdfast {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Row {
  const Family<Row>* family = nullptr;
  int n = 1;
  Tier tier = Tier::smoke;
  Kinds only = {};
  bool counted = false;
};

std::string count_id(const Row& row) {
  return id("toy/count", {{"n", row.n}}, "f64");
}
std::unique_ptr<Computation> count(const Row&, Backend& backend, Variant) {
  return std::make_unique<Toy>(backend);
}

const Family<Row> counting = {
    .id = count_id,
    .make = count,
    .work = [](const Row& row) { return Work{.flops = static_cast<double>(row.n)}; },
    .oracle =
        [](const Row&) {
          return Oracle{.name = "arithmetic", .limit = 1e-15, .expected = ten_per_step};
        },
    .more = [](const Row& row, Steps& steps) { steps.batch = row.n; },
    .derived = [](const Row& row) -> std::vector<Derived> {
      return {over("over_itself", row, Derived::Form::case_over_other, Variant::reference)};
    }};
const Family<Row> looking = {
    .id = count_id,
    .devices = [](const Row&) { return executing; },
    .reference = never,
    .metrics = [](const Row&) -> std::vector<MetricDeclaration> { return {{.name = "looked"}}; },
    .expected = [](const Row&) -> std::vector<ExpectedFinding> {
      return {{.finding = "idle_gaps", .why = "it looks, and does nothing else"}};
    },
    .protocol =
        [](const Row& row, Session& session) {
          session.read("looked", row.n);
          session.check("arithmetic", 0, 1);
        },
    .limit = [](const Row& row) { return 1. + row.n; }};

// The variants that were made.
std::vector<Variant> variants_made;
std::unique_ptr<Computation> noted(const Row&, Backend& backend, Variant variant) {
  variants_made.push_back(variant);
  return std::make_unique<Toy>(backend);
}

// Sets most of the optional members that `counting` leaves out.
const Family<Row> whole = {
    .id = count_id,
    .unreferenced = [](const Row&) { return gpu; },
    .metrics = [](const Row&) -> std::vector<MetricDeclaration> { return {{.name = "own"}}; },
    .expected = [](const Row&) -> std::vector<ExpectedFinding> {
      return {{.finding = "idle_gaps", .why = "it counts, and does nothing else"}};
    },
    .make = noted,
    .work =
        [](const Row& row) { return Work{.flops = 2. * row.n, .bytes = 3. * row.n, .phases = 4}; },
    .oracle =
        [](const Row&) {
          return Oracle{.name = "arithmetic", .limit = 1e-15, .expected = ten_per_step};
        },
    .invariant = [](const Row&) -> Invariant {
      return [](const auto&, const auto&) { return "never right"; };
    },
    .warm_up = [](const Row& row) { return row.n; },
    .chained = never,
    .rates = [](const Row& row) -> std::vector<Rate> {
      return {{.name = "counts_per_s", .per_step = static_cast<double>(row.n)}};
    }};

TEST(Family, HandsOverAllThatItSaysOfARow) {
  const Case one = case_of(Row{.family = &whole, .n = 3, .tier = Tier::full, .counted = true});
  EXPECT_EQ(one.tier, Tier::full);
  EXPECT_EQ(one.unreferenced, gpu);
  EXPECT_EQ(one.metrics.at(0).name, "own");
  EXPECT_EQ(one.expected.at(0).finding, "idle_gaps");
  EXPECT_EQ(one.work.flops, 6);
  EXPECT_EQ(one.work.bytes, 9);
  EXPECT_EQ(one.work.phases, 4);
  EXPECT_EQ(one.rates.at(0).per_step, 3);
  const auto& steps = std::get<Steps>(one.recipe);
  EXPECT_EQ(steps.warm_up, 3);
  EXPECT_FALSE(steps.chained);
  EXPECT_EQ(steps.invariant({}, {}), "never right");
  EXPECT_EQ(case_of(Row{.family = &looking}).metrics.at(0).name, "looked");
}

TEST(Over, MakesTheOtherAsTheVariantThatIsTimed) {
  const auto backend = open_backend("host");
  for (const Variant variant : {Variant::reference, Variant::optimized}) {
    const Derived one =
        over("over_whole", Row{.family = &whole}, Derived::Form::case_over_other, variant);
    variants_made.clear();
    (void)one.other(*backend);
    EXPECT_THAT(variants_made, ElementsAre(variant));
    EXPECT_EQ(one.against, variant);
  }
}

TEST(Over, AHostIsEitherVariantAndMoreIsBetter) {
  const auto backend = open_backend("host");
  const auto both = over_host(Row{.family = &whole}, {Variant::optimized, Variant::reference});
  variants_made.clear();
  for (const Derived& one : both) {
    (void)one.other(*backend);
    EXPECT_EQ(one.better, Better::higher) << one.name;
    EXPECT_TRUE(one.beside_host) << one.name;
    EXPECT_EQ(one.against, Variant::optimized) << one.name;
  }
  EXPECT_THAT(variants_made, ElementsAre(Variant::optimized, Variant::reference));
  EXPECT_EQ(both.at(0).name, "gpu_over_host");
  EXPECT_EQ(both.at(1).name, "gpu_over_host_reference");
}

TEST(Family, MakesAStepsCaseOfItsFunctions) {
  const Case one = case_of(Row{.family = &counting, .n = 5, .counted = true});
  EXPECT_EQ(one.id, "toy/count/n:5/f64");
  EXPECT_EQ(one.tier, Tier::smoke);
  EXPECT_EQ(one.devices, any_kind);
  EXPECT_EQ(one.work.flops, 5);
  EXPECT_TRUE(one.reference && one.counted);
  const auto& steps = std::get<Steps>(one.recipe);
  EXPECT_EQ(steps.warm_up, 1);
  EXPECT_EQ(steps.batch, 5);
  EXPECT_FALSE(steps.invariant);
  const Measurement measured =
      measure(one, "host", {.budget = {.seconds = 0, .fewest_rounds = 1, .most_rounds = 1}});
  EXPECT_EQ(measured.status, Measurement::Status::ok) << measured.reason;
  EXPECT_TRUE(measured.derived.contains("over_itself"));
}

TEST(Family, WithAProtocolMakesACaseOfIt) {
  const Case one = case_of(as(looking, Row{.family = &counting, .n = 7}));
  EXPECT_FALSE(one.reference);
  EXPECT_EQ(one.limit, 8);
  EXPECT_EQ(one.expected.at(0).finding, "idle_gaps");
  EXPECT_EQ(measure(one, "host", {}).optimized.readings.at("looked"), 7);
}

TEST(Family, ARowIsConfinedToSomeOfItsFamilysDevices) {
  EXPECT_THAT(devices_of(Row{.family = &looking}), ElementsAre("host", "cuda"));
  EXPECT_THAT(devices_of(Row{.family = &looking, .only = gpu}), ElementsAre("cuda"));
  EXPECT_THAT(devices_of(Row{.family = &looking, .only = {"cuda-dry"}}), IsEmpty());
}

TEST(Cases, AreOfRowsThatSomeDeviceRunsAndTheFirstOfEachName) {
  const std::vector<Case> cases = cases_of<Row>({{.family = &counting, .n = 2},
                                                 {.family = &looking, .n = 2},
                                                 {.family = &looking, .n = 3, .only = {"cuda-dry"}},
                                                 {.family = &looking, .n = 1}});
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].id, "toy/count/n:2/f64");
  EXPECT_TRUE(std::holds_alternative<Steps>(cases[0].recipe));
  EXPECT_EQ(cases[1].id, "toy/count/n:1/f64");
}

TEST(Cases, BesideACountedOneOfTheirFamilySayThatItStandsForThem) {
  const std::vector<Case> cases = cases_of<Row>({{.family = &counting, .n = 2, .counted = true},
                                                 {.family = &counting, .n = 3},
                                                 {.family = &looking, .n = 4}});
  ASSERT_EQ(cases.size(), 3u);
  EXPECT_EQ(cases[0].why_uncounted(), std::nullopt);
  EXPECT_THAT(cases[1].why_uncounted().value_or(""), HasSubstr("another case of its family"));
  EXPECT_EQ(cases[2].uncounted, Case().uncounted);
}

TEST(Cases, BesideOneThatIsCountedAtNightAloneDoNotSayThatItStandsForThem) {
  const std::vector<Case> cases =
      cases_of<Row>({{.family = &counting, .n = 2, .tier = Tier::full, .counted = true},
                     {.family = &counting, .n = 3}});
  EXPECT_EQ(cases.at(1).uncounted, Case().uncounted);
}

TEST(Known, IsMadeOnceForEachKey) {
  Known<int, int> known;
  int made = 0;
  const auto twice = [&](int key) { return known.of(key, [&] { return ++made, 2 * key; }); };
  EXPECT_EQ(twice(3) + twice(4) + twice(3), 20);
  EXPECT_EQ(made, 2);
}

}  // namespace
}  // namespace holdfast
