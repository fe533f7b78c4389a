// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <random>
#include <set>
#include <utility>

#include "base/machine.hpp"
#include "base/time.hpp"
#include "gate/base/numbers.hpp"
#include "gate/base/process.hpp"
#include "gate/base/written_file.hpp"
#include "gate/commands/commands.hpp"
#include "gate/compare/comparison.hpp"
#include "gate/documents/beside.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/documents.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/results_root.hpp"
#include "gate/documents/selftest.hpp"
#include "gate/documents/unrequested.hpp"
#include "gate/measure/instruction_counts.hpp"
#include "gate/measure/machine_load.hpp"
#include "gate/measure/processes.hpp"
#include "gate/measure/profile_process.hpp"
#include "gate/measure/suite_process.hpp"
#include "gate/measure/suite_run.hpp"
#include "gate/measure/unfinished_run.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t host_processes = 5;
constexpr std::int64_t most_host_processes = 8;  // of a ratio that five do not decide
static_assert(2 * most_host_processes == most_unasked_processes);
constexpr std::int64_t counted_processes = 2;  // where nothing is timed
constexpr std::int64_t host_budget_seconds = 120, no_budget = 0;
constexpr double host_limit = 0.05, gpu_limit = 0.03;  // of a ratio
constexpr std::int64_t dry_processes = 1;              // what a dry run says repeats exactly
constexpr std::int64_t run_timeout_seconds = 300;
constexpr double slowness_of_valgrind = 10;  // of a whole suite, whose steps alone are counted
constexpr double longest_counting_seconds = 300;

struct Plan {
  std::string device;
  std::string tier;
  std::optional<std::string> filter = {};
  Effort effort = {};
  double budget_seconds = 0;
  std::int64_t whatever_it_takes = 1;  // processes that the budget never denies
  double timeout_seconds = 0;          // of a case that no run has timed
  bool resume = false;
  fs::path out = {};
  bool profile = false;                   // one more process, which profiles
  std::optional<fs::path> valgrind = {};  // one more process, which counts instructions
  std::string uncounted = not_asked_for;  // where there is no valgrind
  std::vector<std::string> custom = {};   // handed on to the suite
  std::optional<fs::path> beside = {};    // the folder of another build's suites
};

// What each process of the run is told besides its device: which cases, with which options.
std::vector<std::string> tier_and_custom(const Plan& plan) {
  std::vector<std::string> arguments = {"--tier=" + plan.tier};
  arguments.insert(arguments.end(), plan.custom.begin(), plan.custom.end());
  return arguments;
}
std::vector<std::string> chosen(const Plan& plan) {
  std::vector<std::string> arguments = tier_and_custom(plan);
  if (plan.filter) arguments.push_back("--filter=" + *plan.filter);
  return arguments;
}

// Where no process came far enough to say what it ran on.
Environment assumed_environment(const std::string& device) {
  std::string device_class = device == "host" ? host_class() : device;
  std::replace(device_class.begin(), device_class.end(), ':', '-');
  return {.device_class = device_class,
          .device_name = device,
          .processor = processor().id,
          .fingerprint = "unknown"};
}

Run describe_run(const fs::path& binary, const Plan& plan) {
  const Provenance built = provenance(binary);
  const std::string utc = utc_now();
  Run run{.id = run_id(utc),
          .utc = utc,
          .content = built.content,
          .git_sha = built.git_sha,
          .git_dirty = built.dirty,
          .processes = plan.effort.fewest};
  if (const char* sources = std::getenv("HOLDFAST_SOURCES"); sources && *sources) {
    run.sources = sources;
    run.git_dirty = true;
  }
  return run;
}

