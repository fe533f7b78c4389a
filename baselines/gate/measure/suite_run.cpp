// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/suite_run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <random>
#include <set>
#include <utility>

#include "base/machine.hpp"
#include "base/time.hpp"
#include "gate/base/json.hpp"
#include "gate/measure/processes.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Ids = std::set<std::string>;

constexpr double times_as_long = 10, least_limit_seconds = 60;
// Rounds of processes that measure what the machine can do at best, which takes half a second each.
constexpr std::int64_t calibrated = 3;

double tenths(double seconds) {
  return std::round(seconds * 10) / 10;
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

// Seconds of each case, a line each.
std::map<std::string, double> read_history(const fs::path& file) {
  std::map<std::string, double> seconds;
  std::error_code problem;  // a FIFO would be waited for
  if (!fs::is_regular_file(file, problem)) return seconds;
  std::ifstream in(file);
  double spent = 0;
  for (std::string id; in >> spent >> id;) seconds[id] = spent;
  return seconds;
}

class Runner {
 public:
  Runner(const SuiteTask& task, Progress& progress, SuiteRun& run, const SuiteRun* beside = nullptr)
      : task_(task),
        progress_(progress),
        run_(run),
        beside_(beside),
        suite_(task.binary.filename().string()),
        known_seconds_(read_history(task.history)) {
    fs::create_directories(task_.folder / "answers");
  }

  // The steps of run(), for a caller that has two.
  // Takes up what an interrupted run has left.
  void begin() {
    for (fs::path file = next_file(); fs::exists(file); file = next_file()) {
      ++files_;
      try {
        run_.processes.push_back(read(file));
      } catch (const std::exception&) {
        continue;  // it was killed before its first case was done
      }
    }
    if (!run_.processes.empty())
      progress_.say("goes on with what an interrupted run left: ",
                    plural(run_.processes.size(), "result file"));
  }
  void finish() {
    tell_disturbed();
    keep_history();
  }
  Ids wanted(std::int64_t round) const { return round == 1 ? unmeasured() : undecided(); }
  // Which of those the budget allows another process.
  Ids affordable(const Ids& wanted, std::int64_t round) const {
    if (round <= task_.unbudgeted_processes || !is_spent(task_.budget_seconds)) return wanted;
    if (is_spent(task_.bent_budget_seconds)) return {};
    Ids bent;
    for (const std::string& id : wanted)
      if (was_bent(records(id), usual())) bent.insert(id);
    return bent;
  }
  void tell_undecided(const Ids& ids) {
    progress_.warn("the budget of a suite is spent after ", std::lround(seconds_since(start_)),
                   " s; ", plural(ids.size(), "case"),
                   " would be known better by more processes (--budget=SECONDS): ", listed(ids));
  }
  // Those of the cases that fewer than `round` processes have measured.
  void measure_behind(const Ids& ids, std::int64_t round) {
    measure(those([&](const std::string& id) {
              return ids.contains(id) && static_cast<std::int64_t>(records(id).size()) < round;
            }),
            round);
  }
  void lose_all(const Error& refusal) {
    lose(those([](const std::string&) { return true; }), {"missing", refusal.what()});
  }

  void run() {
    begin();
    for (std::int64_t round = 1;; ++round) {
      const Ids all = wanted(round);
      if (all.empty() && round > 1) break;
      const Ids affordable = this->affordable(all, round);
      if (affordable.empty() && round > 1) {
        tell_undecided(all);
        break;
      }
      measure(affordable, round);
    }
    finish();
  }

 private:
  CaseRecords records(const std::string& id) const { return records_of(id, run_.processes); }
  template <class Wants>
  Ids those(const Wants& wants) const {
    Ids ids;
    for (const ListedCase& listed : task_.cases)
      if (!run_.lost.contains(listed.id) && wants(listed.id)) ids.insert(listed.id);
    return ids;
  }
  Ids unmeasured() const {
    return those([&](const std::string& id) { return records(id).empty(); });
  }
  double usual() const {
    return beside_ ? usual_handover(run_.processes, beside_->processes)
                   : usual_handover(run_.processes);
  }
  Ids undecided() const {
    return those([&, usual = usual()](const std::string& id) {
      return wants_another(records(id), usual, task_.effort);
    });
  }
  double stretch() const { return stretch_of_load(load_of_keepers(task_.device)); }
  bool is_spent(const std::optional<double>& budget_seconds) const {
    return budget_seconds && seconds_since(start_) > *budget_seconds * stretch();
  }

  void tell_disturbed() {
    const Ids ids = those([&](const std::string& id) {
      const CaseRecords all = records(id);
      const auto disturbed = std::ranges::count_if(
          all, [](const CaseResult* record) { return is_disturbed(*record); });
      return disturbed > 0 && std::ssize(all) - disturbed < task_.effort.fewest;
    });
    if (ids.empty() || precedence().granted) return;
    progress_.warn("other programs held up what was timed of ", plural(ids.size(), "case"),
                   "; `holdfast doctor` says how to give the suite precedence");
  }

  // As this build calls them.
  Ids called(const Ids& ids) const {
    Ids names;
    for (const std::string& id : ids) names.insert(former_name(task_.names, id));
    return names;
  }
  std::string present(const std::string& name) const {
    for (const auto& [now, former] : task_.names)
      if (former == name) return now;
    return name;
  }
  Results read(const fs::path& file) const {
    Results results = read_process(file);
    for (CaseResult& result : results.cases) result.id = present(result.id);
    return results;
  }

  fs::path next_file() const { return task_.folder / text("process-", files_ + 1, ".json"); }

  // In as many processes as it takes until each of them is measured or lost.
  void measure(Ids ids, std::int64_t round) {
    while (!ids.empty()) {
      const Ids asked = ids;
      const Outcome outcome = start_process(ids, round);
      const std::string problem = take_reported(outcome, ids);
      const std::string name = numbered(round);
      progress_.say(name, " on ", task_.device, ": ", plural(asked.size() - ids.size(), "case"),
                    " in ", tenths(outcome.seconds), " s", problem.empty() ? "" : "; it ", problem);
      if (ids.empty()) {
        if (!problem.empty()) lose_last(asked, lost_by(outcome, name, problem));
        return;
      }
      if (problem.empty()) {
        lose(ids,
             {"missing", "the suite ended well and did not report this case in every process"});
        return;
      }
      const Lost lost = lost_by(outcome, name, problem);
      if (ids.contains(current_)) {
        lose({current_}, lost);
        ids.erase(current_);
      } else if (asked.size() == ids.size()) {
        // It came to no case at all. What a machine can do at best is not worth a suite.
        if (std::exchange(ceilings_, false) && current_.empty()) continue;
        lose(ids, lost);
        return;
      }
    }
  }

  // Takes what the last process reported out of `ids`, and says what was wrong with the process.
  std::string take_reported(const Outcome& outcome, Ids& ids) {
    const fs::path file = next_file();
    ++files_;
    std::string problem = problem_of(outcome);
    if (!fs::exists(file))
      return problem.empty() ? "exited with code 0 and wrote no result file" : problem;
    try {
      run_.processes.push_back(read(file));
    } catch (const std::exception& error) {
      return problem.empty() ? text("wrote an invalid result file: ", error.what()) : problem;
    }
    const std::vector<CaseResult>& reported = run_.processes.back().cases;
    for (const CaseResult& result : reported) ids.erase(result.id);
    if (!speaks_of_a_case(outcome)) return problem;
    if (std::ranges::none_of(reported, [](const auto& result) { return result.status != "ok"; }))
      return problem + ", and reported no case as failed";
    return ids.empty() || outcome.code == exit_code(Fault::regression) ? "" : problem;
  }

  // Those beyond the fewest are of cases that these did not decide.
  std::string numbered(std::int64_t round) const {
    const std::int64_t fewest = task_.effort.fewest;
    return text("process ", round, round > fewest ? "" : text(" of ", fewest), task_.label);
  }

  void lose(const Ids& ids, const Lost& lost) {
    for (const std::string& id : ids) run_.lost[id] = lost;
  }

  // What a process does behind its last case is that case's: else it would cost nobody anything.
  // What the next one does too, without that case, is the suite's, and costs no other. A suite that
  // announces no case leaves open which it was.
  void lose_last(const Ids& asked, const Lost& lost) {
    if (current_.empty()) {
      lose(asked, lost);
    } else if (fell_behind_.empty()) {
      fell_behind_ = current_;
      lose({current_}, lost);
    } else if (fell_behind_ != current_) {
      run_.lost.at(fell_behind_).reason =
          text(lost.reason, "; so did one before it: the suite, whichever case comes last");
    }
  }

  static Lost lost_by(const Outcome& outcome, const std::string& name, const std::string& problem) {
    const std::string words = last_lines(outcome.complaints, 3);
    return {outcome.ending == Ending::timed_out ? "timeout" : "crashed",
            text(name, ' ', problem, words.empty() ? "" : "; its last words: ", words)};
  }

  // A suite ends so where a case failed or broke it off, and has reported that case as failed.
  static bool speaks_of_a_case(const Outcome& outcome) {
    return outcome.ending == Ending::exited && (outcome.code == exit_code(Fault::regression) ||
                                                outcome.code == exit_code(Fault::incomplete));
  }

  std::string problem_of(const Outcome& outcome) const {
    if (outcome.ending == Ending::exited && outcome.code == 0) return "";
    return describe(outcome, tenths(limit_));
  }

  // Seconds that a case may take, or what comes before the first one.
  double limit_of(const std::string& id) const {
    const auto at = known_seconds_.find(id);
    const auto known = at == known_seconds_.end() ? std::optional<double>() : at->second;
    return limit_of_case(known, task_.timeout_seconds, stretch());
  }

  Outcome start_process(const Ids& ids, std::int64_t round) {
    Task task{.program = task_.binary,
              .arguments = {"--device=" + task_.device, "--out=" + next_file().string()},
              .environment = {{"HOLDFAST_PADDING", padding(random_)},
                              {"HOLDFAST_ANSWERS", (task_.folder / "answers").string()},
                              {"HOLDFAST_FFTW_WISDOM", wisdom().string()}},
              .timeout_seconds = limit_of("")};
    if (!ceilings_ || round > calibrated) task.environment["HOLDFAST_CEILINGS"] = "none";
    task.arguments.insert(task.arguments.end(), task_.arguments.begin(), task_.arguments.end());
    const Ids names = called(ids);
    if (ids.size() < task_.cases.size() || !task_.names.empty())
      task.arguments.push_back("--filter=" + filter_of(names));
    else if (task_.filter)
      task.arguments.push_back("--filter=" + *task_.filter);
    current_.clear();
    limit_ = task.timeout_seconds;
    const auto begin = Clock::now();
    double began = 0;
    const auto note = [&](double now) {
      if (!current_.empty()) seconds_[current_] = std::max(seconds_[current_], now - began);
      began = now;
    };
    // Each case has its own limit, from when it begins: run_task() looks at the task's again and
    // again.
    task.on_line = [&](std::string_view line) {
      progress_.following(line);
      const std::string id = present(announced(line, names));
      if (id.empty()) return;
      if (task_.machine) task_.machine->look_at_clock();
      note(seconds_since(begin));
      current_ = id;
      began_ = true;
      limit_ = limit_of(id);
      task.timeout_seconds = began + limit_;
    };
    progress_.following(text(suite_, ": ", numbered(round), " on ", task_.device, " ..."));
    Outcome outcome;
    try {
      outcome = run_task(task);
    } catch (const Interrupted&) {
      if (task_.machine) task_.machine->look();
      take_interrupted();
      throw;
    }
    // Behind the first case it is that case's own.
    if (!began_) pass_on_refusals(outcome, suite_);
    if (task_.machine) task_.machine->look();
    if (outcome.ending == Ending::exited) note(seconds_since(begin));
    return outcome;
  }

  fs::path wisdom() const { return task_.wisdom.empty() ? task_.folder / "wisdom" : task_.wisdom; }

  // What the process had finished when it was stopped.
  void take_interrupted() {
    try {
      if (fs::exists(next_file())) run_.processes.push_back(read(next_file()));
    } catch (const std::exception&) {  // its first case was not done
    }
  }

  void keep_history() const {
    if (task_.history.empty()) return;
    auto all = known_seconds_;
    for (const auto& [id, seconds] : seconds_) all[id] = seconds;
    std::string lines;
    for (const auto& [id, seconds] : all) lines += text(canonical_line(seconds), ' ', id, '\n');
    std::error_code problem;
    fs::create_directories(task_.history.parent_path(), problem);
    std::ofstream(task_.history) << lines;  // where it cannot be written, the next run has none
  }

  const SuiteTask& task_;
  Progress& progress_;
  SuiteRun& run_;
  const SuiteRun* beside_;  // the other side, which takes turns with it
  std::string suite_;
  std::map<std::string, double> known_seconds_, seconds_ = {};
  std::mt19937_64 random_{std::random_device{}()};
  Clock::time_point start_ = Clock::now();
  std::size_t files_ = 0;
  std::string current_ = {};      // the case that the last process began last
  double limit_ = 0;              // and how long it may take
  bool began_ = false;            // any of the processes has come to a case
  std::string fell_behind_ = {};  // the case behind which the first of such processes fell
  bool ceilings_ = true;
};

}  // namespace

