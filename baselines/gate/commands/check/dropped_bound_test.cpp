// SPDX-License-Identifier: Apache-2.0
// The real `holdfast check` on a change whose list drops a metric that only a bound judges: no
// accepted value shows that it is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/testing/who_judges.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The bound's glob matches both cases; the list drops the metric of one.
class DroppedBound : public WhoJudges {
 protected:
  static constexpr const char* dropped = "toy/sum/n:64/f64";
  List listed_ = toy::list();
  Results host_ = toy::host(), dry_ = toy::dry();

  void SetUp() override {
    WhoJudges::SetUp();
    policy(no_rules_yet,
           R"("rules": [{"match": "toy/**", "variant": "optimized", "metric": "floor_fraction",
                         "bound": {"min": 0.1, "source": "a toy's bound"}},)");
    for (ListedCase& listed : listed_.cases) listed.devices["host"].push_back("floor_fraction");
    for (CaseResult& result : host_.cases)
      result.variants["optimized"].metrics["floor_fraction"] = {.kind = "advisory", .value = 0.5};
    measure();
    ASSERT_EQ(accept(), 0) << output_ << complaints_;
    begin();
    ASSERT_EQ(judge(), 0) << output_ << complaints_;
    ASSERT_THAT(output_, AllOf(HasSubstr("(well)"), Not(HasSubstr("have bounds alone"))));
  }

  void measure() {
    store_as_listed(dry_, listed_);
    store_as_listed(host_, listed_);
  }

  void drop() {
    listed_.cases.back().devices["host"].pop_back();
    host_.cases.back().variants["optimized"].metrics.erase("floor_fraction");
    measure();
  }
};

TEST_F(DroppedBound, IsMissing) {
  drop();
  for (const int exit : {judge(), check()}) {
    EXPECT_EQ(exit, 3) << output_ << complaints_;
    EXPECT_THAT(output_, AllOf(HasSubstr("MISSING"), HasSubstr(dropped),
                               HasSubstr("floor_fraction has bounds, and is listed no more")));
  }
}

TEST_F(DroppedBound, IsMissingThoughTheChangeAcceptsItsBaselineAnew) {
  drop();
  expect_complaint(accept(), 2,
                   HasSubstr("toy/sum/n:64/f64|case|floor_fraction  bounded -> none  (removed)"));
  ASSERT_EQ(accept({"--why=nobody reads it"}), 0) << complaints_;
  expect_output(judge(), 3, HasSubstr("floor_fraction has bounds, and is listed no more"));
}

TEST_F(DroppedBound, IsAcceptedWhereThePolicySaysWhyItIsGone) {
  drop();
  policy(
      no_waivers,
      R"("removed": [{"match": "toy/sum/**", "metric": "floor_fraction", "why": "a sum has no floor"}],
            "waivers": [])");
  expect_output(judge(), 0, AllOf(HasSubstr("ACCEPTED"), HasSubstr("a sum has no floor")));
}

// A part that was not measured does not report it missing.
TEST_F(DroppedBound, OfAClassThatNobodyMeasuredIsALoosening) {
  drop();
  std::filesystem::remove(result_path(host_));
  expect_output(judge(), 1,
                HasSubstr("LOOSENED  toy/sum/n:64/f64 on host-x86_64-v4-2t: "
                          "bounds of floor_fraction -> listed no more"));
}

// In two changes: the first removes the name, the next one the metric.
TEST_F(DroppedBound, IsNotMadeReadyByAChangeBefore) {
  edit(host_, [](Baseline& edited) { edited.bounded->erase(dropped); });
  expect_output(judge(), 1, HasSubstr("bounds of floor_fraction -> taken out of the baseline"));
  edit(host_, [](Baseline& edited) { edited.bounded.reset(); });
  EXPECT_EQ(judge(), 1) << output_ << complaints_;
}

TEST_F(DroppedBound, IsToldNotToBeKnownWhereNoBaselineSaysWhatHadBounds) {
  edit(host_, [](Baseline& edited) { edited.bounded.reset(); });
  begin();
  drop();
  expect_output(judge(), 0, HasSubstr("whether metrics that have bounds alone are gone"));
}

// Hosts are not measured here, and no run on one would report the case as missing.
TEST_F(DroppedBound, AWholeDeviceThatACaseDropsIsALoosening) {
  listed_.cases.back().devices.erase("host");
  store_as_listed(toy::dry(), listed_);
  std::filesystem::remove(result_path(host_));
  expect_output(judge(), 1,
                AllOf(HasSubstr("LOOSENED  toy/sum/n:64/f64 on host-x86_64-v4-2t: "
                                "2 accepted values such as optimized|peak_bytes -> "
                                "not run on host any more"),
                      HasSubstr("toy/sum/n:64/f64 on host-x86_64-v4-2t of AuthenticAMD-26-2: ")));
}

// It has no accepted value whose absence would show.
TEST_F(DroppedBound, ThatWasTheCasesLastIsMissingWhereTheCaseMovesToAnotherTier) {
  edit(host_, [](Baseline& edited) {
    const auto is_of_dropped = [](const auto& entry) { return entry.first.starts_with(dropped); };
    std::erase_if(edited.entries, is_of_dropped);
    for (auto& [processor, entries] : edited.processors) std::erase_if(entries, is_of_dropped);
  });
  begin();
  listed_.cases.back().tier = "full";
  host_.cases.pop_back();
  dry_.cases.pop_back();
  measure();
  expect_output(judge(), 3, HasSubstr("floor_fraction has bounds, and is listed no more"));
  std::filesystem::remove(result_path(host_));
  EXPECT_EQ(judge(), 3) << "the dry device misses what it had accepted";
  EXPECT_THAT(output_, HasSubstr("bounds of floor_fraction -> of the tier full, "
                                 "which does not gate"));
}

// Nothing but the baseline's names of bounded metrics tells what the case was called.
TEST_F(DroppedBound, IsFoundThoughItsCaseIsRenamedOutOfTheGlobAndHasNoAcceptedValue) {
  policy("toy/**", "toy/s*/**");
  ListedCase& listed = listed_.cases.back();
  CaseResult& result = host_.cases.back();
  listed.devices = {{"host", {"floor_fraction"}}};
  listed.reference = false;
  result.variants.erase("reference");
  result.variants["optimized"].metrics = {{"floor_fraction", {.kind = "advisory", .value = 0.5}}};
  result.metrics.clear();
  dry_.cases.pop_back();
  measure();
  ASSERT_EQ(accept({"--why=only its floor counts"}), 0) << output_ << complaints_;
  begin();
  ASSERT_EQ(judge(), 0) << output_ << complaints_;
  EXPECT_THAT(output_, Not(HasSubstr("judged by this change's own rules")));

  listed.id = result.id = "toy/total/n:64/f64";
  result.variants["optimized"].metrics["floor_fraction"].value = 0.05;
  measure();
  aliases(R"("toy/sum/n:64/f64": "toy/total/n:64/f64")");
  expect_output(
      judge(), 1,
      AllOf(HasSubstr("LOOSENED  bound of floor_fraction"), HasSubstr("below the bound of 0.1")));
}

TEST_F(DroppedBound, IsNoneWhereTheMetricIsStillListed) {
  expect_output(accept(), 0, HasSubstr("nothing to change"));
  const Baseline kept = read_baseline(baseline(host_));
  EXPECT_EQ(kept.bounded,
            (MetricNames{{toy::step_id, {"floor_fraction"}}, {toy::sum_id, {"floor_fraction"}}}));
}

}  // namespace
}  // namespace holdfast::gate