// Prints the cases that are not well and where the file is.
void summarise(const Results& results, const fs::path& file) {
  std::map<std::string, std::size_t> counts;
  for (const CaseResult& result : results.cases) ++counts[result.status];
  std::string line;
  for (const auto& [status, count] : counts)
    line += text(line.empty() ? "" : ", ", count, ' ', status);
  for (const CaseResult& result : results.cases)
    if (result.status == "failed")
      std::cout << "failed   " << result.id << ": " << result.reason.value_or("no reason given")
                << '\n';
  for (const std::string status : {"crashed", "timeout", "missing"}) {
    const auto first =
        std::find_if(results.cases.begin(), results.cases.end(),
                     [&](const CaseResult& result) { return result.status == status; });
    if (first != results.cases.end())
      std::cout << status << std::string(9 - status.size(), ' ') << plural(counts[status], "case")
                << " of " << results.suite << ": " << first->reason.value_or("no reason given")
                << '\n';
  }
  std::cout << file.string() << ": " << line << '\n';
}

// One more process, apart from the timed ones, inside valgrind. Counts that it does not bring are
// missing from the results, which the gate then finds incomplete.
void count_suite(const fs::path& binary, const Plan& plan, const fs::path& answers,
                 Results& results, Progress& progress) {
  const Counting counting{.valgrind = *plan.valgrind,
                          .binary = binary,
                          .arguments = tier_and_custom(plan),
                          .answers = answers,
                          .timeout_seconds = std::min(slowness_of_valgrind * plan.timeout_seconds,
                                                      longest_counting_seconds),
                          .on_line = [&](std::string_view line) { progress.following(line); }};
  progress.following(text(results.suite, ": counting instructions ..."));
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& complaint : count_instructions(counting, results))
    progress.warn("warning: not counted: ", complaint);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  progress.say("counted instructions in ", std::round(spent.count() * 10) / 10, " s");
}

constexpr const char* interrupted_before =
    "the run was interrupted before it came to this case; the same command with --resume goes on";

// Whether the folder of results holds this very run, and all of it.
bool is_measured(const Plan& plan, const Run& described, const std::string& suite,
                 const std::string& list_hash) {
  for (const fs::path& file : files_by_class(plan.out, ".json")) {
    if (file.filename() != suite + ".json") continue;
    const Results results = read_results(file);
    if (results.env.device_name != plan.device || results.run.content != described.content ||
        results.list_hash != list_hash || results.tier != plan.tier ||
        results.partial != plan.filter.has_value())
      continue;
    return std::none_of(results.cases.begin(), results.cases.end(), [](const CaseResult& result) {
      return result.reason == interrupted_before;
    });
  }
  return false;
}

// The base's suite of that name; empty, with a word, where it has none.
std::optional<fs::path> suite_beside(const Plan& plan, const std::string& suite,
                                     Progress& progress) {
  if (!plan.beside) return std::nullopt;
  fs::path base = *plan.beside / suite;
  if (fs::exists(base)) return base;
  progress.warn(plan.beside->string(), " has no suite ", suite,
                ": it runs alone, and is held against what was accepted");
  return std::nullopt;
}

// Of the cases that both builds list.
SuiteTask task_of_base(SuiteTask task, const fs::path& binary, const Plan& plan) {
  const List list = parse_list(Document("the base's --list=json", list_of(binary, {})));
  std::vector<ListedCase> common;
  for (const ListedCase& listed : expected_cases(list, plan.device, plan.tier, plan.filter))
    if (std::any_of(task.cases.begin(), task.cases.end(),
                    [&](const ListedCase& one) { return one.id == listed.id; }))
      common.push_back(listed);
  task.cases = common;
  task.folder /= "base";
  task.history += ".base";
  task.label = " of the base";
  return task;
}

// From paths of one length, with plans of one Fourier transform: its processes in turn.
void run_beside(const fs::path& base, SuiteTask head, const Plan& plan, Progress& progress,
                Sides& sides) {
  const Builds builds({.binary = base}, {.binary = head.binary});
  head.wisdom = head.folder / "wisdom";
  SuiteTask of_base = task_of_base(head, base, plan);
  of_base.binary = builds.base().binary;
  head.binary = builds.head().binary;
  head.budget_seconds *= 2;  // of both
  run_in_turn(of_base, head, progress, sides);
}