void run_suite_processes(const SuiteTask& task, Progress& progress, SuiteRun& run) {
  Runner(task, progress, run).run();
}

void run_in_turn(const SuiteTask& base, const SuiteTask& head, Progress& progress, Sides& sides) {
  Runner of_base(base, progress, sides.base, &sides.head);
  Runner of_head(head, progress, sides.head, &sides.base);
  of_base.begin();
  of_head.begin();
  std::mt19937_64 random(std::random_device{}());
  for (std::int64_t round = 1;; ++round) {
    Ids all = of_head.wanted(round);
    all.merge(of_base.wanted(round));
    if (all.empty() && round > 1) break;
    Ids ids = of_head.affordable(all, round);
    ids.merge(of_base.affordable(all, round));
    if (ids.empty() && round > 1) {
      of_head.tell_undecided(all);
      break;
    }
    const auto measure_base = [&] {
      try {
        of_base.measure_behind(ids, round);
      } catch (const Error& refusal) {  // of a case or an option that it does not know
        of_base.lose_all(refusal);
      }
    };
    const bool base_first = random() % 2 == 0;
    if (base_first) measure_base();
    of_head.measure_behind(ids, round);
    if (!base_first) measure_base();
  }
  of_base.finish();
  of_head.finish();
}

std::int64_t SuiteRun::most_processes() const {
  std::map<std::string, std::int64_t> measured;
  std::int64_t most = 1;
  for (const Results& results : processes)
    for (const CaseResult& result : results.cases) most = std::max(most, ++measured[result.id]);
  return most;
}

