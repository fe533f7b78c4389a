// SPDX-License-Identifier: Apache-2.0
#include "gate/explain/difference.hpp"
#include "gate/documents/baseline.hpp"

#include <gmock/gmock.h>

namespace holdfast::gate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

Results side(double launches, double seconds, const std::string& device_class = "host") {
  Results results{.suite = "toy",
                  .tier = "gate",
                  .env = {.device_class = device_class, .device_name = "host", .fingerprint = "f"}};
  CaseResult result{
      .id = "toy/step/f64", .tier = "gate", .executed = true, .check = {.status = "passed"}};
  result.variants["optimized"] = {
      .metrics = {{"launches", {.kind = "exact", .value = launches}},
                  {"compile_s", {.kind = "advisory", .value = seconds}},
                  {"time_s",
                   {.kind = "time", .processes = {seconds}, .median = seconds, .mad_between = 0}}}};
  results.cases.push_back(result);
  return results;
}

TEST(Difference, EqualCountsAreEqualWhateverTheTimesAre) {
  const Difference difference = compare(side(4, 1), side(4, 2));
  EXPECT_TRUE(difference.equal());
  ASSERT_THAT(difference.rows, SizeIs(1));
  EXPECT_EQ(difference.rows[0].metric, "time_s");
}

TEST(Difference, ACaseWithoutARightResultIsEqualToNothing) {
  Results crashed = side(4, 1), wrong = side(4, 1);
  crashed.cases[0].status = "crashed";
  crashed.cases[0].variants.clear();
  wrong.cases[0].check.status = "failed";
  const Difference both = compare(crashed, crashed), one = compare(side(4, 1), wrong);
  EXPECT_FALSE(both.equal());
  EXPECT_THAT(both.unwell,
              ElementsAre("toy/step/f64  crashed in the first, crashed in the second"));
  EXPECT_FALSE(one.equal());
  EXPECT_THAT(one.unwell, ElementsAre("toy/step/f64  wrong in the second"));
}

TEST(Difference, ACaseThatNobodyVerifiedIsEqualToNothingWhereItIsExecuted) {
  Results unverified = side(4, 1), beyond = side(4, 1);
  unverified.cases[0].check.status = "not_executed";
  beyond.cases[0].check = {.status = "passed", .error = 1e-3, .limit = 1e-12};
  const Difference difference = compare(unverified, beyond);
  EXPECT_FALSE(difference.equal());
  EXPECT_THAT(difference.unwell,
              ElementsAre("toy/step/f64  not verified in the first, wrong in the second"));
  unverified.env.device_name = "cuda-dry:sm_90";
  EXPECT_TRUE(compare(unverified, side(4, 1)).equal());
}

TEST(Difference, CountsOfTheReferenceMustAgreeToo) {
  const auto with_reference = [](double launches) {
    Results results = side(4, 1);
    results.cases[0].variants["reference"].metrics["launches"] = {.kind = "exact",
                                                                  .value = launches};
    return results;
  };
  EXPECT_TRUE(compare(with_reference(8), with_reference(8)).equal());
  EXPECT_FALSE(compare(with_reference(8), with_reference(9)).equal());
}

TEST(Difference, WhatBothSidesMeasuredMustAgreeThoughItIsDeclaredForOne) {
  Difference difference = compare(side(4, 1), side(5, 1));
  forget_undeclared(difference,
                    {.suite = "toy",
                     .cases = {{.id = "toy/step/f64",
                                .tier = "gate",
                                .devices = {{"cuda", {"launches"}}, {"cuda-dry", {"time_s"}}}}}},
                    "cuda", "cuda-dry");
  EXPECT_FALSE(difference.equal());
}

List list_of_toy(const std::map<std::string, std::vector<std::string>>& devices) {
  return {.suite = "toy", .cases = {{.id = "toy/step/f64", .tier = "gate", .devices = devices}}};
}

TEST(Difference, ACaseDeclaredForOneDeviceHasNothingToStandAgainst) {
  Results without = side(4, 1);
  without.cases.clear();
  const List one = list_of_toy({{"cuda", {"launches"}}});
  Difference difference = compare(side(4, 1), without);
  ASSERT_FALSE(difference.equal());
  forget_undeclared(difference, one, "cuda", "cuda-dry");
  EXPECT_TRUE(difference.equal());
  EXPECT_EQ(difference.declared_for_one, 1);
}

