// SPDX-License-Identifier: Apache-2.0
// This repository's own policy, baselines and lists, as a change that changes nothing: parts that
// no run here measures must not look like a loss.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gate/documents/results_root.hpp"
#include "gate/judge/merge_base.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

TEST(UnchangedTree, LoosensNothingOnAnyDeviceClass) {
  const fs::path root = HOLDFAST_BASELINES;
  const Policy policy = Policy::read(root / "policy", "2026-01-01");
  const Aliases aliases = Aliases::read(root);
  Baselines accepted, present;
  for (const auto& file : fs::recursive_directory_iterator(root / "devices")) {
    if (file.path().extension() != ".json") continue;
    Baseline baseline = read_baseline(file.path());
    const std::string place = file.path().lexically_relative(root).string();
    accepted[place] = baseline;
    aliases.rename(baseline);
    present[place] = std::move(baseline);
  }
  ASSERT_GE(accepted.size(), 20u);
  const std::vector<List> lists = lists_of_build(fs::path(GALAXY_SHEAR_BINARY).parent_path());
  const MergeBase base{.policy = std::make_shared<const Policy>(policy),
                       .aliases = aliases,
                       .baselines = std::move(accepted)};
  const std::map<std::string, Fingerprint> nobody;
  std::vector<std::string> laxer;
  for (const RuleChange& change : changes_since(base, {.policy = policy,
                                                      .aliases = aliases,
                                                      .baselines = present,
                                                      .lists = lists,
                                                      .complete = true,
                                                      .measured = nobody}))
    if (change.loosens) laxer.push_back(change.rule + ": " + change.after);
  EXPECT_THAT(laxer, testing::IsEmpty());
}

}  // namespace
}  // namespace holdfast::gate
