// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/check.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>

#include "gate/accept/accept.hpp"
#include "gate/accept/ratchet.hpp"
#include "gate/base/git.hpp"
#include "gate/base/numbers.hpp"
#include "gate/base/patch.hpp"
#include "gate/base/process.hpp"
#include "gate/commands/check_state.hpp"
#include "gate/commands/commands.hpp"
#include "gate/commands/common_options.hpp"
#include "gate/compare/confirm.hpp"
#include "gate/documents/aliases.hpp"
#include "gate/documents/baseline_files.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/results_root.hpp"
#include "gate/documents/verdict.hpp"
#include "gate/explain/detectors.hpp"
#include "gate/judge/part.hpp"
#include "gate/measure/gpu_driver.hpp"
#include "gate/report/terminal.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

// The change of the working copy's baseline file that makes it `proposed`.
std::string patch_to(const CheckRequest& request, const CheckState& state, const Part& part,
                     const Baseline& proposed) {
  const std::string relative = baseline_file(part.results.env.device_class, part.results.suite);
  return unified_diff((path_in_repository(request.baselines) / relative).generic_string(),
                      state.bytes_of(relative), baseline_text(proposed));
}

// Where the part fails, all that accepting it would change; else what became better for good. Empty
// where the measurement could not be accepted.
std::string proposed_patch(const CheckRequest& request, const CheckState& state, const Part& part,
                           PartVerdict& found) {
  const Policy policy = state.own_policy().with(part.list.metrics);
  if (!refusals(part.results, part.list, policy, false).empty()) return "";
  const std::optional<Baseline>& existing = request.baseline_ref ? part.proposed : part.baseline;
  if (found.exit != 0) {
    const Acceptable accepted =
        accept(part.results, existing, policy, {.why = "proposed by holdfast check; say why"});
    return accepted.refusals.empty() ? patch_to(request, state, part, accepted.baseline) : "";
  }
  if (!existing) return "";
  const Ratchet better =
      ratchet(part.results, *existing, policy,
              other_runs(part.results, request.store, request.again, state.aliases()));
  for (Row& row : found.rows)
    if (const auto told = better.told.find(entry_key(row.case_id, row.variant, row.metric));
        told != better.told.end() && row.verdict == verdict::improved)
      row.evidence["ratchet"] = told->second;
  if (better.changes.empty()) return "";
  found.notes.push_back(text(plural(better.changes.size(), "improvement"), " of ", part.name(),
                             ": proposed as the next baseline; nothing accepts it by itself"));
  return patch_to(request, state, part, better.baseline);
}

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Why a part does not stand for the whole gate; empty where it does.
std::string shortcoming(const Results& results) {
  if (results.status == "no_device") return "the machine had no such device";
  if (results.partial) return "the run was filtered";
  if (!tier_includes(results.tier, "gate")) return "the run was of the tier " + results.tier;
  return "";
}

void add(const PartVerdict::Gating& part, PartVerdict::Gating& all) {
  all.all += part.all;
  all.unheld += part.unheld;
}

void add_caveat(const std::string& caveat, Verdict& verdict) {
  auto& all = verdict.caveats;
  if (std::find(all.begin(), all.end(), caveat) == all.end()) all.push_back(caveat);
}

// What passed without being held against anything did not do well.
void tell_unheld(const PartVerdict::Gating& counts, const PartVerdict::Gating& times,
                 Verdict& verdict) {
  const std::size_t unheld = counts.unheld + times.unheld;
  if (unheld == 0) return;
  verdict.caveats.push_back(
      counts.unheld == 0 ? text(times.unheld, " of ", times.all, " times and ratios not gated here")
                         : text(unheld, " of ", counts.all + times.all, " values not gated here"));
}

// Of a suite alone, without the build's own word, what it would give its results: its binary's
// hash.
std::optional<std::string> content_of_build(const fs::path& folder, const std::string& suite) {
  if (fs::exists(content_file(folder))) {
    const auto known = read_content(content_file(folder));
    return known ? std::optional(known->content) : std::nullopt;
  }
  if (!fs::is_regular_file(folder / suite)) return std::nullopt;
  return provenance(folder / suite).content;
}

// The results are of the build whose lists they are held against, or say nothing about it.
void refuse_other_content(const CheckRequest& request, const MeasuredPart& part, Verdict& verdict) {
  if (part.no_device()) return;
  const fs::path folder = request.root.lists.value_or(binary_folder());
  const std::string& measured = part.results.run.content;
  const auto built = content_of_build(folder, part.results.suite);
  if (built == measured) return;
  const std::string why =
      built ? text("measured of the content ", readable(measured, ""), ", and the build in ",
                   folder.string(), " is of ", readable(*built, ""))
            : text("nothing tells which content the build is made of: ",
                   content_file(folder).string(), " is not there, or not what a build writes");
  if (!request.any_content)
    throw Error(Fault::incomplete,
                text(part.file.string(), ": ", why, "; measure again: holdfast run ",
                     part.results.suite, " --device=", part.results.env.device_name,
                     " --out=", request.directory.string(), ", or look at it with --any-content"));
  verdict.notes.push_back(text(part.file.string(), ": ", why));
  add_caveat("of another content than the build", verdict);
}

