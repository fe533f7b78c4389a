// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <utility>

#include "base/time.hpp"
#include "gate/base/json.hpp"
#include "gate/base/printing.hpp"
#include "gate/base/written_file.hpp"
#include "gate/commands/commands.hpp"
#include "gate/commands/common_options.hpp"
#include "gate/compare/comparison.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/list.hpp"
#include "gate/documents/selftest.hpp"
#include "gate/measure/processes.hpp"
#include "gate/measure/suite_process.hpp"
#include "gate/measure/suite_run.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t default_trials = 20;
constexpr std::int64_t most_trials = 100000;

// The cases that two builds time on the device.
struct TimedCases {
  std::vector<std::string> both = {}, base_alone = {}, head_alone = {};
};

TimedCases timed_cases(const fs::path& base, const fs::path& head, const std::string& device,
                       const std::string& tier, const std::optional<std::string>& filter) {
  const auto timed = [&](const fs::path& binary) {
    std::vector<std::string> ids;
    for (const ListedCase& listed : expected_cases(listed_by(binary), device, tier, filter))
      if (listed.has(device_kind(device), "time_s")) ids.push_back(listed.id);
    std::sort(ids.begin(), ids.end());
    return ids;
  };
  const auto a = timed(base), b = timed(head);
  TimedCases cases;
  std::ranges::set_intersection(a, b, std::back_inserter(cases.both));
  std::ranges::set_difference(a, b, std::back_inserter(cases.base_alone));
  std::ranges::set_difference(b, a, std::back_inserter(cases.head_alone));
  if (cases.both.empty())
    throw Error(
        Fault::bad_input,
        text("the two builds have no timed case in common for --device=", device, " --tier=", tier,
             filter ? " --filter=" + *filter : "", "; see holdfast list"));
  return cases;
}

nlohmann::json to_json(const Shift& shift) {
  return {{"log_ratio", shift.estimate},
          {"lower", finite(shift.lower)},
          {"upper", finite(shift.upper)}};
}

nlohmann::json to_json(const Shift& shift, const std::vector<double>& units) {
  nlohmann::json made = to_json(shift);
  made["units"] = units;
  return made;
}

nlohmann::json to_json(const std::string& case_id, const Comparison& found, double tolerance) {
  nlohmann::json made = to_json(found.shift, found.units);
  made["case"] = case_id;
  made["verdict"] = name_of(of_time(found));
  made["reason"] = nullptr;
  made["clock"] = found.clock == Clock::cpu ? "cpu" : "real";
  made["log_ratio_by_other_clock"] = found.by_other_clock;
  made["others"] = found.others;
  made["disturbed"] = found.disturbed;
  made["control"] = found.control ? to_json(*found.control, found.control_units) : nullptr;
  made["parallelism"] = found.parallelism ? to_json(*found.parallelism) : nullptr;
  made["means"] = found.means ? to_json(*found.means) : nullptr;
  made["alternating"] = found.alternating;
  made["seconds"] = found.seconds;
  made["smallest_shown"] = finite(smallest_shown(found.shift, tolerance));
  return made;
}

struct Asked {
  Builds builds;
  ComparisonPlan plan;
  TimedCases cases;
};

Tone tone_of(Paired decision) {
  if (decision == Paired::regression) return Tone::bad;
  return decision == Paired::undecided ? Tone::warning : Tone::good;
}

Comparison compare_one(const Asked& asked, const std::string& case_id, Progress& progress) {
  const Comparison found =
      compare(asked.builds, case_id, asked.plan, [&](const Comparison& so_far) {
        progress.following(text(case_id, ": ", plural(so_far.units.size(), "unit"), ", ",
                                std::lround(so_far.seconds), " s"));
      });
  progress.clear();
  std::string decided = name_of(of_time(found));
  decided.resize(12, ' ');
  std::cout << toned(tone_of(of_time(found)), decided) << case_id << "  "
            << describe(found, asked.plan.decision.tolerance) << std::endl;
  return found;
}

// The chance of a false alarm, a loss or a gain, that the bounds allow for equal builds.
double allowed_alarms(const Asked& asked) {
  return 2 * asked.plan.decision.looks.alpha;
}

