// SPDX-License-Identifier: Apache-2.0
// How often the gate finds a slowdown of a known size, and how often it finds one where there is
// none: builds of the planted suite whose optimized variant does 0, 2, 3, 5 and 10 % more work,
// each against the build without.
//
// One long series of pairs of processes is recorded, the sizes in turns; decisions are then made
// from units drawn out of it, and some live ones by `holdfast check --confirm` itself.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <random>

#include "gate/accept/accept.hpp"
#include "gate/base/numbers.hpp"
#include "gate/base/options.hpp"
#include "gate/compare/comparison.hpp"
#include "gate/compare/confirm.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/measure/suite_process.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int sizes[] = {0, 2, 3, 5, 10};  // percent
constexpr int found_for_sure = 5;          // percent, and more, on a machine that is not too noisy
constexpr double surely = 0.9;
constexpr const char* case_id = "planted/smooth/n:2001/f64";
// Planted into the base; its content differs from that of "0", so that a loss that is not found is
// PASS and not ENV.
constexpr const char* nothing = "0.0";

struct Asked {
  fs::path planted, holdfast, policy;
  double budget_seconds = 60;
  std::int64_t units = 0, decisions = 0, live = 0;
  std::optional<double> noise = {};  // in percent: units are made up with it, and none recorded
  bool expect = false;
};

// <folder>/bin/planted with the plant in it, and its list.
fs::path plant(const fs::path& original, const fs::path& folder, const std::string& percent) {
  fs::create_directories(folder / "bin");
  const fs::path binary = folder / "bin" / original.filename();
  fs::copy_file(original, binary, fs::copy_options::overwrite_existing);
  std::ofstream(binary, std::ios::app | std::ios::binary) << "\nHOLDFAST_PLANT=slow:" << percent;
  const fs::path list = list_path(original.parent_path(), original.filename());
  fs::copy_file(list, list_path(folder / "bin", original.filename()),
                fs::copy_options::overwrite_existing);
  return binary;
}

using Series = std::map<int, std::vector<UnitValue>>;  // by size

// The sizes in turns, in an order drawn anew for each turn, so that all of them meet the machine's
// moods alike.
Series record(const Asked& asked, const fs::path& folder) {
  const fs::path base = plant(asked.planted, folder / "base", nothing);
  std::map<int, Builds> builds;
  for (const int size : sizes)
    builds.try_emplace(
        size, Builds::Build{base},
        Builds::Build{plant(asked.planted, folder / text("head", size), text(size))});
  std::mt19937_64 random(std::random_device{}());
  Progress progress("planted_slowdowns");
  Series series;
  std::vector<int> order(std::begin(sizes), std::end(sizes));
  for (std::int64_t turn = 0; turn < asked.units; ++turn) {
    progress.following(text("turn ", turn + 1, " of ", asked.units));
    std::shuffle(order.begin(), order.end(), random);
    for (const int size : order)
      series[size].push_back(Units(builds.at(size), case_id, {}).next(true));
  }
  return series;
}

// Units that differ only by noise, normal in the logarithm.
std::vector<UnitValue> make_up(int size, const Asked& asked, std::mt19937_64& random) {
  std::normal_distribution<double> noise(0, *asked.noise / 100);
  std::vector<UnitValue> units;
  for (std::int64_t unit = 0; unit < asked.units; ++unit) {
    const double value = std::log1p(size / 100.) + noise(random), control = noise(random);
    units.push_back({.real = value,
                     .cpu = value,
                     .seconds = 0.5,
                     .control = UnitValue::Control{.real = control, .cpu = control}});
  }
  return units;
}

json to_json(const UnitValue& unit) {
  json made = {{"real", unit.real},
               {"cpu", unit.cpu},
               {"seconds", unit.seconds},
               {"others", unit.others},
               {"control",
                {{"real", unit.control->real},
                 {"cpu", unit.control->cpu},
                 {"seconds", unit.control->seconds}}}};
  if (unit.means) made["means"] = {{"real", unit.means->real}, {"cpu", unit.means->cpu}};
  return made;
}

