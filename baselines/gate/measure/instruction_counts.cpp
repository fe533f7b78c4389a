// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/instruction_counts.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iterator>
#include <ranges>
#include <set>
#include <sstream>
#include <utility>

#include "base/machine.hpp"
#include "base/time.hpp"
#include "gate/base/process.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/unrequested.hpp"
#include "gate/measure/suite_process.hpp"
#include "gate/measure/suite_run.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

using Ids = std::set<std::string>;

constexpr const char* dump_name = "counts";
constexpr const char* trigger = "desc: Trigger: Client Request: ";
constexpr const char* events = "events: ";
constexpr const char* totals = "totals: ";
// Size in bytes, ways, and bytes of a line, the same on every machine: the first level of today's
// processors, and a last one as large as what they keep for each core.
constexpr const char* simulated_caches[] = {"--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64",
                                            "--LL=2097152,16,64"};
// The weights of KCachegrind's cycle estimation. Misses of instructions, which move with the place
// of each function, are left out.
constexpr std::pair<const char*, double> cycles_of[] = {
    {"Ir", 1}, {"D1mr", 10}, {"D1mw", 10}, {"DLmr", 100}, {"DLmw", 100}};
// The work of an allocator differs from step to step.
constexpr double steady_within = 1e-3, allocators_work = 500;
constexpr std::size_t fewest_dumps = 3, most_dumps = 100;
constexpr double part_of_a_case = 1. / 3;  // of the time for all of them: one that takes more hangs

struct Dump {
  std::string key;  // "<case id>|<variant>"
  std::size_t number = 0;
  Executed executed = {};
};

// Of a line with the names of events and one with their numbers, of which callgrind leaves out the
// zeros at the end.
std::map<std::string, double> read_totals(const std::string& names, const std::string& numbers) {
  std::istringstream name_of(names), number_of(numbers);
  std::map<std::string, double> counts;
  for (std::string name; name_of >> name;) number_of >> counts[name];
  return counts;
}

Executed executed(const std::map<std::string, double>& counts) {
  Executed executed;
  if (const auto found = counts.find("Ir"); found != counts.end())
    executed.instructions = found->second;
  double cycles = 0;
  for (const auto& [event, weight] : cycles_of) {
    const auto found = counts.find(event);
    if (found == counts.end()) return executed;
    cycles += weight * found->second;
  }
  executed.cycles = cycles;
  return executed;
}

// Empty for dumps that no step is read from: the first, and that at the end of the process.
std::optional<Dump> read_dump(const fs::path& file) {
  std::ifstream in(file);
  std::string name, names;
  Dump dump;
  const auto behind = [](const std::string& line, std::string_view begin) {
    return line.substr(begin.size());
  };
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(trigger)) name = behind(line, trigger);
    if (line.starts_with(events)) names = behind(line, events);
    if (line.starts_with(totals))
      dump.executed = executed(read_totals(names, behind(line, totals)));
  }
  const std::size_t bar = name.rfind('|');
  if (bar == std::string::npos) return std::nullopt;
  dump.key = name.substr(0, bar);
  dump.number = static_cast<std::size_t>(std::strtoul(name.c_str() + bar + 1, nullptr, 10));
  return dump;
}

// One thread makes the counts repeat, and so does a heap without a history: small blocks are reused
// in place, and larger ones are mapped one by one. VALGRIND_OPTS or a .valgrindrc could leave
// functions out. A debugger's pipes would stay behind a process that is killed. A suite that finds
// GOMP_SPINCOUNT set does not restart itself, which valgrind would not follow.
Task counting_task(const Counting& counting, const Ids& ids, const fs::path& folder) {
  Task task{.program = counting.valgrind,
            .arguments = {"--tool=callgrind", "--quiet", "--vgdb=no", "--instr-atstart=no",
                          "--callgrind-out-file=" + (folder / dump_name).string(),
                          "--command-line-only=yes"},
            .environment = {{"HOLDFAST_NUM_THREADS", "1"},
                            {"GOMP_SPINCOUNT", "1000"},
                            {"GLIBC_TUNABLES",
                             "glibc.malloc.mmap_threshold=1024:glibc.malloc.mmap_max=60000:"
                             "glibc.malloc.mxfast=0:glibc.malloc.tcache_count=65535"},
                            {"HOLDFAST_PADDING", ""}}};
  if (!counting.answers.empty()) task.environment["HOLDFAST_ANSWERS"] = counting.answers.string();
  const auto add = [&](const auto& more) {
    task.arguments.insert(task.arguments.end(), std::begin(more), std::end(more));
  };
  add(simulated_caches);
  add(std::array{counting.binary.string(), std::string("--device=host"),
                 std::string("--count-instructions")});
  add(counting.arguments);
  task.arguments.push_back("--filter=" + filter_of(ids));
  return task;
}