// Compares a build with itself: anything but PASS is a false alarm or a lack of evidence.
SelfTest self_tested(const Asked& asked, const fs::path& binary, std::size_t trials,
                     Progress& progress) {
  SelfTest test{.suite = binary.filename().string(),
                .device = asked.plan.unit.device,
                .content = provenance(binary).content,
                .tolerance = asked.plan.decision.tolerance};
  while (test.decisions.size() < trials) {
    const auto& case_id = asked.cases.both[test.decisions.size() % asked.cases.both.size()];
    const Comparison found = compare_one(asked, case_id, progress);
    test.decisions.push_back({.case_id = case_id, .verdict = name_of(of_time(found))});
  }
  const Chance rate = chance(static_cast<int>(test.alarms()), static_cast<int>(trials));
  test.alarm_rate = {
      .value = static_cast<double>(test.alarms()) / static_cast<double>(test.decisions.size()),
      .lower = rate.lower,
      .upper = rate.upper};
  test.utc = utc_now();
  return test;
}

// One of 20 decisions may alarm by chance: only a rate that is surely too high fails.
int tell(const SelfTest& test, double allowed) {
  const auto in_percent = [](double part) { return std::round(1000 * part) / 10; };
  const bool too_many = test.alarm_rate.lower > allowed;
  std::cout << "A against A: " << plural(test.alarms(), "alarm") << " in "
            << plural(test.decisions.size(), "decision") << " ("
            << in_percent(test.alarm_rate.value) << " %, 95 % interval "
            << in_percent(test.alarm_rate.lower) << " .. " << in_percent(test.alarm_rate.upper)
            << " %), " << test.undecided() << " undecided"
            << (too_many ? text("; more than the ", in_percent(allowed), " % that its bounds allow")
                         : "")
            << '\n';
  if (too_many) return exit_code(Fault::regression);
  return test.undecided() == test.decisions.size() ? exit_code(Fault::undecided) : 0;
}

nlohmann::json told_incomplete(const std::string& case_id, const std::string& reason) {
  std::cout << toned(Tone::bad, "INCOMPLETE  ") << case_id << "  " << reason << std::endl;
  return {{"case", case_id}, {"verdict", "INCOMPLETE"}, {"reason", reason}};
}

// Fails before minutes of measuring if the file cannot be written. An older file is removed.
void expect_to_write(const fs::path& file) {
  withdraw(file);
  write_file(file, "");
  withdraw(file);
}

struct Pairing {
  fs::path base, head;
};

// The two operands; in a self-test the single one twice.
Pairing pairing_of(const Options& options) {
  const bool self = options.has("selftest");
  if (options.operands().size() != (self ? 1 : 2))
    throw Error(Fault::bad_input,
                self ? "holdfast ab --selftest takes one suite binary, and runs it against itself"
                     : "holdfast ab takes two builds of one suite: holdfast ab BASE_BIN HEAD_BIN");
  Pairing pairing{.base = find_suite(options.operands().front(), binary_folder()),
                  .head = find_suite(options.operands().back(), binary_folder())};
  const std::string base = pairing.base.filename(), head = pairing.head.filename();
  if (base != head)
    throw Error(Fault::bad_input,
                text(base, " and ", head, " are different suites; compare builds of one"));
  return pairing;
}

ComparisonPlan plan_of(const Options& options) {
  if (options.has("cpu-time") && options.has("real-time"))
    throw Error(Fault::bad_input, "--cpu-time and --real-time exclude each other");
  const std::string device = options.value_or("device", "host");
  if (device_kind(device) == "cuda-dry")
    throw Error(Fault::bad_input,
                "a dry device executes nothing, so there is no time to compare; "
                "holdfast diff compares counts");
  ComparisonPlan plan{.unit = {.device = device, .alternating = options.has("alternating")}};
  plan.unit.seconds = options.positive("unit").value_or(plan.unit.seconds);
  plan.decision = {.tolerance = options.positive("tolerance").value_or(2) / 100,
                   .budget_seconds = stretched_budget(options.positive("budget").value_or(60),
                                                      stretch_of_load(load_of_keepers(device))),
                   .clock = options.has("cpu-time")    ? Clock::cpu
                            : options.has("real-time") ? Clock::real
                                                       : Clock::by_load};
  return plan;
}

std::size_t trials_of(const Options& options) {
  const std::int64_t trials = options.integer("trials").value_or(default_trials);
  if (trials < 1 || trials > most_trials)
    throw Error(Fault::bad_input, text("--trials=", trials, ": give 1 to ", most_trials));
  return static_cast<std::size_t>(trials);
}

