// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/resolution.hpp"

#include <gmock/gmock.h>

#include "gate/documents/measured_part.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/testing/gate_command.hpp"

namespace holdfast::gate {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Row missing_row(const std::string& case_id, const std::string& device_class,
                const std::string& variant, const std::string& metric) {
  return {.case_id = case_id,
          .device_class = device_class,
          .variant = variant,
          .metric = metric,
          .verdict = verdict::missing,
          .blocking = true};
}

TEST(ResolutionTable, LeavesOutWhatHasNoTimesToLack) {
  Verdict made;
  made.rows = {missing_row("toy", "host-fake-1t", case_variant, ""),
               missing_row("toy/dry/f64", "cuda-dry-sm_90", case_variant, ""),
               missing_row("toy/counted/f64", "host-fake-1t", "optimized", "launches")};
  EXPECT_EQ(resolution_table(made), "no time and no ratio was measured\n");
}

TEST(ResolutionTable, ListsACaseOnceThatLacksItsTimesAlone) {
  Verdict made;
  made.rows = {missing_row("toy/step/f64", "host-fake-1t", "optimized", "time_s"),
               missing_row("toy/step/f64", "host-fake-1t", case_variant, "speedup")};
  EXPECT_THAT(resolution_table(made),
              AllOf(testing::ContainsRegex("none +toy/step/f64 .* not measured: missing"),
                    HasSubstr("1 case of 1: no loss of speed fails here")));
}

TEST_F(GateCommand, TheDoctorTellsNoResolutionOfACheckThatJudgedNothing) {
  accepted(toy::dry());
  spoil(result_path(toy::dry()), "\"partial\"", "\"surprise\": 1, \"partial\"");
  ASSERT_EQ(check(), 2);
  expect_complaint(
      holdfast({"doctor", "--resolution=" + results_.string()}), 3,
      AllOf(HasSubstr("the check ended with exit 2: "), HasSubstr("unknown key 'surprise'"),
            HasSubstr("; judge again: holdfast check " + results_.string() + "\n")));
}

TEST_F(GateCommand, TheDoctorTakesAnAbsentFolderForABadArgument) {
  const std::string absent = (folder_.path() / "absent").string();
  expect_complaint(holdfast({"doctor", "--resolution=" + absent}), 2,
                   HasSubstr(text("there is no folder ", absent, "; judge first: ")));
}

}  // namespace
}  // namespace holdfast::gate
