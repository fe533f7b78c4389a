// SPDX-License-Identifier: Apache-2.0
// One suite on one device in fresh processes: each case in as many as it takes to decide it. What
// ends a process costs only the case that did, not those before and after it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/machine.hpp"
#include "gate/documents/beside.hpp"
#include "gate/documents/list.hpp"
#include "gate/documents/results.hpp"
#include "gate/measure/machine_load.hpp"
#include "gate/measure/schedule.hpp"
#include "gate/measure/suite_process.hpp"

namespace holdfast::gate {

struct SuiteTask {
  std::filesystem::path binary;
  std::string device;
  std::vector<std::string> arguments = {};  // tier and the suite's own options
  std::optional<std::string> filter = {};
  std::vector<ListedCase> cases = {};  // that the tier has and the filter leaves
  FormerNames names = {};              // of those with another name in this build
  Effort effort = {};
  // On a machine at rest. Beyond the first processes none begins after it, except for cases that
  // the machine distorted, which have more seconds. Empty: no limit.
  std::optional<double> budget_seconds = {}, bent_budget_seconds = {};
  std::int64_t unbudgeted_processes = 1;  // processes of a case that the budget never denies
  double timeout_seconds = 0;             // of a case that nobody has timed before
  std::filesystem::path folder = {};      // keeps what the processes write and share
  std::filesystem::path history = {};     // seconds of each case, of the last run
  MachineWatch* machine = nullptr;        // looks after each process
  std::string label = {};                 // " of the base", where two builds run in turn
  std::filesystem::path wisdom = {};      // FFTW's, where it is shared; by default in the folder
};

struct Lost {
  std::string status;  // crashed, timeout or missing
  std::string reason;
};

struct SuiteRun {
  std::vector<Results> processes = {};
  std::map<std::string, Lost> lost = {};  // by case id

  std::int64_t most_processes() const;  // of any case, one at least
};

// Continues what an interrupted run left in the folder. Throws Interrupted; what was finished is
// then in the folder, and in `run`.
void run_suite_processes(const SuiteTask& task, Progress& progress, SuiteRun& run);

// Two builds of a suite, a process of each in turn, in random order in each round; a case that
// needs more processes in one of them is measured in both. A base that refuses to run loses all its
// cases, which costs the head nothing.
struct Sides {
  SuiteRun base = {}, head = {};
};
void run_in_turn(const SuiteTask& base, const SuiteTask& head, Progress& progress, Sides& sides);

// Merges all processes of a run, in the list's order; a case that was lost says why. Without any
// process the result is `nothing`. `beside` is the other side, if there is one.
Results merged(const SuiteRun& run, const SuiteRun& beside, const std::vector<ListedCase>& cases,
               Results nothing);

// What a suite on `device` may add to this machine's load by keeping CPUs awake while it measures.
double load_of_keepers(const std::string& device, int cpus = usable_cpus(),
                       int threads = host_threads().count);

// The factor by which the machine's load, without `own`, prolongs a case; 1 on a machine at rest.
double stretch_of_load(double own, std::optional<double> load = load_average(),
                       int cpus = usable_cpus());

// The time limit of a case: ten times as long as it took last, at least a minute; `otherwise` if it
// was never timed.
double limit_of_case(std::optional<double> seconds, double otherwise, double stretch);

}  // namespace holdfast::gate
