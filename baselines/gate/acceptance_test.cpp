// SPDX-License-Identifier: Apache-2.0
#include "gate/acceptance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/decide.hpp"
#include "gate/patch.hpp"
#include "gate/test_root.hpp"

namespace holdfast::gate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

constexpr const char* speedup_key = "toy/step/n:64/f64|case|speedup";
constexpr const char* launches_key = "toy/step/n:64/f64|optimized|launches";

Policy policy() {
  return Policy::parse(Document("policy.json", toy::policy_text, Comments::allowed), "2026-11-21");
}

// What the processor sees after accepting `runs` one after the other, on as many days.
Baseline after(const std::vector<Results>& runs, const std::string& why = "") {
  std::optional<Baseline> baseline;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Results run = runs[i];
    run.run.id = text("2026-11-", 10 + i, "T12:00:00Z-", i);
    baseline = accept(run, baseline, policy(), {.why = why}).baseline;
  }
  return seen_on(toy::processor, *baseline);
}

Results with_speedup(double value) {
  Results results = toy::host();
  toy::metric(results, "case", "speedup") = toy::timed("ratio", value);
  return results;
}

Results with_launches(double value) {
  Results results = toy::dry();
  toy::metric(results, "optimized", "launches") = toy::exact(value);
  return results;
}

std::vector<std::string> reasons(const Results& results) {
  std::vector<std::string> found;
  for (const Refusal& refusal : refusals(results, toy::list(), policy(), false))
    found.push_back(refusal.why);
  return found;
}

TEST(Acceptance, AnAgreeingRunJoinsTheEntryAndKeepsItsReason) {
  const Entry entry =
      after({with_speedup(10), with_speedup(10.2), with_speedup(10.4)}).entries.at(speedup_key);
  EXPECT_THAT(entry.medians, ElementsAre(10, 10.2, 10.4));
  EXPECT_EQ(entry.value, Value(10.2));
  EXPECT_EQ(entry.anchor, 10);
  EXPECT_EQ(entry.days, 3);
  EXPECT_EQ(entry.accepted.why, "first baseline");
  EXPECT_TRUE(entry.bootstrap);
}

TEST(Acceptance, FiveRunsEndTheBootstrap) {
  const std::vector<Results> runs(5, with_speedup(10));
  EXPECT_FALSE(after(runs).entries.at(speedup_key).bootstrap);
}

// Two modes of a machine, which one run shows by halves at best.
TEST(Acceptance, SeveralRunsOfOneBuildFoundAnEntryTogether) {
  std::vector<Results> runs = {with_speedup(15), with_speedup(11), with_speedup(15),
                               with_speedup(11), with_speedup(14)};
  for (std::size_t i = 0; i < runs.size(); ++i)
    runs[i].run.id = text("2026-11-21T12:00:0", i, "Z-", i);
  const Results first = runs.front();
  runs.erase(runs.begin());
  const Baseline seen =
      seen_on(toy::processor, accept(first, std::nullopt, policy(), {.again = runs}).baseline);
  const Entry& entry = seen.entries.at(speedup_key);
  EXPECT_THAT(entry.medians, ElementsAre(15, 11, 15, 11, 14));
  EXPECT_EQ(entry.value, Value(14.));
  EXPECT_EQ(entry.anchor, 14);
  EXPECT_EQ(entry.accepted.runs.size(), 5u);
  EXPECT_GT(screening_limit(0.05, entry), 0.5);
}

TEST(Acceptance, OfSeveralRunsTheMiddleIsHeldAgainstTheEntry) {
  const std::optional<Baseline> ten = after({with_speedup(10)});
  std::vector<Results> again = {with_speedup(10.1), with_speedup(9.9)};
  for (std::size_t i = 0; i < again.size(); ++i) again[i].run.id = text("2026-11-22-", i);
  Results unlucky = with_speedup(7);
  unlucky.run.id = "2026-11-22-2";
  const Acceptable accepted = accept(unlucky, ten, policy(), {.again = again});
  EXPECT_THAT(accepted.changes, IsEmpty());
  EXPECT_THAT(seen_on(toy::processor, accepted.baseline).entries.at(speedup_key).medians,
              ElementsAre(10, 7, 10.1, 9.9));
}

TEST(Acceptance, RunsThatDifferInACountFoundNothing) {
  Results other = with_launches(5);
  other.run.id = "2026-11-22-1";
  EXPECT_THAT([&] { (void)accept(with_launches(4), std::nullopt, policy(), {.again = {other}}); },
              ThrowsMessage<Error>(HasSubstr("launches: 5, and")));
}

TEST(Acceptance, ARunThatDisagreesStartsAnew) {
  const Entry entry = after({with_speedup(10), with_speedup(20)}, "fused").entries.at(speedup_key);
  EXPECT_THAT(entry.medians, ElementsAre(20));
  EXPECT_EQ(entry.anchor, 20);
  EXPECT_EQ(entry.accepted.previous, Value(10.0));
}

