// SPDX-License-Identifier: Apache-2.0
// The real `holdfast check --baseline-ref` on what the policy says is gone: each entry excuses what
// it was written for, and waits for no other loss.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/testing/who_judges.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Removed : public WhoJudges {
 protected:
  // Replaces all that the policy says is gone.
  void removed(const std::string& rows) {
    write_file(common_policy_, toy::policy_with(no_waivers, text(R"("waivers": [],
 "removed": [)",
                                                                 rows, "]")));
  }
};

class LeftTheGate : public Removed {
 protected:
  static constexpr const char* to_the_night =
      R"({"match": "toy/sum/**", "metric": "*", "tier": "full", "why": "measured at night"})";
  List listed_ = toy::list();
  Results now_ = toy::dry();

  void SetUp() override {
    Removed::SetUp();
    now_.cases.pop_back();
    listed_.cases.back().tier = "full";
    store_as_listed(now_, listed_);
    removed(to_the_night);
  }
  void drop() {
    listed_.cases.pop_back();
    store_as_listed(now_, listed_);
  }
};

TEST_F(LeftTheGate, IsAcceptedWhereThePolicySaysInWhichTierItsCaseIsNow) {
  expect_output(judge(), 0, AllOf(HasSubstr("ACCEPTED"), HasSubstr("measured at night")));
  removed(R"({"match": "toy/sum/**", "metric": "*", "why": "measured at night"})");
  expect_complaint(judge(), 2,
                   AllOf(HasSubstr("of toy/sum/n:64/f64 is gone"),
                         HasSubstr("in the tier full (\"tier\": \"full\" says")));
}

TEST_F(LeftTheGate, IsNotWhatDroppedItsCase) {
  ASSERT_EQ(accept({"--why=measured at night"}), 0) << complaints_;
  ASSERT_EQ(judge(), 0) << output_ << complaints_;
  begin();
  drop();
  expect_output(judge(), 1,
                HasSubstr("LOOSENED  toy/sum/n:64/f64 on cuda-dry-sm_90: "
                          "the limit of its error, 1e-12 -> no such case"));
  removed(R"({"match": "toy/sum/**", "metric": "*", "why": "measured at night"})");
  EXPECT_EQ(judge(), 1) << "an old reason: " << output_;
  removed(R"({"match": "toy/sum/**", "metric": "*", "why": "the step does it now"})");
  expect_output(judge(), 0, AllOf(HasSubstr("ACCEPTED"), HasSubstr("the step does it now")));
}

TEST_F(LeftTheGate, IsNotWhatDroppedItsCaseThoughItsValuesStay) {
  begin();
  expect_output(judge(), 0, HasSubstr("measured at night"));
  drop();
  expect_output(judge(), 3,
                AllOf(HasSubstr("MISSING"), HasSubstr("accepted values such as"),
                      HasSubstr("-> no such case")));
}

TEST_F(LeftTheGate, IsNoneThatIsInTheGate) {
  listed_.cases.back().tier = "gate";
  store_as_listed(toy::dry(), listed_);
  expect_complaint(judge(), 2, HasSubstr("is gone, and its suite lists it on"));
}

class RetiredProcessor : public Removed {
 protected:
  static constexpr const char* other = "GenuineIntel-6-207";

  static std::string gone(const std::string& processor) {
    return text(R"({"match": "**", "device": "host-*", "processor": ")", processor,
                R"(", "metric": "*", "why": "that machine is gone"})");
  }
  void SetUp() override {
    Removed::SetUp();
    accepted(toy::host());
    Results now = toy::host();
    now.env.processor = other;
    accepted(now);
    begin();
  }
  void retire() {
    edit(toy::host(), [](Baseline& edited) { edited.processors.erase(toy::processor); });
  }
};

TEST_F(RetiredProcessor, IsALooseningUntilThePolicySaysWhy) {
  retire();
  expect_output(judge(), 1,
                HasSubstr("LOOSENED  toy/step/n:64/f64 on host-x86_64-v4-2t of AuthenticAMD-26-2: "
                          "3 accepted values such as case|speedup -> taken out of the baseline"));
  removed(gone("AuthenticAMD-26-17"));
  EXPECT_EQ(judge(), 1) << output_;
  removed(gone(toy::processor));
  expect_output(judge(), 0, AllOf(HasSubstr("ACCEPTED"), HasSubstr("that machine is gone")));
}

TEST_F(RetiredProcessor, LeavesTheCountsOfItsClass) {
  retire();
  edit(toy::host(),
       [](Baseline& edited) { edited.entries.erase("toy/step/n:64/f64|optimized|peak_bytes"); });
  removed(gone(toy::processor));
  expect_output(judge(), 1,
                HasSubstr("LOOSENED  toy/step/n:64/f64 on host-x86_64-v4-2t: 1 accepted value"));
}

TEST_F(RetiredProcessor, IsNoneThatIsAccepted) {
  removed(gone(toy::processor));
  expect_complaint(judge(), 2,
                   AllOf(HasSubstr("'removed' says that speedup of toy/step/n:64/f64 case is gone"),
                         HasSubstr("holds it of AuthenticAMD-26-2")));
  retire();
  begin();
  EXPECT_EQ(judge(), 0) << output_ << complaints_;
  accepted(toy::host());
  expect_complaint(judge(), 2, HasSubstr("holds it of AuthenticAMD-26-2"));
}

// Lists say which metrics a case has, and not of which variant.
class MovedMetric : public Removed {
 protected:
  static constexpr const char* of_the_case =
      R"({"match": "toy/**", "variant": "optimized", "metric": "peak_bytes", "why": "of the case now"},
         {"match": "toy/**", "variant": "reference", "metric": "peak_bytes", "why": "of none now"})";

  void SetUp() override {
    Removed::SetUp();
    Results now = toy::dry();
    for (CaseResult& result : now.cases) {
      for (auto& [name, variant] : result.variants) variant.metrics.erase("peak_bytes");
      result.metrics["peak_bytes"] = toy::exact(1177856);
    }
    store(now);
  }
};

TEST_F(MovedMetric, IsMissingOfItsFormerVariantUntilThePolicySaysWhy) {
  expect_output(judge(), 3, HasSubstr("holdfast baseline accept"));
  ASSERT_EQ(accept({"--why=of the case now"}), 0) << complaints_;
  expect_output(judge(), 3,
                AllOf(HasSubstr("has an accepted value"), HasSubstr("say why in \"removed\" of"),
                      HasSubstr("for the variant optimized")));
  removed(of_the_case);
  expect_output(judge(), 0, AllOf(HasSubstr("ACCEPTED"), HasSubstr("of none now")));
}

TEST_F(MovedMetric, IsNoneWhoseFormerVariantIsAccepted) {
  removed(of_the_case);
  expect_complaint(judge(), 2,
                   AllOf(HasSubstr("peak_bytes of toy/step/n:64/f64 optimized is gone"),
                         HasSubstr("devices/cuda-dry-sm_90/toy.json holds it")));
}

// Once gone, it would excuse whatever becomes of the limit.
TEST_F(MovedMetric, IsNotTheLimitOfACaseThatIsListed) {
  store(toy::dry());
  for (const char* variant : {"", R"("variant": "case", )"}) {
    removed(
        text(R"({"match": "toy/sum/**", )", variant, R"("metric": "check_error", "why": "w"})"));
    expect_complaint(judge(), 2, HasSubstr("'removed' says that check_error of toy/sum/n:64/f64"));
  }
}

}  // namespace
}  // namespace holdfast::gate