// The cases that promise a count, dealt out to two processes if there are CPUs for two: by their
// order and not by their times, because what ran before a case moves its counts a little.
std::vector<Ids> shares(const Results& results) {
  std::vector<Ids> shares(static_cast<std::size_t>(std::min(usable_cpus(), 2)));
  std::size_t next = 0;
  for (const CaseResult& result : results.cases)
    if (std::ranges::any_of(result.variants, [](const auto& variant) {
          return std::ranges::any_of(counted_metrics, [&](const char* name) {
            return variant.second.metrics.contains(name);
          });
        }))
      shares[next++ % shares.size()].insert(result.id);
  std::erase_if(shares, [](const Ids& ids) { return ids.empty(); });
  return shares;
}

// Why the process as a whole did not finish; empty if at most single cases failed.
std::string what_ended(const Outcome& outcome, double timeout_seconds) {
  if (outcome.ending == Ending::exited &&
      (outcome.code == 0 || outcome.code == exit_code(Fault::regression)))
    return "";
  const std::string words = last_lines(outcome.complaints, 2);
  return text("the counting process ", describe(outcome, timeout_seconds),
              words.empty() ? "" : "; its last words: ", words);
}

// Puts counts in the place of promises. Takes out those that cannot be kept, and says why.
std::string keep_promises(const std::vector<Executed>& dumps, Metrics& metrics) {
  constexpr std::array values = {&Executed::instructions, &Executed::cycles};
  static_assert(values.size() == counted_metrics.size());
  std::string why, broken;
  const auto step = count_of_a_step(dumps, why);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto promise = metrics.find(counted_metrics[i]);
    if (promise == metrics.end()) continue;
    if (step && (*step).*values[i] >= 0) {
      promise->second = {.kind = promise->second.kind, .value = (*step).*values[i]};
    } else {
      metrics.erase(promise);
      broken = step ? "callgrind simulated no caches" : why;
    }
  }
  return broken;
}

// Counts one share, in as many processes as it takes: what ends one costs only the case that it had
// begun.
class Share {
 public:
  Share(const Counting& counting, std::string suite, Ids ids)
      : counting_(counting), suite_(std::move(suite)), left_(std::move(ids)) {}

  void run() {
    while (!left_.empty()) {
      current_.clear();
      const Outcome outcome = run_process();
      // Before the first case a refusal belongs to no case.
      if (!began_) pass_on_refusals(outcome, suite_);
      const std::string why = what_ended(outcome, std::round(limit_));
      if (why.empty()) return;
      complaints.push_back(text(current_, current_.empty() ? "" : ": ", why));
      if (current_.empty() || since_begin() >= counting_.timeout_seconds) {
        for (const std::string& id : left_) ended[id] = why;
        return;
      }
      ended[current_] = why;
      left_.erase(current_);
    }
  }

  Dumps dumps = {};
  std::map<std::string, std::string> ended = {};  // why nobody counted them, by case
  std::vector<std::string> complaints = {};

 private:
  using Clock = std::chrono::steady_clock;

  double since_begin() const { return seconds_since(begin_); }

  Outcome run_process() {
    const TemporaryFolder folder("count");
    Task task = counting_task(counting_, left_, folder.path());
    const double start = since_begin();
    const double most = counting_.timeout_seconds - start;
    task.timeout_seconds = limit_ = most;
    task.on_line = [&](std::string_view line) {
      if (counting_.on_line) counting_.on_line(line);
      const std::string id = announced(line, left_);
      if (id.empty()) return;
      left_.erase(std::exchange(current_, id));  // the case before has finished
      began_ = true;
      const double spent = since_begin() - start;
      limit_ = std::min(
          part_of_a_case * counting_.timeout_seconds * stretch_of_load(load_of_keepers("host")),
          most - spent);
      task.timeout_seconds = spent + limit_;
    };
    const Outcome outcome = run_task(task);
    dumps.merge(read_dumps(folder.path()));
    return outcome;
  }

  const Counting& counting_;
  const std::string suite_;
  Ids left_;
  std::string current_ = {};
  bool began_ = false;
  double limit_ = 0;
  const Clock::time_point begin_ = Clock::now();
};

}  // namespace

