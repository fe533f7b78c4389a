// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/run/run_suite.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <utility>

#include "base/machine.hpp"
#include "base/names.hpp"
#include "base/sha256.hpp"
#include "base/time.hpp"
#include "gate/base/printing.hpp"
#include "gate/base/process.hpp"
#include "gate/base/written_file.hpp"
#include "gate/commands/run/base_side.hpp"
#include "gate/documents/baseline.hpp"
#include "gate/documents/beside.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/list.hpp"
#include "gate/documents/results.hpp"
#include "gate/documents/results_root.hpp"
#include "gate/documents/selftest.hpp"
#include "gate/measure/instruction_counts.hpp"
#include "gate/measure/machine_load.hpp"
#include "gate/measure/processes.hpp"
#include "gate/measure/profile_metrics.hpp"
#include "gate/measure/profile_process.hpp"
#include "gate/measure/suite_run.hpp"
#include "gate/measure/unfinished_run.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr double slowness_of_valgrind = 10;  // for a whole suite, of which only steps are counted
constexpr double longest_counting_seconds = 300;
constexpr const char* interrupted_before =
    "the run was interrupted before it came to this case; the same command with --resume goes on";

// The environment if no process came far enough to report it.
Environment assumed_environment(const std::string& device) {
  return {.device_class = device == "host" ? host_class() : device_file_name(device),
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
          .processes = plan.effort.fewest,
          .binary = sha256(read_file(binary))};
  if (const char* sources = std::getenv("HOLDFAST_SOURCES"); sources && *sources) {
    run.sources = sources;
    run.git_dirty = true;
  }
  return run;
}

// The suite's list, and the cases of it that the plan asks for.
struct Listed {
  std::string suite;
  std::string bytes = {};
  std::string hash = {};
  std::vector<ListedCase> cases = {};
};

// Distinguishes a suite that has nothing for the device from one of which tier or filter leave
// nothing.
[[noreturn]] void refuse_empty(const List& list, const std::string& suite, const Plan& plan) {
  if (!expected_cases(list, plan.device, "full", std::nullopt).empty())
    throw Error(
        Fault::bad_input,
        text(suite, " has no case for --device=", plan.device, " --tier=", plan.tier,
             plan.filter ? text(" --filter=", *plan.filter) : "", "; see holdfast list ", suite));
  std::set<std::string> kinds;
  for (const ListedCase& listed : list.cases)
    for (const auto& [kind, metrics] : listed.devices)
      kinds.insert(kind == "cuda-dry" ? "cuda-dry:sm_90" : kind);
  throw Error(Fault::bad_input,
              text(suite, " has no case for --device=", plan.device,
                   kinds.empty() ? "" : text("; it has some for ", listed(kinds))));
}

Listed list_suite(const fs::path& binary, const Plan& plan) {
  Listed listed{.suite = binary.filename().string(), .bytes = list_of(binary, plan.custom)};
  listed.hash = sha256(listed.bytes);
  const List list = parse_list(Document(text(listed.suite, " --list=json"), listed.bytes));
  listed.cases = expected_cases(list, plan.device, plan.tier, plan.filter);
  if (listed.cases.empty()) refuse_empty(list, listed.suite, plan);
  return listed;
}

// Everything that a resumed run must have in common with the run that it continues.
std::string identity(const Plan& plan, const Run& described, const Listed& listed,
                     const std::optional<fs::path>& base, const std::string& made) {
  std::string what = text(described.content, '\n', listed.hash, '\n', plan.device, '\n', made);
  for (const std::string& argument : plan.chosen()) what += '\n' + argument;
  if (described.sources) what += "\nsources " + *described.sources;
  if (base) what += "\nbeside " + provenance(*base).content;
  return what;
}

// What the hash of the sources does not cover: other flags or another compiler make other binaries
// of the same content, and several processors may share a folder.
std::string made_and_timed_on(const Run& described, const Plan& plan,
                              const std::optional<fs::path>& base) {
  std::string what = described.binary.value_or("");
  if (base) what += '\n' + sha256(read_file(*base));
  if (plan.device != "host") return what;
  const Environment here = assumed_environment(plan.device);
  return text(what, '\n', here.device_class, '\n', here.processor);
}

bool is_of_this_run(const Results& results, const Plan& plan, const Run& described,
                    const Listed& listed, const std::optional<fs::path>& base) {
  const auto beside = base ? std::optional(provenance(*base).content) : std::nullopt;
  return results.env.device_name == plan.device && results.run.content == described.content &&
         results.run.sources == described.sources && results.run.beside == beside &&
         std::ranges::is_permutation(results.run.custom, plan.custom) &&
         results.run.processes >= plan.effort.fewest && results.list_hash == listed.hash &&
         results.tier == plan.tier && results.partial == plan.filter.has_value();
}