json to_json(const Series& series) {
  json made = {{"schema", "holdfast-planted/1"}, {"case", case_id}, {"sizes", json::object()}};
  for (const auto& [size, units] : series)
    for (const UnitValue& unit : units)
      made["sizes"][std::to_string(size)].push_back(to_json(unit));
  return made;
}

// Older series lack the means.
std::optional<UnitValue::Means> means_of(const json& unit) {
  if (!unit.contains("means")) return std::nullopt;
  return UnitValue::Means{.real = unit["means"].at("real"), .cpu = unit["means"].at("cpu")};
}

Series read_series(const fs::path& path) {
  const json read = json::parse(read_file(path));
  if (read.at("schema") != "holdfast-planted/1" || read.at("case") != case_id)
    throw Error(Fault::bad_input, text(path.string(), " is no series of ", case_id));
  Series series;
  for (const auto& [size, units] : read.at("sizes").items())
    for (const json& unit : units) {
      const json& control = unit.at("control");
      series[std::stoi(size)].push_back(
          {.real = unit.at("real"),
           .cpu = unit.at("cpu"),
           .seconds = unit.at("seconds"),
           .others = unit.at("others"),
           .means = means_of(unit),
           .control = UnitValue::Control{.real = control.at("real"),
                                         .cpu = control.at("cpu"),
                                         .seconds = control.at("seconds")}});
    }
  return series;
}

struct Decided {
  std::string verdict;
  double seconds = 0;
};

// A decision from whole units: drawn at random with replacement, or in a row from a random place
// on, which keeps what neighbours in time have in common.
Decided decide_from(const std::vector<UnitValue>& units, bool in_a_row, const Asked& asked,
                    std::mt19937_64& random) {
  std::uniform_int_distribution<std::size_t> draw(0, units.size() - 1);
  Sequence sequence({.budget_seconds = asked.budget_seconds});
  for (std::size_t at = draw(random); sequence.wants_unit();
       at = in_a_row ? (at + 1) % units.size() : draw(random))
    sequence.add(units[at]);
  sequence.end();
  return {name_of(sequence.found().decision), sequence.found().seconds};
}

void multiply(Entry& entry, double factor) {
  entry.value = factor * std::get<double>(entry.value);
  for (double& median : entry.medians) median *= factor;
  if (entry.anchor) *entry.anchor *= factor;
}

// Results of a build, and a baseline accepted from the base by which every check of them finds a
// suspect.
class LiveGate {
 public:
  LiveGate(const Asked& asked, const fs::path& folder, int size)
      : asked_(asked), base_(folder / "base"), head_(folder / text("head", size)) {
    const fs::path base = plant(asked.planted, base_, nothing);
    const fs::path binary = plant(asked.planted, head_, text(size));
    const fs::path policy = head_ / "baselines" / "policy";  // the other files are of other suites
    fs::create_directories(policy);
    fs::copy_file(asked.policy / "common.json", policy / "common.json",
                  fs::copy_options::overwrite_existing);
    run({"run", binary.string(), "--device=host", "--out=" + results().string()}, {0});
    for (const auto& part : fs::directory_iterator(results())) {
      Results measured = read_results(part.path() / "planted.json");
      measured.run.content = provenance(base).content;
      const Policy read = Policy::read(policy, today_utc())
                              .with(read_list(list_path(head_ / "bin", "planted")).metrics);
      Baseline baseline =
          accept(measured, std::nullopt, read, {.why = "four times as fast"}).baseline;
      for (auto& [processor, entries] : baseline.processors)
        for (auto& [key, entry] : entries)
          if (key.ends_with("|speedup")) multiply(entry, 4);
      const fs::path place =
          head_ / "baselines" / "devices" / part.path().filename() / "planted.json";
      fs::create_directories(place.parent_path());
      write_file(place, baseline_text(baseline));
    }
  }

