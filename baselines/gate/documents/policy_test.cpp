// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/testing/toy_root.hpp"

namespace holdfast::gate {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* today = "2026-11-21";

Policy with(const std::string& rules, const std::string& waivers = "") {
  std::string content = toy::policy_text;
  const std::size_t begin = content.find("\"rules\"");
  content =
      content.substr(0, begin) + "\"rules\": [" + rules + "], \"waivers\": [" + waivers + "]}";
  return Policy::parse(Document("policy.json", content, Comments::allowed), today);
}

Standard of(const Policy& policy, const std::string& metric,
            const std::string& variant = "optimized",
            const std::string& device_class = "cuda-dry-sm_90") {
  return policy.standard(toy::step_id, device_class, variant, metric, "exact");
}

TEST(Glob, AStarStaysWithinASegment) {
  EXPECT_TRUE(matches_glob("toy/*/n:64/f64", "toy/step/n:64/f64"));
  EXPECT_FALSE(matches_glob("toy/*/f64", "toy/step/n:64/f64"));
}

TEST(Glob, TwoStarsCrossSegments) {
  EXPECT_TRUE(matches_glob("toy/**", "toy/step/n:64/f64"));
  EXPECT_TRUE(matches_glob("**/f64", "toy/step/n:64/f64"));
  EXPECT_FALSE(matches_glob("toy/**/f32", "toy/step/n:64/f64"));
}

TEST(Policy, AMetricHasTheGateOfItsKind) {
  const Standard launches = of(with(""), "launches");
  EXPECT_EQ(launches.kind, "exact");
  EXPECT_EQ(launches.gate, Gate::block);
  EXPECT_FALSE(launches.two_sided);
}

TEST(Policy, ExactMetricsOfTheReferenceAreTwoSided) {
  EXPECT_TRUE(of(with(""), "launches", "reference").two_sided);
}

TEST(Policy, HostClassesHaveAToleranceOfTheirOwn) {
  EXPECT_EQ(of(with(""), "speedup", "case", "host-x86_64-v4-2t").tolerance, 0.05);
  EXPECT_EQ(of(with(""), "speedup", "case", "cuda-h200").tolerance, 0.03);
}

// The toy's policy with more members of the row of `launches`, or of the whole.
Policy with_more(const std::string& of_row, const std::string& of_policy = "") {
  std::string content = toy::policy_text;
  const std::string row = "\"launches\": {";
  content.insert(content.find(row) + row.size(), of_row);
  content.insert(content.find("\"rules\""), of_policy);
  return Policy::parse(Document("policy.json", content, Comments::allowed), today);
}

TEST(Policy, AMetricMayHaveTolerancesOfItsOwn) {
  const Standard launches =
      of(with_more(R"("tolerance": 0.005, "patch_tolerance": 0.02, )"), "launches");
  EXPECT_EQ(launches.tolerance, 0.005);
  EXPECT_EQ(launches.patch_tolerance, 0.02);
}

TEST(Policy, AMetricOnRequestNamesTheOptionThatAsksForIt) {
  EXPECT_EQ(of(with_more(R"("on_request": "--count", )"), "launches").on_request, "--count");
  EXPECT_THAT([] { (void)with_more(R"("on_request": "count", )"); },
              ThrowsMessage<Error>(HasSubstr("is the option of holdfast run")));
}

TEST(Policy, MoreSuspectsThanThePolicySaysAreTheMachine) {
  EXPECT_EQ(with("").most_suspects(), 12u);
  EXPECT_EQ(with_more("", R"("most_suspects": 3, )").most_suspects(), 3u);
  EXPECT_THAT([] { (void)with_more("", R"("most_suspects": 0, )"); },
              ThrowsMessage<Error>(HasSubstr("lies between 1 and 1000000")));
}

TEST(Compilers, DifferInThePatchLevelWhereTheFirstNumberIsTheSame) {
  EXPECT_TRUE(differ_in_patch_level("g++ 12.2.0", "g++ 12.3.0"));
  EXPECT_FALSE(differ_in_patch_level("g++ 12.2.0", "g++ 12.2.0"));
  EXPECT_FALSE(differ_in_patch_level("g++ 12.2.0", "g++ 13.2.0"));
  EXPECT_FALSE(differ_in_patch_level("g++ 12.2.0", std::nullopt));
}

TEST(Policy, ALaterRuleOverridesAnEarlierOne) {
  const Policy policy = with(R"({"match": "toy/**", "metric": "launches", "tolerance": 0.1},
                                {"match": "toy/step/**", "metric": "launches", "gate": "warn"})");
  EXPECT_EQ(of(policy, "launches").tolerance, 0.1);
  EXPECT_EQ(of(policy, "launches").gate, Gate::warn);
}

TEST(Policy, ARuleAppliesToItsDeviceAndVariantOnly) {
  const Policy policy = with(
      R"({"match": "toy/**", "device": "host-*", "variant": "optimized", "metric": "launches", "tolerance": 0.1})");
  EXPECT_EQ(of(policy, "launches").tolerance, 0);
  EXPECT_EQ(of(policy, "launches", "reference", "host-x").tolerance, 0);
  EXPECT_EQ(of(policy, "launches", "optimized", "host-x").tolerance, 0.1);
}

TEST(Policy, TheGateBesideABoundSpeaksOfTheBound) {
  const Policy policy = with(
      R"({"match": "toy/**", "metric": "launches", "gate": "warn", "bound": {"max": 9, "source": "s"}})");
  EXPECT_EQ(of(policy, "launches").gate, Gate::block);
  ASSERT_EQ(of(policy, "launches").bounds.size(), 1u);
}

TEST(Policy, ASumOfMetricsHasABound) {
  const Policy policy = with(
      R"({"match": "toy/**", "metric": "launches+peak_bytes", "bound": {"max": 9, "source": "s"}})");
  EXPECT_EQ(policy.sums(toy::step_id, "host", "optimized").size(), 1u);
  EXPECT_TRUE(of(policy, "launches").bounds.empty());
}

TEST(Policy, ARuleThatMatchesNothingIsAnErrorWithItsLine) {
  const Policy policy =
      with("\n{\"match\": \"toy/absent/**\", \"metric\": \"launches\", \"tolerance\": 1}");
  EXPECT_THAT(
      [&] { policy.check_against({toy::list()}, true); },
      ThrowsMessage<Error>(HasSubstr(": this rule matches nothing: no suite lists toy/absent/**")));
}

TEST(Policy, AMetricThatTheDeviceDoesNotListMatchesNothing) {
  const Policy policy =
      with(R"({"match": "toy/**", "device": "host-*", "metric": "launches", "tolerance": 1})");
  EXPECT_THROW(policy.check_against({toy::list()}, true), Error);
}

TEST(Policy, ARuleForAGpuByItsNameMatchesWhatCudaLists) {
  const Policy policy =
      with(R"({"match": "toy/**", "device": "nvidia-h200", "metric": "launches", "tolerance": 1})");
  List list = toy::list();
  EXPECT_THROW(policy.check_against({list}, true), Error);
  list.cases.front().devices["cuda"] = {"launches"};
  EXPECT_NO_THROW(policy.check_against({list}, true));
}

TEST(Policy, RulesForSuitesThatAreNotHereAreLeftAloneUnlessAllListsAre) {
  const Policy policy = with(R"({"match": "other/**", "metric": "launches", "tolerance": 1})");
  policy.check_against({toy::list()}, false);
  EXPECT_THROW(policy.check_against({toy::list()}, true), Error);
}

TEST(Policy, AnUnknownMetricIsAnErrorUnlessItIsAdvisory) {
  const Policy policy = with("");
  EXPECT_THROW((void)policy.standard(toy::step_id, "host", "optimized", "surprise", "exact"),
               Error);
  EXPECT_EQ(policy.standard(toy::step_id, "host", "optimized", "surprise", "advisory").gate,
            Gate::off);
}

TEST(Policy, AnExpiredWaiverIsAnErrorAndOneOfTodayIsNot) {
  const auto until = [](const std::string& date) {
    return with("", R"({"match": "toy/**", "metric": "launches", "until": ")" + date +
                        R"(", "why": "known"})");
  };
  EXPECT_EQ(of(until("2026-11-21"), "launches").waiver->why, "known");
  EXPECT_THAT([&] { until("2026-11-20"); },
              ThrowsMessage<Error>(HasSubstr("expired on 2026-11-20")));
}

TEST(Policy, AWaiverNeedsADateAndAReason) {
  EXPECT_THROW(
      with("", R"({"match": "toy/**", "metric": "launches", "until": "soon", "why": "known"})"),
      Error);
  EXPECT_THROW(
      with("", R"({"match": "toy/**", "metric": "launches", "until": "2027-01-01", "why": ""})"),
      Error);
}

TEST(Policy, ARuleThatSaysNothingIsAnError) {
  EXPECT_THROW(with(R"({"match": "toy/**", "metric": "launches"})"), Error);
}

TEST(ThePolicyOfThisProject, HasARowForEveryCanonicalMetric) {
  const Policy policy = Policy::read(HOLDFAST_POLICY, today);
  for (const char* name : {"time_s",
                           "speedup",
                           "peak_bytes",
                           "peak_bytes_warm",
                           "peak_ratio",
                           "compile_warm",
                           "compile_steady",
                           "nvrtc_runs",
                           "plans_warm",
                           "plans",
                           "launches_warm",
                           "launches",
                           "library_calls",
                           "graph_nodes",
                           "h2d_bytes_warm",
                           "h2d_bytes",
                           "d2h_bytes",
                           "syncs",
                           "registers_max",
                           "spill_bytes",
                           "shared_bytes",
                           "identity",
                           "trace_s",
                           "lower_s",
                           "compile_s",
                           "load_s",
                           "first_call_s",
                           "instructions",
                           "floor_s",
                           "floor_fraction",
                           "flop_per_s",
                           "bytes_per_s",
                           "idle_fraction",
                           "max_gap_s",
                           "top_kernel_fraction",
                           "check_error",
                           "host_rss_bytes_before",
                           "host_rss_bytes_peak",
                           "host_rss_bytes_after"})
    EXPECT_TRUE(policy.metrics().contains(name)) << name;
}

TEST(ThePolicyOfThisProject, BoundsTheHostSpeedupOfTheCubedSphere) {
  const Policy policy = Policy::read(HOLDFAST_POLICY, today);
  const Standard speedup = policy.standard("cubed_sphere_swe/rk4_step/n:96/f64",
                                           "host-x86_64-v4-2t", "case", "speedup", "ratio");
  ASSERT_EQ(speedup.bounds.size(), 1u);
  EXPECT_EQ(speedup.bounds.front()->bound->min, 5.0);
}

}  // namespace
}  // namespace holdfast::gate
