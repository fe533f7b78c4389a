// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "gate/base/process.hpp"
#include "gate/base/written_file.hpp"
#include "gate/commands/commands.hpp"
#include "gate/commands/common_options.hpp"
#include "gate/commands/run/run_suite.hpp"
#include "gate/documents/beside.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/measured.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/results_root.hpp"
#include "gate/measure/instruction_counts.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t most_timed_processes = 8;  // of a ratio that enough_processes do not decide
static_assert(2 * most_timed_processes == most_unasked_processes);
constexpr std::int64_t counted_processes = 2;  // where nothing is timed
constexpr std::int64_t timed_budget_seconds = 45, bent_budget_seconds = 120;
constexpr double host_limit = 0.05, gpu_limit = 0.03;  // of a ratio
constexpr std::int64_t dry_processes = 1;              // what a dry run says repeats exactly
constexpr std::int64_t run_timeout_seconds = 300;

std::int64_t at_least_one(const Options& options, std::string_view name, std::int64_t otherwise) {
  const std::int64_t value = options.integer(name).value_or(otherwise);
  if (value < 1) throw Error(Fault::bad_input, text("--", name, "=", value, ": give at least 1"));
  return value;
}

void plan_processes(const Options& options, Plan& plan) {
  const bool dry = device_kind(plan.device) == "cuda-dry";
  const std::int64_t processes =
      at_least_one(options, "processes", dry ? dry_processes : enough_processes);
  // Who asks for a number of processes has as many of each case.
  const bool asked = dry || options.has("processes");
  plan.effort = {.fewest = processes,
                 .most = asked ? processes : most_timed_processes,
                 .most_if_promising = asked ? processes : 2 * most_timed_processes,
                 .counted = asked ? processes : counted_processes,
                 .limit = std::log1p(device_kind(plan.device) == "cuda" ? gpu_limit : host_limit)};
  const auto budget = [&](std::int64_t otherwise) -> std::optional<double> {
    if (const auto given = options.integer("budget")) return static_cast<double>(*given);
    return asked ? std::nullopt : std::optional(static_cast<double>(otherwise));
  };
  plan.budget_seconds = budget(timed_budget_seconds);
  plan.bent_budget_seconds = budget(bent_budget_seconds);
  // Fewer decide nothing, and who named no seconds wants a decision.
  if (!options.has("budget")) plan.unbudgeted_processes = processes;
}

void plan_counting(const Options& options, Plan& plan) {
  if (options.has("count-instructions") && options.has("count-instructions-if-possible"))
    throw Error(Fault::bad_input,
                "--count-instructions fails where --count-instructions-if-possible goes on; give "
                "one of them");
  for (const std::string name : {"count-instructions", "count-instructions-if-possible"}) {
    if (!options.has(name) || plan.valgrind) continue;
    if (plan.device != "host")
      throw Error(Fault::bad_input,
                  text("--", name, " counts what the host executes, and --device=", plan.device,
                       " is another; its launches and bytes are counted always"));
    try {
      plan.valgrind = find_valgrind("--" + name);
    } catch (const Error& error) {
      if (name == "count-instructions") throw;
      plan.uncounted = error.what();
    }
  }
}

// What the plan says itself: handed on, it would change the list that the results are held against.
void refuse_own(const std::string& operand) {
  for (const std::string option : {"--device", "--tier", "--filter"})
    if (operand == option || operand.starts_with(option + "="))
      throw Error(Fault::bad_input,
                  text(option, " behind -- would narrow what is expected; give it before --"));
}

// The suites among the operands; the others are the plan's.
std::vector<fs::path> plan_suites(const Options& options, const fs::path& folder, Plan& plan) {
  std::vector<fs::path> suites;
  // An operand with a dash can only stand behind "--": from there on it is the suite's own.
  for (const std::string& operand : options.operands()) {
    refuse_own(operand);
    if (operand.starts_with('-') || !plan.custom.empty())
      plan.custom.push_back(operand);
    else if (const fs::path suite = find_suite(operand, folder);
             std::ranges::find(suites, suite) == suites.end())
      suites.push_back(suite);
    else
      throw Error(Fault::bad_input, text("the suite ", operand, " is named twice; name it once"));
  }
  if (suites.empty())
    throw Error(Fault::bad_input, "holdfast run needs a suite; see holdfast list");
  return suites;
}