Results merged(const SuiteRun& run, const SuiteRun& beside, const std::vector<ListedCase>& cases,
               Results nothing) {
  Results results =
      run.processes.empty() ? std::move(nothing) : merge(run.processes, beside.processes);
  std::erase_if(results.cases,
                [&](const CaseResult& result) { return run.lost.contains(result.id); });
  for (const auto& [id, lost] : run.lost)
    for (const ListedCase& listed : cases)
      if (listed.id == id) complete(results, {listed}, lost.status, lost.reason);
  std::map<std::string, std::size_t> place;
  for (const ListedCase& listed : cases) place.emplace(listed.id, place.size());
  std::stable_sort(results.cases.begin(), results.cases.end(),
                   [&](const CaseResult& a, const CaseResult& b) {
                     const auto at = [&](const CaseResult& result) {
                       const auto found = place.find(result.id);
                       return found == place.end() ? place.size() : found->second;
                     };
                     return at(a) < at(b);
                   });
  return results;
}

double load_of_keepers(const std::string& device, int cpus, int threads) {
  return device_kind(device) == "host" && cpus <= threads ? cpus : 0;
}

double stretch_of_load(double own, std::optional<double> load, int cpus) {
  return std::max(1.0, (load.value_or(0) - own) / cpus);
}

double limit_of_case(std::optional<double> seconds, double otherwise, double stretch) {
  return stretch * (seconds ? std::max(times_as_long * *seconds, least_limit_seconds) : otherwise);
}

}  // namespace holdfast::gate