// Of the whole build: what a verdict says nothing about, because nobody measured it.
void tell_unmeasured(const CheckRequest& request, const Root& root, Verdict& verdict) {
  if (!request.whole()) return;
  for (const List& list : root.lists) {
    std::set<std::string> kinds, there;
    for (const ListedCase& listed : list.cases)
      for (const auto& [kind, metrics] : listed.devices) kinds.insert(kind);
    for (const MeasuredPart& part : root.parts)
      if (part.results.suite == list.suite) there.insert(device_kind(part.results.env.device_name));
    for (const std::string& kind : kinds)
      if (!there.contains(kind))
        verdict.not_checked.push_back(
            text(list.suite, " on ", kind, ": there are no results of it"));
  }
  for (const MeasuredPart& part : root.parts)
    if (const Results& results = part.results;
        !part.no_device() && !results.partial && !tier_includes(results.tier, "gate"))
      verdict.not_checked.push_back(text(results.suite, " on ", results.env.device_name,
                                         ": the rest of the gate tier; the run was of the tier ",
                                         results.tier));
}

// Parts that somebody said must be there, and be whole.
void look_for_expected(const CheckRequest& request, const Root& root, Verdict& verdict) {
  for (const std::string& expected : request.expect) {
    const std::size_t colon = expected.find(':');
    if (colon == std::string::npos || colon == 0)
      throw Error(Fault::bad_input,
                  text("--expect=", expected, ": write SUITE:DEVICE, e.g. cubed_sphere_swe:host"));
    const std::string suite = expected.substr(0, colon);
    const std::string device = expected.substr(colon + 1);
    std::string why = "there are no results of it in " + request.directory.string();
    for (const MeasuredPart& part : root.parts)
      if (part.results.suite == suite && part.results.env.device_name == device)
        why = shortcoming(part.results);
    if (why.empty()) continue;
    Row row{.case_id = suite, .device_class = device, .variant = case_variant, .metric = ""};
    row.verdict = verdict::missing;
    row.blocking = true;
    row.sentence = text(suite, " on ", device, ": expected, and ", why);
    row.next =
        text("holdfast run ", suite, " --device=", device, " --out=", request.directory.string());
    verdict.rows.push_back(std::move(row));
    verdict.exit = worse_exit_code(verdict.exit, exit_code(Fault::incomplete));
  }
}

// A GPU's part is excused where the machine has no GPU, and there alone.
Error nothing_there(const CheckRequest& request, const Root& root) {
  const std::string device = request.root.device.value_or("host");
  if (const std::string kind = device_kind(device);
      kind != "host" && kind != "cuda" && kind != "cuda-dry")
    return Error(Fault::bad_input,
                 text("--device=", device, ": the devices are host, cuda and cuda-dry:sm_NN"));
  if (const auto& only = request.root.only; only && root.complete) {
    std::vector<std::string> suites;
    for (const List& list : root.lists) suites.push_back(list.suite);
    if (std::find(suites.begin(), suites.end(), *only) == suites.end()) {
      const auto meant = nearest(*only, suites);
      return Error(Fault::bad_input, text("--only=", *only, ": this build has no such suite; ",
                                          meant ? text("did you mean ", *meant, "?")
                                                : std::string("see holdfast list")));
    }
  }
  const std::string what = text("there are no results in ", request.directory.string(),
                                request.root.only ? " of " + *request.root.only : std::string(),
                                request.root.device ? " on " + device : std::string());
  if (device_kind(device) == "cuda")
    if (const GpuDriver driver = ask_gpu_driver(); !driver.problem.empty())
      return Error(Fault::no_device, text(what, ", and no such device: ", driver.problem));
  return Error(Fault::incomplete,
               text(what, "; measure first: holdfast run ", request.root.only.value_or("SUITE"),
                    " --device=", device, " --out=", request.directory.string()));
}

void write_verdict(const CheckRequest& request, const Checked& checked) {
  write_file(request.directory / "verdict.json", canonical(to_json(checked.verdict)), Sync::no);
  write_file(request.directory / "verdict.md", markdown(checked.verdict), Sync::no);
  write_file(request.directory / "verdict.xml", junit(checked.verdict), Sync::no);
  const fs::path patch = request.directory / "proposed-baseline.patch";
  if (!checked.patch.empty()) {
    write_file(patch, checked.patch, Sync::no);
  } else {
    std::error_code problem;
    fs::remove(patch, problem);  // an older check's, which no longer holds
  }
}

// What stopped the check takes the place of an older verdict, which no longer holds.
void write_refusal(const CheckRequest& request, Fault fault, const std::string& sentence) {
  std::error_code problem;
  if (!request.whole() || fs::is_empty(request.directory, problem) || problem) return;
  try {
    write_verdict(request, {.verdict = {.exit = exit_code(fault), .notes = {sentence}}});
  } catch (const Error&) {
    return;  // the first complaint is the one to tell
  }
}

