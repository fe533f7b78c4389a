// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>
#include <utility>

#include "base/machine.hpp"
#include "base/time.hpp"
#include "gate/base/numbers.hpp"
#include "gate/base/process.hpp"
#include "gate/commands/commands.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/documents.hpp"
#include "gate/documents/results_root.hpp"
#include "gate/measure/instruction_counts.hpp"
#include "gate/measure/processes.hpp"
#include "gate/measure/profile_process.hpp"
#include "gate/measure/suite_process.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t host_processes = 5;
constexpr std::int64_t dry_processes = 1;  // what a dry run says repeats exactly
constexpr std::int64_t run_timeout_seconds = 300;
constexpr double slowness_of_valgrind = 10;  // of a whole suite, whose steps alone are counted
constexpr double longest_counting_seconds = 300;

struct Plan {
  std::string device;
  std::string tier;
  std::optional<std::string> filter = {};
  std::int64_t processes = 1;
  double timeout_seconds = 0;  // per process
  fs::path out = {};
  bool profile = false;                   // one more process, which profiles
  std::optional<fs::path> valgrind = {};  // one more process, which counts instructions
  std::string uncounted = "this run was not asked for it";  // where there is no valgrind
  std::vector<std::string> custom = {};                     // handed on to the suite
};

// What each process of the run is told besides its device: which cases, with which options.
std::vector<std::string> chosen(const Plan& plan) {
  std::vector<std::string> arguments = {"--tier=" + plan.tier};
  if (plan.filter) arguments.push_back("--filter=" + *plan.filter);
  arguments.insert(arguments.end(), plan.custom.begin(), plan.custom.end());
  return arguments;
}

// The single-process file of a suite. What only `run` can know (id, time, content, list) may be
// absent from it.
Results read_process(const fs::path& path) {
  const Document strict(path.filename().string(), read_file(path));
  nlohmann::json json = nlohmann::json::parse(read_file(path));
  const nlohmann::json unknown = {{"id", ""},
                                  {"utc", ""},
                                  {"content", ""},
                                  {"processes", 1},
                                  {"git", {{"sha", nullptr}, {"dirty", false}}}};
  bool filled = json.emplace("list_hash", "").second;
  for (const auto& [key, value] : unknown.items()) filled |= json["run"].emplace(key, value).second;
  return filled ? parse_results(Document(path.filename().string(), json.dump(1)))
                : parse_results(strict);
}

struct Failure {
  std::string status;  // crashed or timeout
  std::string reason;
};

// One suite in its fresh processes, as far as they came.
struct Processes {
  std::vector<Results> results = {};
  std::optional<Failure> failure = {};
};

