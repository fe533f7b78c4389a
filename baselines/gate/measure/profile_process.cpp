// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/profile_process.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <system_error>

#include "gate/base/process.hpp"
#include "gate/documents/results_root.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

// Why the profiles that a process left in `folder` cannot be kept; empty where they can.
std::string profiling_problem(const Outcome& outcome, double timeout_seconds,
                              const fs::path& folder) {
  // A case that fails its check or runs out of memory does not spoil the profiles of the others.
  if (outcome.ending != Ending::exited ||
      (outcome.code != 0 && outcome.code != exit_code(Fault::regression) &&
       outcome.code != exit_code(Fault::incomplete))) {
    const std::string words = last_lines(outcome.complaints, 1);
    return text(describe(outcome, timeout_seconds), words.empty() ? "" : ": ", words);
  }
  try {
    return read_profiles(folder).empty() ? "wrote no profile" : "";
  } catch (const Error& error) {
    return text("wrote a broken document: ", error.what());
  }
}

// Removed with all its content unless it was renamed; an interruption leaves no part.
struct PartFolder {
  fs::path path;
  ~PartFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

}  // namespace

void profile_suite(const Profiling& profiling, Progress& progress) {
  const std::string suite = profiling.binary.filename().string();
  const fs::path beside = profiling.place.parent_path() / ("." + suite + ".part");
  std::error_code problem;
  fs::remove_all(beside, problem);
  fs::create_directories(beside, problem);
  const PartFolder part{beside};
  Task task{.program = profiling.binary,
            .arguments = {"--device=" + profiling.device, "--profile=" + beside.string(),
                          "--variant=both"},
            .environment = {{"HOLDFAST_ANSWERS", profiling.answers.string()}},
            .timeout_seconds = profiling.timeout_seconds};
  const auto begin = std::chrono::steady_clock::now();
  task.on_line = [&](std::string_view line) {
    progress.following(line);
    const std::chrono::duration<double> so_far = std::chrono::steady_clock::now() - begin;
    task.timeout_seconds = so_far.count() + profiling.timeout_seconds;
  };
  task.arguments.insert(task.arguments.end(), profiling.arguments.begin(),
                        profiling.arguments.end());
  progress.following(text(suite, ": profiling on ", profiling.device, " ..."));
  const Outcome outcome = run_task(task);
  std::string why = profiling_problem(outcome, profiling.timeout_seconds, beside);
  if (why.empty()) {
    fs::rename(beside, profiling.place, problem);
    if (problem) why = "left profiles that cannot be kept: " + problem.message();
  }
  if (!why.empty()) {
    progress.warn("warning: the results stay without profiles: the profiling process ", why);
  } else if (outcome.code != 0) {
    progress.warn("warning: not every case has a profile: ", last_lines(outcome.complaints, 1));
  } else {
    progress.say("profiled on ", profiling.device, " in ", std::round(outcome.seconds * 10) / 10,
                 " s");
  }
}

}  // namespace holdfast::gate
