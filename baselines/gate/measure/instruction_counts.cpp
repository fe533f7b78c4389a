// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/instruction_counts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <future>
#include <set>

#include "base/machine.hpp"
#include "gate/base/process.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/unrequested.hpp"
#include "gate/measure/suite_process.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

using Ids = std::set<std::string>;

constexpr const char* dump_name = "counts";
constexpr const char* trigger = "desc: Trigger: Client Request: ";
constexpr const char* totals = "totals: ";
// What an allocator finds differs from step to step.
constexpr double steady_within = 1e-3, allocators_work = 500;
constexpr std::size_t fewest_dumps = 3, most_dumps = 100;

struct Dump {
  std::string key;  // "<case id>|<variant>"
  std::size_t number = 0;
  double instructions = -1;
};

// Empty for dumps that no step is read from: the first, and that at the end of the process.
std::optional<Dump> read_dump(const fs::path& file) {
  std::ifstream in(file);
  std::string name;
  Dump dump;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(trigger)) name = line.substr(std::string_view(trigger).size());
    if (line.starts_with(totals))
      dump.instructions = std::strtod(line.c_str() + std::string_view(totals).size(), nullptr);
  }
  const std::size_t bar = name.rfind('|');
  if (bar == std::string::npos) return std::nullopt;
  dump.key = name.substr(0, bar);
  dump.number = static_cast<std::size_t>(std::strtoul(name.c_str() + bar + 1, nullptr, 10));
  return dump;
}

// One thread makes the counts repeat, and so does a heap without a history: small blocks come back
// from where they went, and every larger one is mapped by itself. A libgomp that finds its setting
// does not start the process again, which valgrind would not follow.
Outcome run_counting(const Counting& counting, const Ids& ids, const fs::path& folder) {
  Task task{.program = counting.valgrind,
            .arguments = {"--tool=callgrind", "--quiet", "--instr-atstart=no",
                          "--callgrind-out-file=" + (folder / dump_name).string(),
                          counting.binary.string(), "--device=host", "--count-instructions"},
            .environment = {{"HOLDFAST_NUM_THREADS", "1"},
                            {"GOMP_SPINCOUNT", "1000"},
                            {"GLIBC_TUNABLES",
                             "glibc.malloc.mmap_threshold=1024:glibc.malloc.mmap_max=60000:"
                             "glibc.malloc.mxfast=0:glibc.malloc.tcache_count=65535"},
                            {"HOLDFAST_PADDING", ""}},
            .timeout_seconds = counting.timeout_seconds,
            .on_line = counting.on_line};
  if (!counting.answers.empty()) task.environment["HOLDFAST_ANSWERS"] = counting.answers.string();
  task.arguments.insert(task.arguments.end(), counting.arguments.begin(), counting.arguments.end());
  task.arguments.push_back("--filter=" + filter_of(ids));
  return run_task(task);
}

// The cases that promise a count, in turn by one process and the other, where there are CPUs for
// two.
std::vector<Ids> shares(const Results& results) {
  std::vector<Ids> shares(static_cast<std::size_t>(std::min(usable_cpus(), 2)));
  std::size_t next = 0;
  for (const CaseResult& result : results.cases)
    if (std::any_of(result.variants.begin(), result.variants.end(), [](const auto& variant) {
          return variant.second.metrics.contains(instructions_metric);
        }))
      shares[next++ % shares.size()].insert(result.id);
  std::erase_if(shares, [](const Ids& ids) { return ids.empty(); });
  return shares;
}

struct Counted {
  Ids ids;
  Outcome outcome;
  Dumps dumps;
};

// Why the process as a whole did not come to its end; empty where single cases failed at most.
std::string what_ended(const Outcome& outcome, double timeout_seconds) {
  if (outcome.ending == Ending::exited &&
      (outcome.code == 0 || outcome.code == exit_code(Fault::regression)))
    return "";
  const std::string words = last_lines(outcome.complaints, 2);
  return text("the counting process ", describe(outcome, timeout_seconds),
              words.empty() ? "" : "; its last words: ", words);
}

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
    std::vector<double>& counts = dumps[dump->key];
    if (dump->number >= most_dumps) continue;
    if (dump->number >= counts.size()) counts.resize(dump->number + 1, -1);
    counts[dump->number] = dump->instructions;
  }
  return dumps;
}

std::optional<double> count_of_a_step(const std::vector<double>& dumps, std::string& why) {
  if (dumps.size() < fewest_dumps || std::count(dumps.begin(), dumps.end(), -1) > 0) {
    why = "callgrind left no dump of its steps";
    return std::nullopt;
  }
  const double first = dumps[0], count = dumps[1] - first;
  const auto differs = [&](double one) {
    return std::abs(one - first) > steady_within * first + allocators_work;
  };
  std::vector<double> steps = {count};
  steps.insert(steps.end(), dumps.begin() + 2, dumps.end());
  const auto other = std::find_if(steps.begin(), steps.end(), differs);
  if (other == steps.end() && count > 0) return count;
  why = text("one step executes ", canonical_line(first), " instructions and a later one ",
             canonical_line(other == steps.end() ? count : *other),
             "; every step must do the same work");
  return std::nullopt;
}

void leave_uncounted(Results& results, const std::string& why) {
  for (CaseResult& result : results.cases)
    for (auto& [variant, content] : result.variants)
      if (const auto promise = content.metrics.find(instructions_metric);
          promise != content.metrics.end())
        promise->second = {.kind = promise->second.kind, .reason = why};
}

Results without_counts(Results results) {
  for (CaseResult& result : results.cases)
    for (auto& [variant, content] : result.variants) content.metrics.erase(instructions_metric);
  return results;
}

std::vector<std::string> count_instructions(const Counting& counting, Results& results) {
  std::vector<std::future<Counted>> processes;
  for (const Ids& ids : shares(results))
    processes.push_back(std::async(std::launch::async, [&counting, ids] {
      const TemporaryFolder folder("count");
      const Outcome outcome = run_counting(counting, ids, folder.path());
      return Counted{ids, outcome, read_dumps(folder.path())};
    }));
  Dumps dumps;
  std::map<std::string, std::string> ended;  // why nobody counted them, by case
  std::vector<std::string> complaints;
  for (auto& process : processes) {
    Counted counted = process.get();
    pass_on_refusals(counted.outcome, results.suite);
    dumps.merge(counted.dumps);
    const std::string why = what_ended(counted.outcome, counting.timeout_seconds);
    if (why.empty()) continue;
    complaints.push_back(why);
    for (const std::string& id : counted.ids) ended[id] = why;
  }
  for (CaseResult& result : results.cases) {
    for (auto& [variant, content] : result.variants) {
      const auto promise = content.metrics.find(instructions_metric);
      if (promise == content.metrics.end()) continue;
      const auto counted = dumps.find(result.id + '|' + variant);
      std::string why;
      const auto count =
          count_of_a_step(counted == dumps.end() ? std::vector<double>() : counted->second, why);
      if (count) {
        promise->second = {.kind = promise->second.kind, .value = count};
        continue;
      }
      content.metrics.erase(promise);
      if (!ended.contains(result.id))
        complaints.push_back(text(result.id, ' ', variant, ": ", why));
    }
  }
  return complaints;
}

}  // namespace holdfast::gate