// Empty where nothing is to be confirmed.
std::optional<ConfirmPlan> confirm_plan(const CheckRequest& request) {
  if (!request.confirm) return std::nullopt;
  const fs::path head = request.root.lists.value_or(binary_folder());
  return ConfirmPlan{.base = base_folder(*request.confirm, head),
                     .head = head,
                     .budget_seconds = request.confirm_budget_seconds,
                     .undecided_fails = request.undecided_fails};
}

// Empty as well where the device executes nothing, so that its counts are exact.
SecondOpinion second_opinion(const std::optional<ConfirmPlan>& plan, const Part& part,
                             const Policy& policy) {
  if (!plan || device_kind(part.results.env.device_name) == "cuda-dry") return {};
  return
      [&plan, &part, &policy](const std::vector<Row*>& suspects, std::vector<std::string>& notes) {
        confirm(*plan, part, policy, suspects, notes);
      };
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
  request.root.only = options.value("only");
  request.root.device = options.value("device");
  if (const auto lists = options.value("lists")) request.root.lists = *lists;
  request.any_content = options.has("any-content");
  request.expect = options.values("expect");
  return request;
}

bool runs_on_github() {
  const char* there = std::getenv("GITHUB_ACTIONS");
  return there && std::string_view(there) == "true";
}

int check_verb(const Options& options) {
  const CheckRequest request = parse_request(options);
  if (request.confirm) catch_interruptions();
  Checked checked;
  try {
    checked = check(request);
  } catch (const Error& error) {
    write_refusal(request, error.fault(), error.what());
    throw;
  } catch (const std::exception& error) {
    write_refusal(request, Fault::bad_input, error.what());
    throw;
  }
  print(checked.verdict, {.color = ::isatty(STDOUT_FILENO) == 1, .quiet = options.has("quiet")},
        std::cout);
  if (options.has("annotations") || runs_on_github())
    std::cout << github_annotations(checked.verdict,
                                    path_in_repository(request.baselines).generic_string());
  if (options.has("ctest")) std::cout << ctest_measurements(checked.verdict);
  if (request.whole()) {
    write_verdict(request, checked);
    if (!checked.patch.empty())
      std::cout << "proposed: git apply "
                << (request.directory / "proposed-baseline.patch").string()
                << ", once it is clear why\n";
  }
  return checked.verdict.exit;
}

}  // namespace

Checked check(const CheckRequest& request) {
  const std::optional<ConfirmPlan> plan = confirm_plan(request);
  const Root root = read_root(request.directory, request.root);
  const CheckState state(request, root);

  Checked checked;
  Verdict& verdict = checked.verdict;
  std::size_t judged = 0;
  PartVerdict::Gating counts, times;
  for (const MeasuredPart& measured : root.parts) {
    refuse_other_content(request, measured, verdict);
    const std::string name = text(measured.results.suite, " on ", measured.results.env.device_name);
    if (measured.no_device()) {
      verdict.not_checked.push_back(text(name, ": no such device (",
                                         measured.results.reason.value_or("no reason given"), ")"));
      continue;
    }
    ++judged;
    Part part{.results = measured.results,
              .list = measured.list,
              .directory = request.directory.string()};
    state.load(part);
    PartVerdict found =
        judge_part(part, state.policy(), request.require_baseline, request.undecided_fails,
                   second_opinion(plan, part, state.policy()));
    checked.patch += proposed_patch(request, state, part, found);
    if (!shortcoming(part.results).empty())
      add_caveat("not all of the gate tier was measured", verdict);
    add(found.counts, counts);
    add(found.times, times);
    verdict.rows.insert(verdict.rows.end(), std::make_move_iterator(found.rows.begin()),
                        std::make_move_iterator(found.rows.end()));
    append(verdict.notes, found.notes);
    append(verdict.not_checked, found.not_checked);
    for (Detection& seen :
         examine(part.results,
                 read_root_profiles(request.directory, part.device_class(), part.results.suite)))
      verdict.findings.push_back(std::move(seen));
    verdict.exit = worse_exit_code(verdict.exit, found.exit);
  }
  state.tell(verdict);
  look_for_expected(request, root, verdict);
  tell_unmeasured(request, root, verdict);
  tell_unheld(counts, times, verdict);
  if (judged == 0 && verdict.exit == 0) {
    if (root.parts.empty()) throw nothing_there(request, root);
    verdict.exit = exit_code(Fault::no_device);
  }
  for (const Row& row : verdict.rows) ++verdict.counts[row.verdict];
  sort_by_severity(verdict.findings);
  return checked;
}

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
           {"require-baseline", "", "a device class without baselines is incomplete (exit 3)"},
           {"undecided", "fail|warn", "whether the undecidable fails (exit 4; default) or warns"},
           {"store", "DIR",
            "the history, whose last runs tell whether an improvement is one for good"},
           {"again", "DIR", "a second run of this build, which tells the same", true},
           {"confirm", "BUILD",
            "decide suspect times and ratios by timing that build and this one in turn"},
           {"budget", "SECONDS", "of a confirmation, for each case (default 60)"},
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