TEST(Difference, ACaseDeclaredForBothDevicesIsMissed) {
  Results without = side(4, 1);
  without.cases.clear();
  Difference difference = compare(side(4, 1), without);
  forget_undeclared(difference, list_of_toy({{"cuda", {"launches"}}, {"cuda-dry", {"launches"}}}),
                    "cuda", "cuda-dry");
  EXPECT_FALSE(difference.equal());
}

TEST(Difference, ACountDeclaredForOneDeviceIsNoDifference) {
  Results less = side(4, 1);
  less.cases[0].variants["optimized"].metrics.erase("launches");
  Difference difference = compare(side(4, 1), less);
  ASSERT_FALSE(difference.equal());
  forget_undeclared(difference, list_of_toy({{"cuda", {"launches"}}, {"cuda-dry", {}}}), "cuda",
                    "cuda-dry");
  EXPECT_TRUE(difference.equal());
}

TEST(Difference, ACountThatDiffersIsShownWithBothValues) {
  const Difference difference = compare(side(4, 1), side(5, 1));
  EXPECT_FALSE(difference.equal());
  EXPECT_EQ(difference.rows[0].before, Value(4.0));
  EXPECT_EQ(difference.rows[0].after, Value(5.0));
}

TEST(Difference, ACountThatOneSideLacksDiffers) {
  Results less = side(4, 1);
  less.cases[0].variants["optimized"].metrics.erase("launches");
  EXPECT_FALSE(compare(side(4, 1), less).equal());
  EXPECT_FALSE(compare(less, side(4, 1)).equal());
}

TEST(Difference, ACaseOfOneSideIsNamedAndNotEqual) {
  Results empty = side(4, 1);
  empty.cases.clear();
  EXPECT_THAT(compare(side(4, 1), empty).only_before, ElementsAre("toy/step/f64"));
  EXPECT_THAT(compare(empty, side(4, 1)).only_after, ElementsAre("toy/step/f64"));
  EXPECT_FALSE(compare(empty, side(4, 1)).equal());
}

std::vector<StoredResults> stored(const std::vector<std::string>& classes) {
  std::vector<StoredResults> all;
  for (const std::string& device_class : classes)
    all.push_back({device_class, side(4, 1, device_class)});
  return all;
}

TEST(PairUp, EqualClassesArePairs) {
  const auto left = stored({"cuda-dry-sm_90", "host"});
  const auto right = stored({"cuda-dry-sm_90", "host"});
  const auto pairs = pair_up(left, right, {});
  ASSERT_THAT(pairs, SizeIs(2));
  for (const Pair& pair : pairs)
    EXPECT_EQ(pair.before->results.env.device_class, pair.after->results.env.device_class);
}

TEST(PairUp, TheOnlyClassesOfASuiteAreAPair) {
  const auto left = stored({"nvidia-h200"});
  const auto right = stored({"cuda-dry-sm_90"});
  const auto pairs = pair_up(left, right, {});
  ASSERT_THAT(pairs, SizeIs(1));
  EXPECT_EQ(pairs[0].after->results.env.device_class, "cuda-dry-sm_90");
}

TEST(PairUp, ClassesThatAreNamedArePairs) {
  const auto left = stored({"host", "nvidia-h200"});
  const auto right = stored({"cuda-dry-sm_90"});
  const auto pairs = pair_up(left, right, {"nvidia-h200=cuda-dry-sm_90"});
  ASSERT_THAT(pairs, SizeIs(2));
  EXPECT_EQ(pairs[0].after, nullptr);
  EXPECT_EQ(pairs[1].before->results.env.device_class, "nvidia-h200");
  EXPECT_EQ(pairs[1].after->results.env.device_class, "cuda-dry-sm_90");
}

TEST(PairUp, AnUnknownClassIsAnError) {
  const auto both = stored({"host"});
  EXPECT_THAT([&] { (void)pair_up(both, both, {"gpu=host"}); },
              ThrowsMessage<Error>(HasSubstr("the first folder has no gpu")));
  EXPECT_THAT([&] { (void)pair_up(both, both, {"host"}); },
              ThrowsMessage<Error>(HasSubstr("--class=A=B")));
}

}  // namespace
}  // namespace holdfast::gate
