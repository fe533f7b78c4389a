// SPDX-License-Identifier: Apache-2.0
#include "gate/judge/loosening.hpp"

#include <gmock/gmock.h>

#include "gate/base/shown_text.hpp"
#include "gate/judge/bounded.hpp"
#include "gate/judge/merge_base.hpp"
#include "gate/testing/toy_root.hpp"

namespace holdfast::gate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

const std::set<std::string> known_reasons = {as_seen("an old reason")};

// The loosenings when a standard becomes another one.
std::vector<std::string> loosened(const Standard& before, const Standard& after) {
  std::vector<std::string> found;
  for (const StandardChange& change : compare(before, after, known_reasons))
    if (change.loosens) found.push_back(change.what);
  return found;
}

// Expects that one standard is laxer than the other in this alone, and that the reverse is no
// loosening.
void expect_laxer(const Standard& lax, const Standard& strict, const std::string& what) {
  EXPECT_THAT(loosened(strict, lax), ElementsAre(what));
  EXPECT_THAT(loosened(lax, strict), IsEmpty()) << what;
}

TEST(Loosening, IsWhateverLetsMorePassAndNotTheReverse) {
  const Standard strict{.kind = "exact",
                        .gate = Gate::block,
                        .tolerance = 0.02,
                        .two_sided = true,
                        .drift_blocks = true,
                        .same = {"nvrtc"},
                        .impossible_above = 1.1,
                        .patch_tolerance = 0.01,
                        .fall_is_change = {"launches"}};
  const auto with = [&](const auto& edit) {
    Standard lax = strict;
    edit(lax);
    return lax;
  };
  expect_laxer(with([](Standard& lax) { lax.gate = Gate::warn; }), strict, "gate");
  expect_laxer(with([](Standard& lax) { lax.tolerance = 0.025; }), strict, "tolerance");
  expect_laxer(with([](Standard& lax) { lax.two_sided = false; }), strict, "both ways");
  expect_laxer(with([](Standard& lax) { lax.drift_blocks = false; }), strict, "drift");
  expect_laxer(with([](Standard& lax) { lax.same.push_back("driver"); }), strict, "versions");
  expect_laxer(with([](Standard& lax) { lax.patch_tolerance = 0.02; }), strict, "patch tolerance");
  expect_laxer(with([](Standard& lax) { lax.on_request = "--count"; }), strict, "on request");
  expect_laxer(with([](Standard& lax) { lax.impossible_above = 2; }), strict, "impossible above");
  expect_laxer(with([](Standard& lax) { lax.impossible_above.reset(); }), strict,
               "impossible above");
  expect_laxer(with([](Standard& lax) { lax.fall_is_change.clear(); }), strict, "falls");
}

// In screening a time warns either way.
TEST(Loosening, OfATimeIsAlsoWhatAComparisonInLockStepLetsPass) {
  const Standard compared{.kind = "time", .gate = Gate::warn, .tolerance = 0.05};
  Standard warns = compared, lax = compared;
  warns.own_gate = true;
  lax.own_tolerance = true;
  expect_laxer(warns, compared, "gate once compared");
  expect_laxer(lax, compared, "tolerance once compared");
}

Rule bound(Gate gate, std::optional<double> min, std::optional<double> max = {}) {
  Rule rule;
  rule.match = "toy/**";
  rule.metrics = {"launches"};
  rule.gate = gate;
  rule.bound = Bound{.min = min, .max = max, .source = "a toy's"};
  return rule;
}

TEST(Loosening, OfABoundIsThatItAllowsMoreOrWarnsOrIsGone) {
  const auto of = [](const Rule* rule) {
    Standard standard{.kind = "exact", .gate = Gate::block};
    if (rule) standard.bounds = {rule};
    return standard;
  };
  const Rule strict = bound(Gate::block, 3, 4), lower = bound(Gate::block, 2, 4),
             higher = bound(Gate::block, 3, 5), warns = bound(Gate::warn, 3, 4),
             off = bound(Gate::off, 3, 4);
  for (const Rule* lax : {&lower, &higher, &warns, &off})
    expect_laxer(of(lax), of(&strict), "bound");
  expect_laxer(of(nullptr), of(&strict), "bound");
  expect_laxer(of(nullptr), of(&warns), "bound");
  EXPECT_THAT(loosened(of(&off), of(nullptr)), IsEmpty()) << "it held nothing";
}

TEST(Loosening, OfAWaiverIsThatItLastsLonger) {
  Waiver autumn, winter;
  autumn.until = "2026-11-30";
  winter.until = "2027-02-28";
  autumn.why = winter.why = "known_reasons";
  const Standard none{.kind = "exact", .gate = Gate::block};
  Standard waived = none, longer = none;
  waived.waiver = &autumn;
  longer.waiver = &winter;
  EXPECT_THAT(loosened(none, waived), ElementsAre("waiver"));
  EXPECT_THAT(loosened(waived, longer), ElementsAre("waiver"));
  EXPECT_THAT(loosened(waived, waived), IsEmpty());
}

