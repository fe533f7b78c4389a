// SPDX-License-Identifier: Apache-2.0
// Commands that come to a store at one moment: one changes it after the other, and nothing that any
// of them has read is out of date when it writes.
#include <gmock/gmock.h>

#include <latch>
#include <optional>
#include <set>
#include <thread>

#include "gate/base/store.hpp"
#include "gate/history/series.hpp"
#include "gate/testing/gate_command.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

class AtOnce : public GateCommand {};

// Real commands that all come while this test has the store to itself; it lets go when each has
// said that it waits.
void start_all_at_once(const fs::path& folder,
                       const std::vector<std::vector<std::string>>& commands) {
  auto store = std::make_optional<Store>(folder, Store::Use::writing);
  std::latch waiting(static_cast<std::ptrdiff_t>(commands.size()));
  std::vector<std::jthread> running;
  for (const std::vector<std::string>& arguments : commands)
    running.emplace_back([&waiting, arguments] {
      bool counted = false;
      const auto count = [&] {
        if (!std::exchange(counted, true)) waiting.count_down();
      };
      const Outcome outcome =
          run_task({.program = HOLDFAST_BINARY,
                    .arguments = arguments,
                    .timeout_seconds = 60,
                    .on_line = [&](std::string_view line) {
                      EXPECT_THAT(line, HasSubstr("waiting until another command is done with"));
                      count();
                    }});
      EXPECT_TRUE(counted) << "it did not wait";
      EXPECT_EQ(outcome.code, 0) << outcome.complaints;
      count();  // so that a command that fails does not hold up this test
    });
  waiting.wait();
  store.reset();
}

constexpr int commands_at_once = 4;

TEST_F(AtOnce, AcceptsOfOneMomentAllCount) {
  accepted(toy::host());
  std::vector<std::vector<std::string>> commands;
  for (int run = 0; run < commands_at_once; ++run) {
    Results now = toy::host();
    now.run.id = text("2026-11-22T12:00:00Z-000", run);
    store(now);
    const fs::path moved = folder_.path() / text("results_", run);
    fs::rename(results_, moved);
    commands.push_back({"baseline", "accept", moved.string(), "--baselines=" + baselines_.string(),
                        "--lists=" + lists_.string()});
  }
  start_all_at_once(baselines_, commands);
  const Entry entry = seen_on(toy::processor, read_baseline(baseline(toy::host())))
                          .entries.at("toy/step/n:64/f64|case|speedup");
  EXPECT_THAT(entry.accepted.runs, SizeIs(1 + commands_at_once));
}

TEST_F(AtOnce, AppendsOfOneMomentAllCount) {
  const fs::path history = folder_.path() / "history";
  std::vector<std::vector<std::string>> commands;
  for (int run = 0; run < commands_at_once; ++run) {
    Results now = toy::host();
    now.run.utc = text("2026-11-22T12:00:0", run, "Z");
    now.run.content = text("sha256:c", run);
    store(now);
    const fs::path moved = folder_.path() / text("results_", run);
    fs::rename(results_, moved);
    commands.push_back({"history", "append", moved.string(), "--store=" + history.string()});
  }
  start_all_at_once(history, commands);
  std::set<std::int64_t> orders;
  for (const HistoryLine& line : read_history(history)) orders.insert(line.order);
  EXPECT_THAT(orders, ElementsAre(1, 2, 3, 4)) << "each run is of another commit";
}

TEST_F(AtOnce, APruneWaitsForAnAcceptThatHasBegun) {
  accepted(toy::dry());
  List list = toy::list();
  for (ListedCase& listed : list.cases) listed.devices.erase("cuda-dry");
  write_file(lists_ / "toy.list.json", canonical(to_json(list)));
  start_all_at_once(baselines_,
                    {{"baseline", "prune", "--yes", "--baselines=" + baselines_.string(),
                      "--lists=" + lists_.string()}});
  EXPECT_FALSE(fs::exists(baseline(toy::dry())));
}

TEST_F(AtOnce, ACheckWaitsForAnAcceptThatHasBegun) {
  accepted(toy::dry());
  start_all_at_once(baselines_, {{"check", results_.string(), "--baselines=" + baselines_.string(),
                                  "--lists=" + lists_.string()}});
}

}  // namespace
}  // namespace holdfast::gate