bool has_all_cases(const Results& results, const Listed& listed) {
  std::set<std::string> there, asked;
  for (const CaseResult& result : results.cases)
    if (result.reason != interrupted_before) there.insert(result.id);
  for (const ListedCase& one : listed.cases) asked.insert(one.id);
  return there == asked;
}

// Whether the results folder holds this very run, complete.
bool is_measured(const Plan& plan, const Run& described, const Listed& listed,
                 const std::optional<fs::path>& base) {
  for (const fs::path& file : files_by_class(plan.out, ".json")) {
    if (file.filename() != listed.suite + ".json") continue;
    const Results results = read_results(file);
    if (is_of_this_run(results, plan, described, listed, base))
      return has_all_cases(results, listed) &&
             (!base || fs::exists(base_side(file.parent_path(), listed.suite))) &&
             (!plan.valgrind || is_counted(results, listed.cases)) &&
             (!plan.profile ||
              fs::exists(profiles_folder(plan.out, results.env.device_class, listed.suite)));
  }
  return false;
}

// Records the machine's state from construction on.
class MachineMeanwhile {
 public:
  MachineMeanwhile(const Plan& plan, const fs::path& kept)
      : is_timed_(device_kind(plan.device) != "cuda-dry"), machine_("/", kept) {}
  MachineWatch& machine() { return machine_; }
  void add_to(Quality& quality) {
    if (load_) quality.load = std::max(*load_, quality.load.value_or(0));
    if (is_timed_) machine_.describe(quality, others_.share());
  }

 private:
  const bool is_timed_;
  const std::optional<double> load_ = load_average();
  MachineWatch machine_;
  const OthersWatch others_;
};

// Measures, in turn with the base if there is one. Returns an interruption that leaves results.
std::optional<Interrupted> measure(const SuiteTask& task, const std::optional<fs::path>& base,
                                   const Plan& plan, Progress& progress, Sides& sides) {
  try {
    if (base)
      run_beside(*base, task, plan, progress, sides);
    else
      run_suite_processes(task, progress, sides.head);
  } catch (const Interrupted& signal) {
    if (sides.head.processes.empty()) throw;
    return signal;
  }
  return std::nullopt;
}

Results head_results(const Sides& sides, const Listed& listed, Run described, const Plan& plan,
                     const fs::path& binary) {
  Results results =
      merged(sides.head, sides.base, listed.cases,
             {.suite = listed.suite, .tier = plan.tier, .env = assumed_environment(plan.device)});
  if (results.suite != listed.suite)
    throw Error(Fault::bad_input, text(binary.string(), " calls itself ", results.suite,
                                       " in its results; name the binary as the suite"));
  complete(results, listed.cases, "missing", interrupted_before);
  results.partial = plan.filter.has_value();
  results.list_hash = listed.hash;
  // Only the suite knows which of the passed options make the run a custom one.
  described.custom = sides.head.processes.empty() ? plan.custom : results.run.custom;
  described.filter = plan.filter;
  described.processes = std::max(described.processes, sides.head.most_processes());
  if (results.run.sources) {  // also of a process that an interrupted run left
    described.sources = results.run.sources;
    described.git_dirty = true;
  }
  results.run = std::move(described);
  results.env.cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
  return results;
}