// The base's side of the run that `head` tells, <device class>/base/<suite>.json, and what it was
// measured from; an older one, or one that lost all its cases, does not stay.
std::optional<std::string> keep_base(const std::optional<fs::path>& binary, const SuiteRun& run,
                                     const Results& head,
                                     const std::function<void(Quality&)>& add_machine,
                                     const fs::path& folder, Progress& progress) {
  const fs::path file = base_side(folder, head.suite);
  const fs::path list = list_path(file.parent_path(), head.suite);
  for (const fs::path& old : {file, list}) {
    std::error_code problem;
    fs::remove(old, problem);
  }
  if (!binary) return std::nullopt;
  for (const auto& [id, lost] : run.lost) progress.warn("the base lost ", id, ": ", lost.reason);
  if (run.processes.empty()) {
    progress.warn("no values of the base are kept");
    return std::nullopt;
  }
  const std::string list_bytes = list_of(*binary, {});
  Results results = merged(run, parse_list(Document("the base's list", list_bytes)).cases, {});
  const Provenance built = provenance(*binary);
  const std::vector<std::string> custom = results.run.custom;
  results.run = head.run;  // one run, of two builds
  results.run.content = built.content;
  results.run.git_sha = built.git_sha;
  results.run.git_dirty = built.dirty || head.run.sources.has_value();
  results.run.custom = custom;
  results.partial = head.partial;
  results.list_hash = sha256(list_bytes);
  add_machine(results.quality);
  std::error_code problem;
  fs::create_directories(file.parent_path(), problem);
  write_file(list, list_bytes);
  write_file(file, canonical(to_json(results)));
  return built.content;
}

