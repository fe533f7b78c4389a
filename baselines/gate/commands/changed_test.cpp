// SPDX-License-Identifier: Apache-2.0
// The real `holdfast` on falls that may be losses, and on bounds on values that vary from run to
// run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/testing/gate_command.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Changed : public GateCommand {
 protected:
  // A fall of `metric` is a change if one of `beside` became worse.
  void fall_of(const std::string& metric, const std::string& beside) {
    spoil(common_policy_, R"("metrics": {)",
          "\"metrics\": {\"" + metric + "\": {\"fall_is_change\": [\"" + beside + "\"]}, ");
  }
  void bound_of_speedup(const std::string& gate) {
    spoil(common_policy_, R"("rules": [)",
          R"("rules": [{"match": "toy/step/**", "metric": "speedup", "gate": ")" + gate +
              R"(", "bound": {"min": 9.95, "source": "ours"}},)");
  }
};

TEST_F(Changed, AFallThatIsNeverAGainBlocksUntilItIsAcceptedWithAReason) {
  fall_of("launches", "*");
  measured_anew(toy::dry(), "optimized", "launches", toy::exact(0));
  expect_output(check(), 1,
                AllOf(HasSubstr("CHANGED"), HasSubstr("fell from 4 to 0"),
                      HasSubstr("can be a loss"), Not(HasSubstr("IMPROVED"))));
  EXPECT_EQ(accept(), 2) << "it needs a reason";
  EXPECT_EQ(accept({"--why=one kernel does it all"}), 0) << complaints_;
  EXPECT_EQ(check(), 0) << output_;
}

TEST_F(Changed, FewerRegistersBesideMoreMemoryAreNoImprovement) {
  fall_of("registers_max", "peak_bytes");
  accepted(toy::dry());
  Results now = toy::dry();
  toy::metric(now, "optimized", "registers_max") = toy::codegen(32);
  store(now);
  expect_output(check(), 0, HasSubstr("IMPROVED"));
  toy::metric(now, "optimized", "peak_bytes") = toy::exact(1277856);
  store(now);
  expect_output(check(), 1,
                AllOf(HasSubstr("CHANGED"), HasSubstr("and peak_bytes rose from"),
                      Not(HasSubstr("IMPROVED"))));
}

TEST_F(Changed, OneProcessBelowABoundDecidesNothing) {
  bound_of_speedup("block");
  accepted(toy::host());
  expect_output(check(), 4, HasSubstr("undecided: 1 of 5 processes is beyond it"));
}

TEST_F(Changed, AllProcessesBelowABoundAreARegression) {
  bound_of_speedup("block");
  Results now = toy::host();
  toy::metric(now, "case", "speedup") = toy::timed("ratio", 8);
  store(now);
  expect_output(check(), 1, HasSubstr("is 8, below the bound of 9.95 (ours)"));
  now.quality.valid = false;
  now.quality.reasons = {"busy"};
  store(now);
  expect_output(check(), 0,
                AllOf(HasSubstr("is invalid (busy): its times and ratios are not gated"),
                      HasSubstr("not gated here")));
  EXPECT_EQ(check({"--require-baseline"}), 3);
}

TEST_F(Changed, FewerThanFiveProcessesWithinABoundDecideNothing) {
  bound_of_speedup("block");
  store(toy::host(), "case", "speedup",
        {.kind = "ratio", .processes = {20, 21, 22}, .median = 21, .mad_between = 1});
  expect_output(check(), 4, HasSubstr("a decision needs 5"));
}

TEST_F(Changed, ABoundThatOnlyWarnsHidesNoRegression) {
  accepted(toy::host());
  bound_of_speedup("warn");
  store(toy::host(), "case", "speedup", toy::timed("ratio", 5));
  expect_output(check(), 1, HasSubstr("fell from 10 to 5"));
}

TEST_F(GateCommand, ARenamedCaseIsToldAsWhatAcceptingChanges) {
  accepted(toy::dry());
  const auto former =
      toy::accepted_as("toy/old/n:64/f64", toy::step_id, read_baseline(baseline(toy::dry())));
  write_file(baseline(toy::dry()), baseline_text(former));
  aliases(R"("toy/old/n:64/f64": "toy/step/n:64/f64")");
  expect_output(holdfast(toy::joined({"baseline", "diff", results_.string()}, stores())), 0,
                AllOf(HasSubstr(" would change, 1 case would be renamed\n"),
                      HasSubstr("  toy/old/n:64/f64 -> toy/step/n:64/f64\n")));
  EXPECT_EQ(accept(), 0) << complaints_;
  EXPECT_THAT(output_ + complaints_, AllOf(HasSubstr(" changed, 1 case renamed\n"),
                                           HasSubstr("  toy/old/n:64/f64 -> toy/step/n:64/f64\n")));
  EXPECT_EQ(accept(), 0) << complaints_;
  EXPECT_THAT(output_ + complaints_, HasSubstr(": nothing to change\n"));
}

}  // namespace
}  // namespace holdfast::gate