// Counts in up to two more processes, apart from the timed ones, under valgrind. Counts that they
// do not deliver are missing from the results, which the gate then calls incomplete.
void count_suite(const fs::path& binary, const Plan& plan, const fs::path& answers,
                 Results& results, Progress& progress) {
  const Counting counting{.valgrind = *plan.valgrind,
                          .binary = binary,
                          .arguments = plan.tier_and_custom(),
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

// Prints the cases that are not ok, and where the file is.
void summarise(const Results& results, const fs::path& file) {
  std::map<std::string, std::size_t> counts;
  for (const CaseResult& result : results.cases) ++counts[result.status];
  std::string line;
  for (const auto& [status, count] : counts) add_to(line, text(count, ' ', status));
  for (const CaseResult& result : results.cases)
    if (result.status == "failed")
      std::cout << toned(Tone::bad, "failed   ") << result.id << ": "
                << result.reason.value_or("no reason given") << '\n';
  for (const std::string status : {"crashed", "timeout", "missing"}) {
    const auto first =
        std::find_if(results.cases.begin(), results.cases.end(),
                     [&](const CaseResult& result) { return result.status == status; });
    if (first != results.cases.end())
      std::cout << toned(Tone::bad, status) << std::string(9 - status.size(), ' ')
                << plural(counts[status], "case") << " of " << results.suite << ": "
                << first->reason.value_or("no reason given") << '\n';
  }
  std::cout << file.string() << ": " << line << '\n';
}

// The result files of a suite in the folder of its device class.
class ResultFiles {
 public:
  ResultFiles(const Plan& plan, const Results& results)
      : root_(plan.out),
        folder_(plan.out / results.env.device_class),
        suite_(results.suite),
        profiles_(profiles_folder(plan.out, results.env.device_class, results.suite)) {
    std::error_code problem;
    fs::create_directories(folder_, problem);  // write_file() says why, should this fail
  }
  const fs::path& folder() const { return folder_; }
  const fs::path& profiles() const { return profiles_; }
  fs::path results() const { return folder_ / (suite_ + ".json"); }

  // Base, self-tests and profiles belong to the run that they stand beside, and a verdict to the
  // runs that it judged.
  void begin(const std::string& list) const {
    withdraw_verdict(root_);
    write_file(list_path(folder_, suite_), list);
    withdraw_base(folder_, suite_);
    withdraw(self_test_path(folder_, suite_));
    std::error_code problem;
    fs::remove_all(profiles_, problem);
  }
  void keep(const Results& measured) const { write_file(results(), canonical(to_json(measured))); }

 private:
  fs::path root_, folder_;
  std::string suite_;
  fs::path profiles_;
};

// Adds what the plan asks for beyond times: counts of instructions, and profiles of a few steps.
void measure_untimed(const fs::path& binary, const Plan& plan, const fs::path& answers,
                     const ResultFiles& files, Results& results, Progress& progress) {
  if (plan.valgrind) count_suite(binary, plan, answers, results, progress);
  if (!plan.profile) return;
  files.keep(results);
  profile_suite({.binary = binary,
                 .device = plan.device,
                 .arguments = plan.chosen(),
                 .timeout_seconds = plan.timeout_seconds,
                 .answers = answers,
                 .place = files.profiles()},
                progress);
  add_profiled(read_profiles(files.profiles()), results);
}

SuiteTask suite_task(const fs::path& binary, const Plan& plan, const Listed& listed,
                     const UnfinishedRun& unfinished, MachineMeanwhile& meanwhile) {
  return {.binary = binary,
          .device = plan.device,
          .arguments = plan.tier_and_custom(),
          .filter = plan.filter,
          .cases = listed.cases,
          .effort = plan.effort,
          .budget_seconds = plan.budget_seconds,
          .bent_budget_seconds = plan.bent_budget_seconds,
          .unbudgeted_processes = plan.unbudgeted_processes,
          .timeout_seconds = plan.timeout_seconds,
          .folder = unfinished.folder(),
          .history = unfinished.history(),
          .machine = &meanwhile.machine()};
}

}  // namespace

void run_suite(const fs::path& binary, const Plan& plan) {
  const Listed listed = list_suite(binary, plan);
  Progress progress(listed.suite);
  // First: its holder may be another machine's, and this one's GPU is free meanwhile.
  const ResultsLock turn = lock_results(plan.out, listed.suite, plan.device, progress);
  const auto lock = lock_device(plan.device, progress);
  const Run described = describe_run(binary, plan);
  const auto base = suite_beside(plan, listed.suite, progress);
  const std::string made = made_and_timed_on(described, plan, base);
  UnfinishedRun unfinished(plan.out, listed.suite, plan.device, plan.resume,
                           identity(plan, described, listed, base, made));
  if (plan.resume && !unfinished.has_processes() && unfinished.finished_last(made) &&
      is_measured(plan, described, listed, base))
    return progress.say("is measured already on ", plan.device);
  unfinished.replace_last();

  MachineMeanwhile meanwhile(plan, unfinished.folder() / "machine");
  const SuiteTask task = suite_task(binary, plan, listed, unfinished, meanwhile);
  Sides sides;
  auto interrupted = measure(task, base, plan, progress, sides);
  Results results = head_results(sides, listed, described, plan, binary);
  if (!plan.profile) leave_unprofiled(results);
  const auto add_machine = [&](Quality& quality) { meanwhile.add_to(quality); };
  add_machine(results.quality);

  const ResultFiles files(plan, results);
  files.begin(listed.bytes);
  files.keep(without_counts(results));  // kept if what follows is interrupted
  if (interrupted) {
    interrupted->left =
        std::runtime_error(text("what was finished is kept in ", files.folder().string(),
                                "; the same command with --resume goes on"));
    throw *interrupted;
  }
  if (base)
    results.run.beside =
        keep_base(*base, sides, plan, results, add_machine, files.folder(), progress);
  if (base) results.run.base = plan.beside->parent_path().string();  // even if it was lost
  if (!plan.valgrind) leave_uncounted(results, plan.uncounted);
  if (!sides.head.processes.empty())
    measure_untimed(binary, plan, unfinished.folder() / "answers", files, results, progress);
  files.keep(results);
  summarise(results, files.results());
  unfinished.finish(made);
}

}  // namespace holdfast::gate