void run_suite(const fs::path& binary, const Plan& plan) {
  const std::string suite = binary.filename().string();
  Progress progress(suite);
  const std::string list_bytes = list_of(binary, plan.custom);
  const List list = parse_list(Document(text(suite, " --list=json"), list_bytes));
  const auto possible = expected_cases(list, plan.device, "full", std::nullopt);
  const auto expected = expected_cases(list, plan.device, plan.tier, plan.filter);
  if (possible.empty()) {
    std::set<std::string> kinds;
    for (const ListedCase& listed : list.cases)
      for (const auto& [kind, metrics] : listed.devices)
        kinds.insert(kind == "cuda-dry" ? "cuda-dry:sm_90" : kind);
    std::string known;
    for (const std::string& kind : kinds) known += (known.empty() ? "" : ", ") + kind;
    throw Error(Fault::bad_input, text(suite, " has no case for --device=", plan.device,
                                       known.empty() ? "" : text("; it has some for ", known)));
  }
  if (expected.empty())
    throw Error(
        Fault::bad_input,
        text(suite, " has no case for --device=", plan.device, " --tier=", plan.tier,
             plan.filter ? text(" --filter=", *plan.filter) : "", "; see holdfast list ", suite));

  const auto lock = lock_device(plan.device, progress);
  const std::optional<double> load = load_average();
  Run described = describe_run(binary, plan);
  std::string what = text(described.content, '\n', sha256(list_bytes), '\n', plan.device);
  for (const std::string& argument : chosen(plan)) what += '\n' + argument;
  const std::optional<fs::path> base = suite_beside(plan, suite, progress);
  if (base) what += "\nbeside " + provenance(*base).content;
  UnfinishedRun unfinished(plan.out, suite, plan.device, plan.resume, what);
  if (plan.resume && !base && !unfinished.has_processes() &&
      is_measured(plan, described, suite, sha256(list_bytes))) {
    progress.say("is measured already on ", plan.device);
    return;
  }
  MachineWatch machine("/", unfinished.folder() / "machine");
  const SuiteTask task{.binary = binary,
                       .device = plan.device,
                       .arguments = tier_and_custom(plan),
                       .filter = plan.filter,
                       .cases = expected,
                       .effort = plan.effort,
                       .budget_seconds = plan.budget_seconds,
                       .whatever_it_takes = plan.whatever_it_takes,
                       .timeout_seconds = plan.timeout_seconds,
                       .folder = unfinished.folder(),
                       .history = unfinished.history(),
                       .machine = &machine};
  const OthersWatch others;
  Sides sides;
  SuiteRun& run = sides.head;
  std::optional<Interrupted> interrupted;
  try {
    if (base)
      run_beside(*base, task, plan, progress, sides);
    else
      run_suite_processes(task, progress, run);
  } catch (const Interrupted& signal) {
    if (run.processes.empty()) throw;
    interrupted = signal;
  }
  Results results = merged(
      run, expected, {.suite = suite, .tier = plan.tier, .env = assumed_environment(plan.device)});
  if (results.suite != suite)
    throw Error(Fault::bad_input, text(binary.string(), " calls itself ", results.suite,
                                       " in its results; name the binary as the suite"));
  complete(results, expected, "missing", interrupted_before);
  results.partial = plan.filter.has_value();
  results.list_hash = sha256(list_bytes);
  // Of the options handed on, the suite knows which make the run a custom one.
  described.custom = run.processes.empty() ? plan.custom : results.run.custom;
  described.processes = std::max(described.processes, run.most_processes());
  results.run = described;
  results.env.cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
  const auto add_machine = [&](Quality& quality) {
    if (load) quality.load = std::max(*load, quality.load.value_or(0));
    if (device_kind(plan.device) != "cuda-dry") machine.describe(quality, others.share());
  };
  add_machine(results.quality);

  const fs::path folder = plan.out / results.env.device_class;
  std::error_code problem;
  fs::create_directories(folder, problem);  // write_file() says why, should this fail
  write_file(list_path(folder, suite), list_bytes);
  results.run.beside = keep_base(interrupted ? std::nullopt : base, sides.base, results,
                                 add_machine, folder, progress);
  // Self-tests and profiles belong to the run that they stand beside.
  withdraw(self_test_path(folder, suite));
  const fs::path profiles = profiles_folder(plan.out, results.env.device_class, suite);
  std::error_code problem_of_old;
  fs::remove_all(profiles, problem_of_old);
  const auto keep = [&](const Results& measured) {
    write_file(folder / (suite + ".json"), canonical(to_json(measured)));
  };
  if (interrupted) {
    keep(results);
    interrupted->left = text("what was finished is kept in ", folder.string(),
                             "; the same command with --resume goes on");
    throw *interrupted;
  }
  if (plan.valgrind && !run.processes.empty()) {
    keep(without_counts(results));  // stays where counting does not come to its end
    count_suite(binary, plan, unfinished.folder() / "answers", results, progress);
  } else if (!plan.valgrind) {
    leave_uncounted(results, plan.uncounted);
  }
  keep(results);
  if (plan.profile && !run.processes.empty()) {
    profile_suite({.binary = binary,
                   .device = plan.device,
                   .arguments = chosen(plan),
                   .timeout_seconds = plan.timeout_seconds,
                   .place = profiles},
                  progress);
    add_profiled(read_profiles(profiles), results);
    keep(results);
  }
  summarise(results, folder / (suite + ".json"));
  unfinished.finish();
}

// Measuring takes minutes; that the results can be kept is made sure of first.
void prepare_output(const fs::path& out) {
  std::error_code problem;
  fs::create_directories(out, problem);
  if (!problem && ::access(out.c_str(), W_OK | X_OK) != 0)
    problem = {errno, std::generic_category()};
  if (problem)
    throw Error(Fault::bad_input, text("cannot write to --out=", out.string(), ": ",
                                       problem.message(), "; name a folder that you may write to"));
  refuse_links(out);
}