int run_suites(const Options& options) {
  Plan plan{.device = options.value_or("device", ""),
            .tier = options.value_or("tier", "gate"),
            .filter = options.value("filter"),
            .resume = options.has("resume"),
            .out = options.value_or("out", ""),
            .profile = options.has("profile")};
  if (plan.device.empty())
    throw Error(Fault::bad_input,
                "holdfast run needs --device=D: host, cuda, or cuda-dry:sm_90, which needs no GPU");
  if (plan.out.empty())
    throw Error(Fault::bad_input,
                "holdfast run needs --out=DIR, the folder that receives the results");
  if (!is_tier(plan.tier))
    throw Error(Fault::bad_input,
                text("--tier=", plan.tier, ": the tiers are smoke, gate and full"));
  plan_processes(options, plan);
  plan.timeout_seconds = static_cast<double>(at_least_one(options, "timeout", run_timeout_seconds));
  const fs::path folder = options.value_or("bin-dir", binary_folder().string());
  const std::vector<fs::path> suites = plan_suites(options, folder, plan);
  if (const auto build = options.value("beside")) {
    plan.beside = base_folder("beside", *build, folder);
    plan.aliases = Aliases::read(options.value_or("baselines", "baselines"));
  }
  plan_counting(options, plan);
  // Measuring takes minutes; that the results can be kept is made sure of first.
  make_folder(plan.out);
  refuse_links(plan.out);
  catch_interruptions();
  for (const fs::path& suite : suites) run_suite(suite, plan);
  return 0;
}

}  // namespace

Command run_command() {
  return {
      .name = "run",
      .summary = "Runs suites in fresh processes and writes one merged result file for each.",
      .operands = "SUITE... [-- the suite's own options]",
      .fewest_operands = 1,
      .most_operands = 1000,
      .options = {{"device", "D", "host, cuda, cuda:N or cuda-dry:sm_NN"},
                  {"tier", "T", "smoke, gate (default) or full"},
                  common::filter,
                  {"processes", "N",
                   "fresh processes of each case (default 5, and more for ratios that these do "
                   "not decide; 1 on cuda-dry)"},
                  {"beside", "BUILD",
                   "also run the same suite of that build, in turn; its results go to <device "
                   "class>/base/"},
                  OptionRow{"baselines", "DIR",
                            "where aliases.json is, for cases that were renamed since that build "
                            "(default: baselines)"}
                      .beside("beside"),
                  {"budget", "SECONDS",
                   "start no process of a suite after that time, as on a machine at rest (default: "
                   "45 for processes beyond the fifth, 120 for cases that other work disturbed; no "
                   "limit with --processes)"},
                  {"timeout", "SECONDS",
                   "limit of a case (default 300) until a run has timed it; then ten times as long "
                   "as it took, and at least 60"},
                  {"resume", "", "continue an interrupted run from what it left in --out"},
                  {"profile", "",
                   "then profile each case in one more process, into <device "
                   "class>/profiles/<suite>/"},
                  {"count-instructions", "",
                   "on host: count a step's instructions and estimate its cycles too, in "
                   "valgrind's callgrind"},
                  {"count-instructions-if-possible", "",
                   "the same; where valgrind is missing the results say so"},
                  common::bin_dir,
                  {"out", "DIR", "receives <device class>/<suite>.json and <suite>.list.json"}},
      .examples =
          "  holdfast run cubed_sphere_swe --device=cuda-dry:sm_90 --profile --out=results\n"
          "  holdfast run cubed_sphere_swe --device=host --count-instructions --out=results\n"
          "  holdfast run cubed_sphere_swe --device=host --beside=../base/build/release "
          "--out=results\n"
          "  holdfast run cubed_sphere_swe --device=host --filter='rk4_step/n:48' --out=results\n",
      .run = run_suites};
}

}  // namespace holdfast::gate