Processes run_processes(const fs::path& binary, const std::string& suite, const Plan& plan,
                        Progress& progress) {
  const TemporaryFolder folder("run");
  std::mt19937_64 random(std::random_device{}());
  Processes done;
  for (std::int64_t i = 1; i <= plan.processes; ++i) {
    const fs::path file = folder.path() / text("process-", i, ".json");
    Task task{.program = binary,
              .arguments = {"--device=" + plan.device, "--out=" + file.string()},
              .environment = {{"HOLDFAST_PADDING", padding(random)},
                              {"HOLDFAST_FFTW_WISDOM", (folder.path() / "wisdom").string()}},
              .timeout_seconds = plan.timeout_seconds,
              .on_line = [&](std::string_view line) { progress.following(line); }};
    const std::vector<std::string> what = chosen(plan);
    task.arguments.insert(task.arguments.end(), what.begin(), what.end());
    progress.following(
        text(suite, ": process ", i, " of ", plan.processes, " on ", plan.device, " ..."));
    const Outcome outcome = run_task(task);
    pass_on_refusals(outcome, suite);

    const std::string name = text("process ", i, " of ", plan.processes);
    std::string problem;
    if (outcome.ending != Ending::exited ||
        (outcome.code != 0 && outcome.code != exit_code(Fault::regression))) {
      problem = describe(outcome, plan.timeout_seconds);
    } else if (!fs::exists(file)) {
      problem = text("exited with code ", outcome.code, " and wrote no result file");
    } else {
      try {
        done.results.push_back(read_process(file));
        progress.say(name, " on ", plan.device, ": ",
                     plural(done.results.back().cases.size(), "case"), " in ",
                     std::round(outcome.seconds * 10) / 10, " s");
        continue;
      } catch (const std::exception& error) {
        problem = text("wrote an invalid result file: ", error.what());
      }
    }
    if (const std::string words = last_lines(outcome.complaints, 3); !words.empty())
      problem += text("; its last words: ", words);
    done.failure = {outcome.ending == Ending::timed_out ? "timeout" : "crashed",
                    text(name, ' ', problem)};
    progress.say(name, " on ", plan.device, ' ', problem);
    return done;  // the gate fails closed: no later process could make the case whole again
  }
  return done;
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
          .processes = plan.processes};
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
void count_suite(const fs::path& binary, const Plan& plan, Results& results, Progress& progress) {
  const Counting counting{.valgrind = *plan.valgrind,
                          .binary = binary,
                          .arguments = chosen(plan),
                          .timeout_seconds = std::min(slowness_of_valgrind * plan.timeout_seconds,
                                                      longest_counting_seconds),
                          .on_line = [&](std::string_view line) { progress.following(line); }};
  progress.following(text(results.suite, ": counting instructions ..."));
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& complaint : count_instructions(counting, results))
    progress.say("warning: not counted: ", complaint);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  progress.say("counted instructions in ", std::round(spent.count() * 10) / 10, " s");
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
  Processes done = run_processes(binary, suite, plan, progress);
  Results results;
  if (done.results.empty())
    results = {.suite = suite, .tier = plan.tier, .env = assumed_environment(plan.device)};
  else
    results = merge(done.results);
  if (results.suite != suite)
    throw Error(Fault::bad_input, text(binary.string(), " calls itself ", results.suite,
                                       " in its results; name the binary as the suite"));
  if (done.failure) {
    results.cases.clear();
    complete(results, expected, done.failure->status, done.failure->reason);
  } else {
    complete(results, expected, "missing",
             "the suite ended well and did not report this case in every process");
  }
  results.partial = results.partial || plan.filter.has_value();
  results.list_hash = sha256(list_bytes);
  // Of the options handed on, the suite knows which make the run a custom one.
  described.custom = done.results.empty() ? plan.custom : results.run.custom;
  results.run = described;
  results.quality.load = load;

  const fs::path folder = plan.out / results.env.device_class;
  std::error_code problem;
  fs::create_directories(folder, problem);  // write_file() says why, should this fail
  write_file(list_path(folder, suite), list_bytes);
  // Profiles belong to the run that they stand beside.
  const fs::path profiles = profiles_folder(plan.out, results.env.device_class, suite);
  std::error_code problem_of_old;
  fs::remove_all(profiles, problem_of_old);
  const auto keep = [&](const Results& measured) {
    write_file(folder / (suite + ".json"), canonical(to_json(measured)));
  };
  if (plan.valgrind && !done.failure) {
    keep(without_counts(results));  // stays where counting does not come to its end
    count_suite(binary, plan, results, progress);
  } else if (!plan.valgrind) {
    leave_uncounted(results, plan.uncounted);
  }
  keep(results);
  if (plan.profile && !done.failure) {
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
  plan.processes =
      options.integer("processes")
          .value_or(device_kind(plan.device) == "cuda-dry" ? dry_processes : host_processes);
  const std::int64_t timeout = options.integer("timeout").value_or(run_timeout_seconds);
  for (const auto& [name, value] :
       {std::pair("processes", plan.processes), std::pair("timeout", timeout)})
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
  return {.name = "run",
          .summary = "Runs suites in fresh processes and writes one merged result file for each.",
          .operands = "SUITE... [-- the suite's own options]",
          .fewest_operands = 1,
          .most_operands = 1000,
          .options = {{"device", "D", "host, cuda, cuda:N or cuda-dry:sm_NN"},
                      {"tier", "T", "smoke, gate (default) or full"},
                      {"filter", "REGEX",
                       "only cases whose id contains it; with a leading - those that do not"},
                      {"processes", "N", "fresh processes (default 5, on cuda-dry 1)"},
                      {"timeout", "SECONDS", "given to each process (default 300)"},
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
              "  holdfast run ./my_suite --device=host --filter='rk4_step/n:48' --out=results\n",
          .run = run_suites};
}

}  // namespace holdfast::gate
