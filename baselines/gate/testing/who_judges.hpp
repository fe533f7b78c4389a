// SPDX-License-Identifier: Apache-2.0
// A change of a repository that `holdfast check --baseline-ref` judges: the toy, accepted and
// committed, and the ways in which a change edits what judges it.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "gate/testing/gate_command.hpp"

namespace holdfast::gate {

class WhoJudges : public GateCommand {
 protected:
  static constexpr const char* launches = "toy/step/n:64/f64|optimized|launches";
  static constexpr const char* exact_kind = R"("exact": {"gate": "block", "tolerance": 0)";
  static constexpr const char* no_rules_yet = R"("rules": [)";
  static constexpr const char* no_waivers = R"("waivers": [])";

  void SetUp() override {
    GateCommand::SetUp();
    if (begun_) {
      constexpr auto how = std::filesystem::copy_options::recursive |
                           std::filesystem::copy_options::overwrite_existing;
      std::filesystem::copy(begun_->path(), folder_.path(), how);
      return;
    }
    accepted(toy::dry());
    begin();
    ASSERT_FALSE(HasFailure());
    begun_ = std::make_unique<TemporaryFolder>("who-judges-test");
    std::filesystem::copy(folder_.path(), begun_->path(), std::filesystem::copy_options::recursive);
  }
  static void TearDownTestSuite() { begun_.reset(); }

  // What is there is the state that the change starts from.
  void begin() {
    if (!std::filesystem::exists(folder_.path() / ".git")) git({"init", "--quiet"});
    git({"add", "--all", "baselines"});
    git({"commit", "--quiet", "--allow-empty", "--message=base"});
  }

  int judge(const std::vector<std::string>& more = {}) {
    std::vector<std::string> all = {"--baseline-ref=HEAD"};
    all.insert(all.end(), more.begin(), more.end());
    return check(all);
  }

  void one_more_launch(const std::string& compiler = *toy::dry().env.compiler) {
    Results now = toy::dry();
    now.env.compiler = compiler;
    toy::metric(now, "optimized", "launches") = toy::exact(5);
    store(now);
  }

  template <class Edit>
  void edit(const Results& of, const Edit& change) {
    Baseline edited = read_baseline(baseline(of));
    change(edited);
    write_file(baseline(of), baseline_text(edited));
  }
  template <class Edit>
  void edit(const Edit& change) {
    edit(toy::dry(), change);
  }

  void policy(const std::string& from, const std::string& to) { spoil(common_policy_, from, to); }

  // What was accepted on the dry device, out of the way of git and behind a link.
  void move_behind_link(const std::filesystem::path& place) {
    const std::filesystem::path there = baselines_ / "stored";
    std::filesystem::rename(place, there);
    std::filesystem::create_symlink(there, place);
  }

  // The toy as a second suite under the name "other": its list, its results, its baseline.
  void add_another_suite(Results results = toy::dry()) {
    const auto renamed = [](std::string content) {
      for (const auto& [from, to] :
           {std::pair("toy/", "other/"), std::pair("\"toy\"", "\"other\"")})
        for (std::size_t at = content.find(from); at != content.npos; at = content.find(from, at))
          content.replace(at, std::strlen(from), to);
      return content;
    };
    const std::string listed = renamed(toy::list_text());
    results.list_hash = sha256(listed);
    const std::filesystem::path folder = result_path(results).parent_path();
    write_file(lists_ / "other.list.json", listed);
    write_file(folder / "other.list.json", listed);
    write_file(folder / "other.json", renamed(canonical(to_json(results))));
    write_file(baseline(results).parent_path() / "other.json",
               renamed(read_file(baseline(results))));
    begin();
  }

 private:
  // What each test of the suite starts from, as the first of them has made it.
  static inline std::unique_ptr<TemporaryFolder> begun_ = {};
};

}  // namespace holdfast::gate