std::string tier_of(const Options& options) {
  const std::string tier = options.value_or("tier", "gate");
  if (!is_tier(tier))
    throw Error(Fault::bad_input, text("--tier=", tier, ": the tiers are smoke, gate and full"));
  return tier;
}

// Prints each case and adds it to `told`; returns the worst exit code.
int compare_all(const Asked& asked, Progress& progress, nlohmann::json& told) {
  int code = asked.cases.base_alone.empty() ? 0 : exit_code(Fault::incomplete);
  for (const std::string& case_id : asked.cases.base_alone)
    told.push_back(told_incomplete(case_id, "only the base times it"));
  for (const std::string& case_id : asked.cases.head_alone)
    std::cout << "NEW         " << case_id << "  only the head times it" << std::endl;
  for (const std::string& case_id : asked.cases.both) {
    Comparison found;
    try {
      found = compare_one(asked, case_id, progress);
    } catch (const Error& error) {
      if (error.fault() != Fault::incomplete) throw;
      told.push_back(told_incomplete(case_id, error.what()));
      code = worse_exit_code(code, exit_code(Fault::incomplete));
      continue;  // the other cases can still be decided
    }
    told.push_back(to_json(case_id, found, asked.plan.decision.tolerance));
    if (of_time(found) == Paired::regression)
      code = worse_exit_code(code, exit_code(Fault::regression));
    if (found.decision == Paired::undecided)
      code = worse_exit_code(code, exit_code(Fault::undecided));
  }
  return code;
}

int ab_verb(const Options& options) {
  const auto out = options.value("out");
  const auto [base, head] = pairing_of(options);
  const ComparisonPlan plan = plan_of(options);
  const std::string tier = tier_of(options);
  const std::size_t trials = trials_of(options);
  TimedCases cases = timed_cases(base, head, plan.unit.device, tier, options.value("filter"));
  if (out) expect_to_write(*out);  // not before all arguments are known to be well
  catch_interruptions();
  Progress progress(base.filename().string());
  const auto lock = lock_device(plan.unit.device, progress);
  const Asked asked{.builds = Builds({base}, {head}), .plan = plan, .cases = std::move(cases)};
  if (options.has("selftest")) {
    const SelfTest test = self_tested(asked, base, trials, progress);
    if (out) write_file(*out, canonical(to_json(test)));
    return tell(test, allowed_alarms(asked));
  }
  nlohmann::json told = nlohmann::json::array();
  const int code = compare_all(asked, progress, told);
  if (out)
    write_file(*out, canonical({{"schema", "holdfast-ab/1"},
                                {"suite", base.filename().string()},
                                {"device", plan.unit.device},
                                {"tolerance", plan.decision.tolerance},
                                {"cases", told}}));
  return code;
}

}  // namespace

Command ab_command() {
  return {.name = "ab",
          .summary = "Compares two builds of a suite, timed in turn on one machine.",
          .operands = "BASE_BIN HEAD_BIN",
          .fewest_operands = 1,
          .most_operands = 2,
          .options = {{"device", "D", "host (default), cuda or cuda:N"},
                      {"tier", "T", "smoke, gate (default) or full"},
                      common::filter,
                      {"budget", "SECONDS",
                       "time for each case on a machine at rest (default 60); up to four times as "
                       "long on a busy one"},
                      common::unit,
                      {"alternating", "",
                       "one process at a time (default: where a GPU takes only one of two)"},
                      {"tolerance", "PERCENT", "a slowdown that may pass (default 2)"},
                      {"cpu-time", "", "decide by CPU time (default: where others compute)"},
                      {"real-time", "", "decide by real time, whatever others do"},
                      {"selftest", "",
                       "one build against itself: the rate of its false alarms; fails above 1 %"},
                      OptionRow{"trials", "N", "decisions (default 20)"}.beside("selftest"),
                      {"out", "FILE",
                       "write the decisions and their units there, as JSON; for a self-test the "
                       "rate"}},
          .examples =
              "  holdfast ab base/bin/cubed_sphere_swe build/release/bin/cubed_sphere_swe\n"
              "  holdfast ab ./old/my_suite ./new/my_suite --filter=rk4_step --budget=30\n"
              "  holdfast ab cubed_sphere_swe --selftest --filter='rk4_step/n:48'\n"
              "  holdfast ab ./build/bin/my_suite --selftest --tier=smoke "
              "--out=results/host-x86_64-v4-2t/my_suite.selftest.json\n",
          .run = ab_verb};
}

}  // namespace holdfast::gate