TEST(Loosening, IsExcusedWhereEachHasAReasonThatIsNew) {
  const Standard before{.kind = "exact", .gate = Gate::block, .tolerance = 0.02};
  Standard after = before;
  after.gate = Gate::warn;
  after.tolerance = 0.05;
  after.said["gate"].why = "a new reason";
  EXPECT_FALSE(excuse(before, after, known_reasons)) << "the tolerance has none";
  after.said["tolerance"].why = "an old reason";
  EXPECT_FALSE(excuse(before, after, known_reasons)) << "the tolerance has an old one";
  after.said["tolerance"].why = "another one";
  EXPECT_EQ(excuse(before, after, known_reasons), "a new reason; another one");
  EXPECT_FALSE(excuse(before, before, known_reasons)) << "nothing is loosened";
}

TEST(Loosening, ABlankReasonIsNone) {
  EXPECT_TRUE(is_new("a new reason", known_reasons));
  for (const char* why : {"", "  ", "an old reason", " an old reason"})
    EXPECT_FALSE(is_new(why, known_reasons)) << why;
  for (const char* why : unasked::all) EXPECT_FALSE(is_new(why, {})) << why;
}

const Standard gating_ratio = {
    .kind = "ratio", .better = Better::higher, .gate = Gate::block, .tolerance = 0.05};

// The loosenings when `edit` changes an accepted speedup of 10.
template <class Edit>
std::vector<std::string> edited(const Edit& edit) {
  Entry before{.value = 10., .mad_between = 0.2, .medians = {10}, .anchor = 10};
  before.accepted.runs = {"a"};
  Entry after = before;
  edit(after);
  std::vector<std::string> found;
  for (const StandardChange& change : compare(gating_ratio, before, after, known_reasons))
    found.push_back(change.what);
  return found;
}

TEST(Loosening, OfAnAcceptedRatioIsAWorseValueAnchorOrSpread) {
  EXPECT_THAT(edited([](Entry&) {}), IsEmpty());
  EXPECT_THAT(edited([](Entry& entry) { entry.value = 8.; }), testing::Contains("value"));
  EXPECT_THAT(edited([](Entry& entry) { entry.value = 0.; }), ElementsAre("value"));
  EXPECT_THAT(edited([](Entry& entry) { entry.anchor = 9; }), ElementsAre("anchor"));
  EXPECT_THAT(edited([](Entry& entry) { entry.anchor.reset(); }), ElementsAre("anchor"));
  EXPECT_THAT(edited([](Entry& entry) { entry.anchor = 11; }), IsEmpty());
  EXPECT_THAT(edited([](Entry& entry) { entry.mad_between = 0.25; }),
              ElementsAre("limit", "drift limit"));
}

TEST(Loosening, OfAnAcceptedCountTellsItsValuesApart) {
  const Standard bytes{.kind = "exact", .unit = "B", .gate = Gate::block};
  const auto changes =
      compare(bytes, {.value = 8589934592.}, Entry{.value = 8589934593.}, known_reasons);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes.front().before, "8.589934592 GB");
  EXPECT_EQ(changes.front().after, "8.589934593 GB");
}

TEST(Loosening, OfALimitThatOtherRunsMadeWiderIsNoneUpToTwice) {
  const auto with_another_run = [](double spread) {
    return [spread](Entry& entry) {
      entry.accepted.runs.push_back("b");
      entry.medians.push_back(10);
      entry.mad_between = spread;
    };
  };
  EXPECT_THAT(edited(with_another_run(0.3)), IsEmpty());
  EXPECT_THAT(edited(with_another_run(0.5)), ElementsAre("limit", "drift limit"));
  // The name of a run alone is no run.
  EXPECT_THAT(edited([](Entry& entry) {
                entry.accepted.runs.push_back("b");
                entry.mad_between = 0.3;
              }),
              ElementsAre("limit", "drift limit"));
}

// The toy's policy with rules, and with what it says is removed.
Policy with(const std::string& rules, const std::string& removed = "") {
  std::string content = toy::policy_text;
  content.replace(content.find("\"rules\""), std::string::npos,
                  text("\"rules\": [", rules, "], \"waivers\": [], \"removed\": [", removed, "]}"));
  return toy::policy(content);
}

