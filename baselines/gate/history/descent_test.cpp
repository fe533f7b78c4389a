// SPDX-License-Identifier: Apache-2.0
// Runs of no known branch: the parents of their commits tell which of them continue which.
#include <gmock/gmock.h>

#include "gate/base/process.hpp"
#include "gate/history/append.hpp"
#include "gate/history/series.hpp"
#include "gate/history/trend_lines.hpp"

namespace holdfast::gate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

struct Measured {
  std::string commit;
  std::optional<std::string> parent = {};
  std::optional<std::string> branch = {};
  double launches = 4;
};

class Descent : public testing::Test {
 protected:
  TemporaryFolder folder_{"descent-test"};
  std::filesystem::path store_ = folder_.path() / "store";

  // One run of each commit, in this order.
  void append(const std::vector<Measured>& commits) {
    Store opened(store_, Store::Use::writing);
    HistoryWriter writer(opened);
    const HistorySeries series{"toy/step/f64", "optimized", "launches"};
    for (std::size_t i = 0; i < commits.size(); ++i) {
      const Measured& one = commits[i];
      HistoryRun run{.suite = "toy",
                     .utc = text("2026-11-21T12:00:", i < 10 ? "0" : "", i, 'Z'),
                     .commit = {.name = one.commit,
                                .order = writer.order_of(one.commit),
                                .branch = one.branch,
                                .parent = one.parent}};
      run.env["fingerprint"] = "f";
      run.points.push_back({.series = &series, .value = {.value = one.launches}});
      writer.add("host", run, {});
    }
    writer.publish();
  }

  // Commits that stand aside, each with the first of its line.
  std::vector<std::pair<std::string, std::string>> aside() const {
    std::vector<std::pair<std::string, std::string>> found;
    for (const HistoryLine& line : read_history(store_))
      if (!line.aside.text().empty()) found.emplace_back(line.commit, line.aside);
    return found;
  }
};

TEST_F(Descent, OfTwoChildrenTheOneWithFewerDescendantsStandsAsideWithThem) {
  append({{"a"}, {"x", "a"}, {"b", "a"}, {"y", "x"}, {"c", "b"}, {"d", "c"}});
  EXPECT_THAT(aside(), ElementsAre(Pair("x", "x"), Pair("y", "x")));
}

TEST_F(Descent, OfTwoChildrenAlikeTheFirstGoesOn) {
  append({{"a"}, {"b", "a"}, {"x", "a"}});
  EXPECT_THAT(aside(), ElementsAre(Pair("x", "x")));
}

TEST_F(Descent, AChildOfAKnownBranchGoesOn) {
  append({{"a", {}, "main"}, {"x", "a"}, {"y", "x"}, {"b", "a", "main"}});
  EXPECT_THAT(aside(), ElementsAre(Pair("x", "x"), Pair("y", "x")));
}

TEST_F(Descent, TheirParentNeedNotBeInTheStore) {
  append({{"a"}, {"x", "w"}, {"b", "v"}, {"y", "w"}});
  EXPECT_THAT(aside(), ElementsAre(Pair("y", "y")));
}

TEST_F(Descent, ATreeThatWasNotCommittedGoesOnWithItsCommit) {
  append({{"a"}, {"sha256:c0", "a"}, {"sha256:c1", "a"}, {"b", "a"}});
  EXPECT_THAT(aside(), IsEmpty());
}

TEST_F(Descent, ALineAsideChangesNoLevelOfTheOther) {
  std::vector<Measured> commits = {{"c0"}};
  for (int i = 1; i < 20; ++i) {
    commits.push_back({text('c', i), text('c', i - 1)});
    if (i > 5 && i < 12) commits.push_back({text('x', i), text(i == 6 ? 'c' : 'x', i - 1), {}, 9});
  }
  append(commits);
  const HistoryLines lines = read_history(store_);
  EXPECT_THAT(find_trends(lines, {}).at(0).changes, IsEmpty());
}

}  // namespace
}  // namespace holdfast::gate