TEST(Acceptance, TheSameRunChangesNothing) {
  const Baseline once = accept(toy::host(), std::nullopt, policy()).baseline;
  EXPECT_EQ(baseline_text(accept(toy::host(), once, policy(), {.why = "again"}).baseline),
            baseline_text(once));
}

TEST(Acceptance, AnEqualCountKeepsItsEntry) {
  const Entry entry = after({with_launches(4), with_launches(4)}, "why").entries.at(launches_key);
  EXPECT_THAT(entry.accepted.runs, ElementsAre(HasSubstr("2026-11-10")));
}

TEST(Acceptance, AWorseningIsMarkedAndAnImprovementIsNot) {
  const std::optional<Baseline> four = after({with_launches(4)});
  const Acceptable worse = accept(with_launches(5), four, policy());
  const Acceptable better = accept(with_launches(3), four, policy());
  ASSERT_EQ(worse.changes.size(), 1u);
  EXPECT_TRUE(worse.changes.front().worsens);
  ASSERT_EQ(better.changes.size(), 1u);
  EXPECT_FALSE(better.changes.front().worsens);
}

TEST(Acceptance, AnEntryThatGoesIsAWorsening) {
  const std::optional<Baseline> whole = after({toy::dry()});
  Results less = toy::dry();
  less.cases.pop_back();
  const Acceptable accepted = accept(less, whole, policy());
  EXPECT_FALSE(accepted.baseline.entries.contains("toy/sum/n:64/f64|optimized|launches"));
  EXPECT_TRUE(accepted.changes.back().worsens);
}

TEST(Acceptance, OnlyTheGateTierEnters) {
  Results results = toy::dry();
  results.tier = "full";
  results.cases.back().tier = "full";
  const Baseline baseline = accept(results, std::nullopt, policy()).baseline;
  EXPECT_TRUE(baseline.entries.contains(launches_key));
  EXPECT_FALSE(baseline.entries.contains("toy/sum/n:64/f64|optimized|launches"));
}

TEST(Acceptance, AdvisoryMetricsDoNotEnter) {
  Results results = toy::host();
  toy::metric(results, "optimized", "floor_fraction") = {.kind = "advisory", .value = 0.5};
  const Baseline baseline = accept(results, std::nullopt, policy()).baseline;
  EXPECT_FALSE(baseline.entries.contains("toy/step/n:64/f64|optimized|floor_fraction"));
}

TEST(Refusals, AGoodRunHasNone) {
  EXPECT_THAT(reasons(toy::dry()), IsEmpty());
  EXPECT_THAT(reasons(toy::host()), IsEmpty());
}

TEST(Refusals, NameWhatIsWrongWithTheRun) {
  Results results = toy::host();
  results.partial = true;
  results.run.sources = "/somewhere";
  results.run.custom = {"--size=384"};
  results.quality = {.valid = false, .reasons = {"the load was 9"}, .throttled = true};
  EXPECT_THAT(
      reasons(results),
      testing::AllOf(Contains(HasSubstr("filtered")), Contains(HasSubstr("/somewhere")),
                     Contains(HasSubstr("--size=384")), Contains(HasSubstr("the load was 9")),
                     Contains(HasSubstr("throttled"))));
}

TEST(Refusals, ANoisyRatioIsNotABaseline) {
  Results results = toy::host();
  toy::metric(results, "case", "speedup").mad_between = 2;
  EXPECT_THAT(reasons(results), Contains(HasSubstr("is noisy")));
}

TEST(Refusals, AListedCaseThatWasNotMeasured) {
  Results results = toy::dry();
  results.cases.pop_back();
  EXPECT_THAT(reasons(results), Contains("toy/sum/n:64/f64 is listed and was not measured"));
}

TEST(Patch, ShowsThreeLinesAroundAChange) {
  EXPECT_EQ(unified_diff("a.json", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "diff --git a/a.json b/a.json\n--- a/a.json\n+++ b/a.json\n@@ -2,7 +2,7 @@\n 2\n 3\n "
            "4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(Patch, JoinsChangesThatAreNear) {
  const std::string diff = unified_diff("a", "1\n2\n3\n4\n5\n", "one\n2\n3\n4\nfive\n");
  EXPECT_THAT(diff, HasSubstr("@@ -1,5 +1,5 @@\n-1\n+one\n 2\n 3\n 4\n-5\n+five\n"));
}

TEST(Patch, MakesANewFile) {
  EXPECT_THAT(unified_diff("a", "", "1\n2\n"),
              HasSubstr("--- /dev/null\n+++ b/a\n@@ -0,0 +1,2 @@\n+1\n+2\n"));
}

TEST(Patch, IsEmptyForEqualTexts) {
  EXPECT_EQ(unified_diff("a", "1\n", "1\n"), "");
}

}  // namespace
}  // namespace holdfast::gate
