// SPDX-License-Identifier: Apache-2.0
#include "gate/judge/row_sentence.hpp"

#include <gtest/gtest.h>

#include "gate/documents/measured_part.hpp"
#include "gate/documents/verdict_names.hpp"

namespace holdfast::gate {
namespace {

Row row_of(const std::string& variant, const std::string& metric, const std::string& because) {
  Row row{.case_id = "toy/step/n:64/f64",
          .device_class = "host-fake-1t",
          .variant = variant,
          .metric = metric,
          .verdict = verdict::missing};
  say(row, because);
  return row;
}

TEST(RowSentence, IsTakenApartWhereItWasPutTogether) {
  const Row row = row_of("optimized", "launches", "rose from 4 to 5: why");
  EXPECT_EQ(row.sentence,
            "toy/step/n:64/f64 optimized on host-fake-1t: launches rose from 4 to 5: why");
  EXPECT_EQ(said(row), "launches rose from 4 to 5: why");
  EXPECT_EQ(because(row), "rose from 4 to 5: why");
}

TEST(RowSentence, OfACaseAsAWholeNamesNeitherVariantNorMetric) {
  const Row row = row_of(case_variant, "", "it: fell");
  EXPECT_EQ(row.sentence, "toy/step/n:64/f64 on host-fake-1t: it: fell");
  EXPECT_EQ(because(row), "it: fell");
}

TEST(RowSentence, ThatSomebodyElseWroteStaysWhole) {
  Row row = row_of("optimized", "launches", "");
  row.sentence = "somebody: wrote it";
  EXPECT_EQ(because(row), "somebody: wrote it");
}

TEST(RowSentence, OfALostCaseTellsHowItWasLost) {
  const auto lost = [](const std::string& status) {
    return std::string(
        how_lost(row_of(case_variant, "", lost_case(status, "it crashed: skipped"))));
  };
  EXPECT_EQ(lost("crashed"), "crashed");
  EXPECT_EQ(lost("timeout"), "timed out");
  EXPECT_EQ(lost("skipped"), "skipped");
  EXPECT_EQ(lost("missing"), "missing");
}

TEST(RowSentence, OfWhatAChangeAcceptsHasItsReasonLast) {
  const std::string why = accepted_because("one: more stage");
  EXPECT_EQ(why_accepted(row_of("optimized", "launches", "is 5; " + why)), "one: more stage");
}

}  // namespace
}  // namespace holdfast::gate