TEST(Loosening, IsExcusedByAnOldRemovalOfTheVerySameAlone) {
  const auto removing = [](const char* match, const char* device, const char* variant,
                           const char* metric) {
    return with("",
                text(R"({"match": ")", match, R"(", "device": ")", device, R"(", "variant": ")",
                     variant, R"(", "metric": ")", metric, R"(", "why": "the step does it now"})"));
  };
  const Policy before = removing("toy/sum/**", "host-*", "optimized", "launches");
  const auto reason = [&](const Policy& now) {
    return reason_of(&now.removals().front(), &before);
  };
  EXPECT_EQ(reason(before), "the step does it now");
  EXPECT_EQ(reason(removing("toy/**", "host-*", "optimized", "launches")), "");
  EXPECT_EQ(reason(removing("toy/sum/**", "*", "optimized", "launches")), "");
  EXPECT_EQ(reason(removing("toy/sum/**", "host-*", "reference", "launches")), "");
  EXPECT_EQ(reason(removing("toy/sum/**", "host-*", "optimized", "*")), "");
}

TEST(Loosening, IsNoneOfAGpuWhereARuleThatHalfNamedCudaDryNamesItInFull) {
  const auto bounded_on = [](const char* device) {
    return with(text(R"({"match": "toy/**", "device": ")", device,
                     R"(", "metric": "peak_bytes", "bound": {"max": 9, "source": "s"}})"));
  };
  std::vector<List> lists = {toy::list()};
  for (ListedCase& one : lists.front().cases) one.devices["cuda"] = {"peak_bytes"};
  const auto loosened_by = [&](const Policy& own, const char* before = "cuda*") {
    const MergeBase base{.policy = std::make_shared<const Policy>(bounded_on(before)),
                         .baselines = {{"devices/cuda-dry-sm_90/toy.json",
                                        Baseline{.device_class = "cuda-dry-sm_90"}}}};
    const Aliases aliases;
    const Baselines now;
    const std::map<std::string, Fingerprint> measured;
    std::vector<std::string> found;
    for (const RuleChange& row : policy_changes(base, {.policy = own,
                                                      .aliases = aliases,
                                                      .baselines = now,
                                                      .lists = lists,
                                                      .measured = measured}))
      if (row.loosens) found.push_back(row.rule);
    return found;
  };
  EXPECT_THAT(loosened_by(bounded_on("cuda-dry-*")), IsEmpty());
  EXPECT_THAT(loosened_by(bounded_on("nvidia-*")), Not(IsEmpty())) << "it held on cuda-dry";
  EXPECT_THAT(loosened_by(bounded_on("host-x86_64-v4-*"), "host-x86_64-v4"), IsEmpty())
      << "it held nowhere";
}

// No list here says how strict its oracles are.
TEST(Loosening, OfALimitIsToldOfASuiteThatIsNotBuiltUnlessAllAre) {
  const std::string place = "devices/cuda-dry-sm_90/other.json";
  Baseline before{.device_class = "cuda-dry-sm_90"};
  before.limits["other/step/n:64/f64"].value = 1e-12;
  Baseline after = before;
  after.limits["other/step/n:64/f64"].value = 1e-6;
  const MergeBase base{.baselines = {{place, before}}};
  const Policy own = toy::policy();
  const Aliases aliases;
  const Baselines now = {{place, after}};
  const std::vector<List> lists = {toy::list()};
  const std::map<std::string, Fingerprint> measured;
  ChangeSet change{
      .policy = own, .aliases = aliases, .baselines = now, .lists = lists, .measured = measured};
  const std::vector<RuleChange> rows = edited_values(base, change);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.front().rule, "limit of the error, for other/step/n:64/f64");
  EXPECT_TRUE(rows.front().loosens);
  change.complete = true;
  EXPECT_THAT(edited_values(base, change), IsEmpty()) << "its values are told to be gone";
}

TEST(BoundsAlone, HoldAMetricOfWhichNoAcceptedValueGates) {
  const auto held = [](const std::string& rules, const char* metric, const char* kind) {
    return is_bounded_alone(with(rules), toy::step_id, "host-x86_64-v4-2t", metric, kind);
  };
  const std::string most =
      R"({"match": "toy/**", "metric": "peak_bytes", "bound": {"max": 9, "source": "s"}})";
  const std::string off = R"(, {"match": "toy/**", "metric": "peak_bytes", "gate": "off"})";
  EXPECT_FALSE(held(most, "peak_bytes", "exact"));
  EXPECT_TRUE(held(most + off, "peak_bytes", "exact"));
  const std::string sum = R"({"match": "toy/**", "metric": "floor_fraction+peak_bytes",
                              "bound": {"max": 9, "source": "s"}})";
  EXPECT_TRUE(held(sum, "floor_fraction", "advisory"));
  EXPECT_FALSE(held(sum, "peak_bytes", "exact"));
  EXPECT_FALSE(held(sum, "compile_s", "advisory"));
}

}  // namespace
}  // namespace holdfast::gate
