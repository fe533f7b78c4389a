// SPDX-License-Identifier: Apache-2.0
// For tests: the commands that write what lasts, each where an older one has written before; to be
// killed or failed at any moment.
#pragma once

#include <cstdlib>
#include <optional>

#include "gate/documents/results_root.hpp"
#include "gate/history/append.hpp"
#include "gate/testing/fake_build.hpp"
#include "gate/testing/gate_command.hpp"
#include "gate/testing/traced_command.hpp"

namespace holdfast::gate::toy {

class LastingCommands : public GateCommand {
 protected:
  // A store as its files and as what a reader tells of it.
  struct Seen {
    Files files;
    std::string told;
  };
  // `command` changes the store `folder` from `before` to `after`, and `reader` tells what it is.
  struct Change {
    std::filesystem::path folder;
    std::vector<std::string> command;
    std::vector<std::string> reader;
    Seen before = {};
    Seen after = {};
  };
  // `command` ends with `code` and leaves its answer in the place of an older one, which said that
  // all was well.
  struct Answer {
    std::filesystem::path folder;
    std::filesystem::path place;
    std::vector<std::string> command;
    int code = 0;
    Files before = {};

    bool is_older(const std::filesystem::path& file) const {
      return std::filesystem::exists(file) && read_file(file) == before.at(file);
    }
    bool older_stands() const { return is_older(place); }
  };

  // What a command leaves that is killed, or told that nothing can be removed, goes with the test's
  // folder.
  void SetUp() override {
    GateCommand::SetUp();
    std::filesystem::create_directories(temporary_);
    if (const char* set = std::getenv("TMPDIR")) before_ = set;
    ::setenv("TMPDIR", temporary_.c_str(), 1);
  }
  void TearDown() override {
    if (before_)
      ::setenv("TMPDIR", before_->c_str(), 1);
    else
      ::unsetenv("TMPDIR");
  }

  Seen look(const std::filesystem::path& folder, const std::vector<std::string>& reader) {
    EXPECT_EQ(holdfast(reader), 0) << complaints_;
    return {without_unfinished(files_below(folder)), output_};
  }

  Change an_accept() {
    store(dry());
    accepted(host());
    for (Results now : {dry(), host()}) {
      now.run.id = "2026-11-22T12:00:00Z-0001";
      metric(now, "optimized", "peak_bytes") = exact(17);
      store(now);
    }
    const std::string place = "--baselines=" + baselines_.string();
    return {.folder = baselines_,
            .command = {"baseline", "accept", results_.string(), place,
                        "--lists=" + lists_.string(), "--why=fewer bytes"},
            .reader = {"baseline", "show", place}};
  }

  Change a_prune() {
    store(dry());
    accepted(host());
    List shorter = list();
    shorter.cases.pop_back();
    write_file(lists_ / "toy.list.json", canonical(to_json(shorter)));
    const std::string place = "--baselines=" + baselines_.string();
    return {.folder = baselines_,
            .command = {"baseline", "prune", "--yes", place, "--lists=" + lists_.string()},
            .reader = {"baseline", "show", place}};
  }

  Change an_append() {
    const std::filesystem::path history = folder_.path() / "history";
    for (const Results& results : {dry(), host()}) store(results);
    append_history(results_, history);
    for (Results now : {dry(), host()}) {
      now.run.utc = "2026-11-22T12:00:00Z";
      now.run.content = "sha256:c1";
      store(now);
    }
    const std::string place = "--store=" + history.string();
    return {.folder = history,
            .command = {"history", "append", results_.string(), place},
            .reader = {"trend", place, "--json"}};
  }

  Answer a_check() {
    accepted(dry());
    EXPECT_EQ(check(), 0) << output_;
    store(dry(), "optimized", "launches", exact(5));
    return answer({.folder = results_,
                   .place = results_ / "verdict.json",
                   .command = joined({"check", results_.string()}, stores()),
                   .code = 1});
  }

  // The older profile is of a case whose device had another name.
  Answer a_profile() {
    const std::filesystem::path out = folder_.path() / "profile";
    const Answer made{.folder = out,
                      .place = out / profile_name("fake_suite/add/n:8/f64", "optimized"),
                      .command = {"profile", FAKE_SUITE_BINARY, "add/", "--device=host",
                                  "--out=" + out.string()}};
    EXPECT_EQ(holdfast(made.command), 0) << complaints_;
    spoil(made.place, "\"fake\"", "\"older\"");
    return answer(made);
  }

  Answer an_ab() {
    const std::filesystem::path out = folder_.path() / "ab" / "ab.json";
    std::filesystem::create_directories(out.parent_path());
    const std::string base = fake_build(folder_.path() / "base", 1e-3).string();
    const auto against = [&](const std::string& head) {
      return std::vector<std::string>{
          "ab", base, head, "--filter=add", "--unit=0.001", "--real-time", "--out=" + out.string()};
    };
    EXPECT_EQ(holdfast(against(fake_build(folder_.path() / "same", 1e-3).string())), 0)
        << complaints_;
    return answer({.folder = out.parent_path(),
                   .place = out,
                   .command = against(fake_build(folder_.path() / "head", 1.1e-3).string()),
                   .code = 1});
  }

 private:
  const std::filesystem::path temporary_ = folder_.path() / "temporary";
  std::optional<std::string> before_ = {};

  static Answer answer(Answer made) {
    made.before = files_below(made.folder);
    EXPECT_TRUE(made.before.contains(made.place)) << "nothing older stands in " << made.place;
    return made;
  }
};

}  // namespace holdfast::gate::toy