int run_suites(const Options& options) {
  Plan plan{.device = options.value_or("device", ""),
            .tier = options.value_or("tier", "gate"),
            .filter = options.value("filter"),
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
  const bool dry = device_kind(plan.device) == "cuda-dry";
  const std::int64_t processes =
      options.integer("processes").value_or(dry ? dry_processes : host_processes);
  // Who asks for a number of processes has as many of each case.
  const bool asked = dry || options.has("processes");
  plan.effort = {.fewest = processes,
                 .most = asked ? processes : most_host_processes,
                 .most_bent = asked ? processes : 2 * most_host_processes,
                 .counted = asked ? processes : counted_processes,
                 .limit = std::log1p(device_kind(plan.device) == "cuda" ? gpu_limit : host_limit)};
  const std::int64_t budget =
      options.integer("budget").value_or(asked ? no_budget : host_budget_seconds);
  plan.budget_seconds = static_cast<double>(budget);
  // Fewer decide nothing, and who named no seconds wants a decision.
  if (!options.has("budget")) plan.whatever_it_takes = processes;
  plan.resume = options.has("resume");
  const std::int64_t timeout = options.integer("timeout").value_or(run_timeout_seconds);
  for (const auto& [name, value] :
       {std::pair("processes", processes), std::pair("timeout", timeout)})
    if (value < 1) throw Error(Fault::bad_input, text("--", name, "=", value, ": give at least 1"));
  plan.timeout_seconds = static_cast<double>(timeout);

  // An operand with a dash can only stand behind "--": from there on it is the suite's own.
  const fs::path folder = options.value_or("bin-dir", binary_folder().string());
  std::vector<fs::path> suites;
  for (const std::string& operand : options.operands()) {
    if (operand.starts_with('-') || !plan.custom.empty())
      plan.custom.push_back(operand);
    else
      suites.push_back(find_suite(operand, folder));
  }
  if (suites.empty())
    throw Error(Fault::bad_input, "holdfast run needs a suite; see holdfast list");
  if (const auto build = options.value("beside"))
    plan.beside = base_folder("beside", *build, folder);
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
  prepare_output(plan.out);
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
                  {"filter", "REGEX",
                   "only cases whose id contains it; with a leading - those that do not"},
                  {"processes", "N",
                   "fresh processes of each case (default 5, and more of ratios that these do "
                   "not decide; on cuda-dry 1)"},
                  {"beside", "BUILD",
                   "in turn with the same suite of that build, whose side is kept in <device "
                   "class>/base/"},
                  {"budget", "SECONDS",
                   "that a suite takes on a machine at rest: no process begins after it "
                   "(default 120, for those beyond the fifth; without limit where --processes is "
                   "given)"},
                  {"timeout", "SECONDS",
                   "given to a case (default 300) until one run has timed it; then ten times as "
                   "long as it took, and 60 at least"},
                  {"resume", "", "go on with what an interrupted run has left in --out"},
                  {"profile", "",
                   "then profile each case in one more process, into <device "
                   "class>/profiles/<suite>/"},
                  {"count-instructions", "",
                   "on host: count the instructions of a step too, in valgrind's callgrind"},
                  {"count-instructions-if-possible", "",
                   "the same; where valgrind is missing the results say so"},
                  {"bin-dir", "DIR", "where the suites are (default: beside holdfast)"},
                  {"out", "DIR", "receives <device class>/<suite>.json and <suite>.list.json"}},
      .examples =
          "  holdfast run cubed_sphere_swe --device=cuda-dry:sm_90 --profile --out=results\n"
          "  holdfast run cubed_sphere_swe --device=host --count-instructions --out=results\n"
          "  holdfast run cubed_sphere_swe --device=host --beside=../base/build/release "
          "--out=results\n"
          "  holdfast run ./my_suite --device=host --filter='rk4_step/n:48' --out=results\n",
      .run = run_suites};
}

}  // namespace holdfast::gate