fs::path find_valgrind(const std::string& option) {
  if (const auto found = find_program("valgrind")) return *found;
  throw Error(Fault::bad_input, text(option, lacks_valgrind, "; install it: ",
                                     "./cmake/bootstrap.sh, or apt-get install valgrind"));
}

Dumps read_dumps(const fs::path& folder) {
  Dumps dumps;
  for (const auto& file : fs::directory_iterator(folder)) {
    const auto dump = read_dump(file.path());
    if (!dump) continue;
    std::vector<Executed>& counts = dumps[dump->key];
    if (dump->number >= most_dumps) continue;
    if (dump->number >= counts.size()) counts.resize(dump->number + 1);
    counts[dump->number] = dump->executed;
  }
  return dumps;
}

std::optional<Executed> count_of_a_step(const std::vector<Executed>& dumps, std::string& why) {
  const auto is_absent = [](const Executed& dump) { return dump.instructions < 0; };
  if (dumps.size() < fewest_dumps || std::ranges::any_of(dumps, is_absent)) {
    why = "callgrind left no dump of its steps";
    return std::nullopt;
  }
  const Executed& none = dumps[0];
  std::vector<double> steps;
  for (const Executed& dump : dumps | std::views::drop(1))
    steps.push_back(dump.instructions - none.instructions);
  const double first = steps[0];
  const auto other = std::ranges::find_if(steps, [&](double one) {
    return std::abs(one - first) > steady_within * first + allocators_work;
  });
  // The first step also fills the simulated caches.
  if (other == steps.end() && steps[1] > 0) {
    const bool simulated = none.cycles >= 0 && dumps[2].cycles >= 0;
    return Executed{.instructions = steps[1],
                    .cycles = simulated ? dumps[2].cycles - none.cycles : -1};
  }
  why = text("one step executes ", canonical_line(first), " instructions and a later one ",
             canonical_line(other == steps.end() ? steps[1] : *other),
             "; every step must do the same work");
  return std::nullopt;
}

void leave_uncounted(Results& results, const std::string& why) {
  for (CaseResult& result : results.cases)
    for (auto& [variant, content] : result.variants)
      for (const char* name : counted_metrics)
        if (const auto promise = content.metrics.find(name); promise != content.metrics.end())
          promise->second = {.kind = promise->second.kind, .reason = why};
}

bool is_counted(const Results& results, const std::vector<ListedCase>& listed) {
  std::set<std::pair<std::string, std::string>> promised;  // case and metric
  for (const ListedCase& one : listed)
    if (const auto host = one.devices.find("host"); host != one.devices.end())
      for (const char* name : counted_metrics)
        if (std::ranges::count(host->second, name) > 0) promised.emplace(one.id, name);
  return std::ranges::all_of(results.cases, [&](const CaseResult& result) {
    return result.status != "ok" || std::ranges::all_of(counted_metrics, [&](const char* name) {
             return !promised.contains({result.id, name}) ||
                    std::ranges::all_of(result.variants, [&](const auto& variant) {
                      const auto count = variant.second.metrics.find(name);
                      return count != variant.second.metrics.end() && count->second.value;
                    });
           });
  });
}

Results without_counts(Results results) {
  for (CaseResult& result : results.cases)
    for (auto& [variant, content] : result.variants)
      for (const char* name : counted_metrics) content.metrics.erase(name);
  return results;
}

std::vector<std::string> count_instructions(const Counting& counting, Results& results) {
  std::vector<std::future<Share>> counting_shares;
  for (const Ids& ids : shares(results))
    counting_shares.push_back(std::async(std::launch::async, [&, ids] {
      Share share(counting, results.suite, ids);
      share.run();
      return share;
    }));
  Dumps dumps;
  std::map<std::string, std::string> ended;
  std::vector<std::string> complaints;
  for (auto& counted : counting_shares) {
    Share share = counted.get();
    dumps.merge(share.dumps);
    ended.merge(share.ended);
    complaints.insert(complaints.end(), share.complaints.begin(), share.complaints.end());
  }
  for (CaseResult& result : results.cases)
    for (auto& [variant, content] : result.variants) {
      const std::string why = keep_promises(dumps[result.id + '|' + variant], content.metrics);
      if (!why.empty() && !ended.contains(result.id))
        complaints.push_back(text(result.id, ' ', variant, ": ", why));
    }
  return complaints;
}

}  // namespace holdfast::gate