  Decided check() const {
    const Outcome outcome =
        run({"check", results().string(), "--lists=" + (head_ / "bin").string(),
             "--baselines=" + (head_ / "baselines").string(), "--confirm=" + base_.string(),
             text("--budget=", asked_.budget_seconds)},
            {0, 1, 4});
    for (const Row& row : read_verdict(results() / "verdict.json").rows)
      if (row.metric == "speedup" && row.evidence.contains(confirmation_evidence))
        return {row.verdict, outcome.seconds};
    throw Error(Fault::incomplete,
                text("nothing was confirmed: ", outcome.output, outcome.complaints));
  }

 private:
  const Asked& asked_;
  fs::path base_, head_;
  fs::path results() const { return head_ / "results"; }
  Outcome run(std::vector<std::string> arguments, const std::vector<int>& codes) const {
    const Outcome outcome =
        run_task({.program = asked_.holdfast, .arguments = std::move(arguments)});
    if (outcome.ending != Ending::exited ||
        std::find(codes.begin(), codes.end(), outcome.code) == codes.end())
      throw Error(Fault::incomplete, text("holdfast ", describe(outcome, 0), ": ", outcome.output,
                                          outcome.complaints));
    return outcome;
  }
};

std::string in_percent(double share) {
  return text(std::round(1000 * share) / 10, " %");
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

// Expects alarms within the tolerance as rarely, and a clear loss as surely, as promised, as far as
// so many decisions tell.
void expect_promised(int size, int alarms, int trials) {
  const Chance rate = chance(alarms, trials);
  const std::string seen = text("+", size, " %: ", alarms, " alarms in ", trials, " decisions");
  if (size <= 100 * SequencePlan{}.tolerance && rate.lower > Looks{}.alpha)
    throw Error(Fault::regression, text(seen, ", where ", in_percent(Looks{}.alpha), " may be"));
  if (size >= found_for_sure && rate.upper < surely)
    throw Error(Fault::regression, text(seen, ", where ", in_percent(surely), " should be"));
}

// One line of a Markdown table.
void print_row(const std::string& how, int size, const std::vector<Decided>& decisions,
               bool expect) {
  std::map<std::string, int> counts;
  std::vector<double> seconds;
  for (const Decided& decision : decisions) {
    ++counts[decision.verdict];
    seconds.push_back(decision.seconds);
  }
  const int trials = static_cast<int>(decisions.size());
  const int alarms = counts[verdict::regression];
  const Chance rate = chance(alarms, trials);
  std::cout << "| " << how << " | +" << size << " % | " << trials << " | " << alarms << " = "
            << in_percent(static_cast<double>(alarms) / trials) << " (" << in_percent(rate.lower)
            << " .. " << in_percent(rate.upper) << ") | " << counts[verdict::pass] << " | "
            << counts[verdict::noisy] << " | "
            << counts[verdict::improved] + counts[verdict::environment] << " | "
            << std::round(10 * quantile(seconds, 0.5)) / 10 << " | "
            << std::round(10 * quantile(seconds, 0.9)) / 10 << " |" << std::endl;
  if (expect) expect_promised(size, alarms, trials);
}

void print_heading(const Series& series) {
  std::vector<double> others, seconds;
  for (const auto& [size, units] : series)
    for (const UnitValue& unit : units) {
      others.push_back(unit.others);
      seconds.push_back(unit.seconds);
    }
  if (!others.empty())
    std::cout << "units of " << std::round(100 * median(seconds)) / 100 << " s; others had "
              << in_percent(median(others)) << " of the machine (median)\n";
  std::cout << "\n| decided | planted | decisions | alarms (95 % interval) | PASS | NOISY | other |"
               " seconds, median | 90 % |\n|---|---|---|---|---|---|---|---|---|\n";
}

int run(const Options& options) {
  const auto path = [&](std::string_view name) {
    const auto given = options.value(name);
    if (!given) throw Error(Fault::bad_input, text("planted_slowdowns needs --", name));
    return fs::absolute(*given);
  };
  Asked asked{.planted = path("planted"), .holdfast = path("holdfast"), .policy = path("policy")};
  asked.budget_seconds = options.positive("budget").value_or(asked.budget_seconds);
  asked.units = options.integer("units").value_or(300);
  asked.decisions = options.integer("decisions").value_or(1000);
  asked.live = options.integer("live").value_or(10);
  asked.noise = options.positive("noise");
  asked.expect = options.has("expect");
  catch_interruptions();
  const TemporaryFolder folder("planted-slowdowns");

  Series series;
  if (const auto from = options.value("from"))
    series = read_series(*from);
  else if (asked.units > 0 && !asked.noise)
    series = record(asked, folder.path());
  if (const auto out = options.value("out")) write_file(*out, canonical(to_json(series)));
  print_heading(series);
  std::mt19937_64 random(1);  // the same series gives the same table
  for (const bool in_a_row : {false, true})
    for (const auto& [size, units] : series) {
      std::vector<Decided> decisions;
      for (std::int64_t i = 0; i < asked.decisions; ++i)
        decisions.push_back(decide_from(units, in_a_row, asked, random));
      if (!decisions.empty())
        print_row(in_a_row ? "from units in a row" : "from units drawn", size, decisions,
                  asked.expect);
    }
  for (const int size : sizes) {
    if (!asked.noise) break;
    std::vector<Decided> decisions;
    for (std::int64_t i = 0; i < asked.decisions; ++i)
      decisions.push_back(decide_from(make_up(size, asked, random), true, asked, random));
    print_row("from units made up", size, decisions, asked.expect);
  }
  for (const int size : sizes) {
    if (asked.live == 0) break;
    const LiveGate gate(asked, folder.path() / text("live", size), size);
    std::vector<Decided> decisions;
    for (std::int64_t i = 0; i < asked.live; ++i) decisions.push_back(gate.check());
    print_row("live", size, decisions, asked.expect);
  }
  return 0;
}

const Command command = {
    .name = "planted_slowdowns",
    .summary = "Prints how often the gate finds planted slowdowns, and how often it finds none.",
    .operands = "",
    .options = {{"planted", "BINARY", "the planted suite, with its list beside it"},
                {"holdfast", "BINARY", "the gate"},
                {"policy", "DIR", "whose kinds and metrics hold"},
                {"units", "N", "pairs of processes recorded of each size (default 300)"},
                {"decisions", "N", "made of each size from what was recorded (default 1000)"},
                {"live", "N", "made of each size by holdfast check --confirm (default 10)"},
                {"budget", "SECONDS", "of a decision (default 60)"},
                {"noise", "PERCENT",
                 "make the units of each decision up with such a spread instead of recording any"},
                {"expect", "",
                 "exit 1 unless the tolerance and less raise an alarm in 1 of 200, and 5 and 10 % "
                 "in 9 of 10"},
                {"out", "FILE", "keep the recorded series"},
                {"from", "FILE", "take a series that was kept"}},
    .run = run};

}  // namespace
}  // namespace holdfast::gate

int main(int argc, char** argv) {
  using namespace holdfast::gate;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (!arguments.empty() && arguments.front() == "--help") {
      std::cout << command.usage();
      return 0;
    }
    return command.run(command.parse(arguments));
  } catch (const Interrupted& interrupted) {
    return 128 + interrupted.signal;
  } catch (const Error& error) {
    std::cerr << "planted_slowdowns: " << error.what() << "\n";
    return exit_code(error.fault());
  } catch (const std::exception& error) {
    std::cerr << "planted_slowdowns: " << error.what() << "\n";
    return exit_code(Fault::bad_input);
  }
}
