// SPDX-License-Identifier: Apache-2.0
// The verb `check`: its options, and what it prints and writes.
#include <cstdlib>
#include <iostream>
#include <new>

#include "gate/base/git.hpp"
#include "gate/base/process.hpp"
#include "gate/base/shown_text.hpp"
#include "gate/base/written_file.hpp"
#include "gate/commands/check/check.hpp"
#include "gate/commands/commands.hpp"
#include "gate/commands/common_options.hpp"
#include "gate/history/append.hpp"
#include "gate/report/terminal.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

void write_verdict(const fs::path& root, const Checked& checked) {
  write_file(root / "verdict.json", canonical(to_json(checked.verdict)), Sync::no);
  write_file(root / "verdict.md", markdown(checked.verdict), Sync::no);
  write_file(root / "verdict.xml", junit(checked.verdict), Sync::no);
  const fs::path patch = root / "proposed-baseline.patch";
  if (!checked.patch.empty()) {
    write_file(patch, checked.patch, Sync::no);
  } else {
    std::error_code problem;
    fs::remove(patch, problem);  // of an older check; it no longer holds
  }
}

// Writes what stopped the check in place of an older verdict, which no longer holds.
void write_refusal(const fs::path& root, Fault fault, const std::string& sentence) {
  try {
    write_verdict(root, {.verdict = {.exit = exit_code(fault), .notes = {sentence}}});
  } catch (const Error&) {
    return;  // only the first error is reported
  }
}

CheckRequest parse_request(const Options& options) {
  CheckRequest request{.directory = options.operands().front()};
  request.baselines = options.value_or("baselines", "baselines");
  request.policy = options.value_or("policy", "");
  request.baseline_ref = options.value("baseline-ref");
  request.require_baseline = options.has("require-baseline");
  const std::string undecided = options.value_or("undecided", "fail");
  if (undecided != "fail" && undecided != "warn")
    throw Error(Fault::bad_input, text("--undecided=", undecided, ": it is fail or warn"));
  request.undecided_fails = undecided == "fail";
  request.store = options.value_or("store", "");
  for (const std::string& root : options.values("again")) request.again.push_back(root);
  if (const auto build = options.value("confirm")) request.confirm = *build;
  request.confirm_budget_seconds =
      options.positive("budget").value_or(request.confirm_budget_seconds);
  request.confirm_unit_seconds = options.positive("unit").value_or(request.confirm_unit_seconds);
  request.root.only = options.value("only");
  request.root.device = options.value("device");
  if (const auto lists = options.value("lists")) request.root.lists = *lists;
  request.any_content = options.has("any-content");
  request.expect = options.values("expect");
  return request;
}

// Checks --store and --again even if nothing is proposed and neither is read.
void refuse_what_is_no_folder(const CheckRequest& request) {
  std::error_code ignored;
  if (!request.store.empty() && std::filesystem::exists(request.store, ignored) &&
      !std::filesystem::is_directory(request.store, ignored))
    throw Error(Fault::bad_input, text("--store=", request.store.string(),
                                       ": is not a folder; name that of the history"));
  if (!request.store.empty()) refuse_results(request.store);
  for (const std::filesystem::path& root : request.again)
    if (!std::filesystem::is_directory(root, ignored))
      throw Error(Fault::bad_input,
                  text("--again=", root.string(), ": is not a folder of results"));
}

bool runs_on_github() {
  const char* there = std::getenv("GITHUB_ACTIONS");
  return there && std::string_view(there) == "true";
}

int check_verb(const Options& options) {
  const CheckRequest request = parse_request(options);
  if (request.confirm) catch_interruptions();
  // A folder that was given by mistake is neither overwritten nor added to.
  const bool keeps = request.whole() && is_results_root(request.directory);
  Checked checked;
  try {
    if (keeps) withdraw_verdict(request.directory);
    refuse_what_is_no_folder(request);
    checked = check(request);
  } catch (const Error& error) {
    if (keeps) write_refusal(request.directory, error.fault(), error.what());
    throw;
  } catch (const std::bad_alloc&) {
    if (keeps) write_refusal(request.directory, Fault::incomplete, no_memory);
    throw;
  } catch (const std::exception& error) {
    if (keeps) write_refusal(request.directory, Fault::bad_input, error.what());
    throw;
  }
  if (keeps) write_verdict(request.directory, checked);  // first, because printing may fail
  print(checked.verdict, printing(), std::cout);
  if (options.has("annotations") || runs_on_github())
    std::cout << github_annotations(checked.verdict,
                                    path_in_repository(request.baselines).generic_string());
  if (options.has("ctest")) std::cout << ctest_measurements(checked.verdict);
  if (keeps && !checked.patch.empty())
    std::cout << "proposed: git apply "
              << shell_word((request.directory / "proposed-baseline.patch").string())
              << ", once it is clear why\n";
  return checked.verdict.exit;
}

}  // namespace

Command check_command() {
  return {
      .name = "check",
      .summary = "Holds measurements against the accepted baselines and the policy: the gate.",
      .operands = "DIR",
      .fewest_operands = 1,
      .most_operands = 1,
      .options =
          {common::baselines,
           common::policy,
           {"baseline-ref", "REF", "judge against the baselines at the merge base with REF"},
           {"require-baseline", "",
            "exit 3 also where nothing decides: no baseline of the class or processor, a "
            "measurement that is invalid, or an environment that moved"},
           {"undecided", "fail|warn", "whether the undecidable fails (exit 4; default) or warns"},
           {"store", "DIR", "the history, whose last runs show whether an improvement lasts"},
           {"again", "DIR",
            "another run of this build: a loss or a gain that it shows too is not chance, a count "
            "that it gives otherwise is undecided",
            true},
           {"confirm", "BUILD",
            "decide suspect times and ratios by timing that build and this one in turn"},
           OptionRow{"budget", "SECONDS",
                     "time for each case on a machine at rest (default 60), plus what other cases "
                     "leave; up to four times as long on a busy one"}
               .beside("confirm"),
           common::unit.beside("confirm"),
           common::only,
           common::device,
           {"expect", "SUITE:DEVICE", "results that must be there", true},
           common::lists,
           {"any-content", "", "look at results of another content than the lists' build"},
           {"quiet", "", "print what blocks, and the summary"},
           {"annotations", "",
            "print what GitHub shows beside the files (by itself where GITHUB_ACTIONS is true)"},
           {"ctest", "", "print the headline numbers as CTest's measurements as well"}},
      .examples =
          "  holdfast check build/release/results\n"
          "  holdfast check results --only=cubed_sphere_swe --device=cuda-dry:sm_90\n"
          "  holdfast check results --baseline-ref=origin/main --require-baseline\n"
          "  holdfast check results --confirm=../base/build/release\n",
      .run = check_verb};
}

}  // namespace holdfast::gate
