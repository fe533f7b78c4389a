// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "gate/accept/accept.hpp"
#include "gate/accept/listed.hpp"
#include "gate/accept/prune.hpp"
#include "gate/base/numbers.hpp"
#include "gate/base/printing.hpp"
#include "gate/base/shown_text.hpp"
#include "gate/base/store.hpp"
#include "gate/commands/commands.hpp"
#include "gate/commands/common_options.hpp"
#include "gate/documents/aliases.hpp"
#include "gate/documents/baseline_files.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/case_name.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/results_root.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

struct Plan {
  std::string place = {};  // in the store
  fs::path file = {};
  Meanings listed = {};  // what the suite's metrics are
  std::optional<Baseline> existing = {};
  std::map<std::string, std::string> renamed = {};  // present ids of cases, by their old ones
  Acceptable accepted = {};
};

std::map<std::string, std::string> renamed_cases(const Baseline& existing, const Aliases& aliases) {
  std::map<std::string, std::string> renamed;
  for (const auto& [processor, entries] : by_processor(existing))
    for (const auto& [key, entry] : *entries) {
      const std::string id = entry_name(key).case_id;
      if (const std::string now = aliases.current(id); now != id) renamed[id] = now;
    }
  return renamed;
}

RootOptions root_options(const Options& options) {
  RootOptions root{.only = options.value("only"), .device = options.value("device")};
  if (const auto lists = options.value("lists")) root.lists = *lists;
  return root;
}

// The number of entries, including those that are removed.
std::string entries_of(const Plan& plan) {
  const auto& changes = plan.accepted.changes;
  const auto gone = std::count_if(changes.begin(), changes.end(),
                                  [](const Change& change) { return !change.after; });
  const std::size_t count = count_entries(plan.accepted.baseline) + std::size_t(gone);
  return text(count, count == 1 ? " entry" : " entries");
}

// Entries that take another name change no value.
std::string renamings_of(const Plan& plan, std::string_view verb) {
  return plan.renamed.empty() ? "" : text(", ", plural(plan.renamed.size(), "case"), verb);
}

// A change without a '|' in its key concerns a metric's meaning, before and after.
void print_changes(const Plan& plan, std::ostream& out) {
  for (const auto& [old, now] : plan.renamed) out << "  " << old << " -> " << now << "\n";
  for (const Change& change : plan.accepted.changes) {
    const bool of_entry = change.key.find('|') != std::string::npos;
    const std::string unit = unit_of(plan.listed, metric_of(change.key));
    const auto shown = [&](const std::optional<Value>& value) {
      if (!value) return std::string("none");
      return of_entry ? readable(*value, unit) : std::get<std::string>(*value);
    };
    auto told = std::pair(shown(change.before), shown(change.after));
    if (of_entry && change.before && change.after)
      told = told_apart(*change.before, *change.after, unit);
    out << "  " << change.key << "  " << told.first << " -> " << told.second
        << (change.asks_why.empty() ? "" : text("  (", change.asks_why, ")")) << "\n";
  }
}

void print_left_out(const Plan& plan, std::ostream& out) {
  for (const std::string& run : plan.accepted.left_out) out << "  left out: " << run << "\n";
}

// An entry that nobody measures keeps its value, but not under another compiler.
void refuse_stale(const Plan& plan, const Results& results, const Policy& policy) {
  if (!plan.existing || plan.existing->fingerprint.compiler == results.env.compiler) return;
  for (const CaseResult& result : results.cases)
    for (const NamedMetric& metric : named_metrics(result)) {
      const std::string asking = policy.on_request(metric.name);
      if (metric.measured || asking.empty() ||
          !plan.existing->entries.contains(entry_key(result.id, metric.variant, metric.name)))
        continue;
      throw Error(
          Fault::incomplete,
          text("the accepted ", metric.name, " of ", result.id, " are of another compiler (",
               plan.existing->fingerprint.compiler.value_or("none"), ", now ",
               results.env.compiler.value_or("none"), "); measure again with ", asking));
    }
}

// The policy, if a check takes it.
Policy judging_policy(const Options& options, const fs::path& baselines, const Root& root) {
  const Policy policy = read_policy(baselines, options);
  expect_rules(baselines, policy_folder(baselines, options));
  policy.check_against(root.lists, root.complete,
                       Store(baselines, Store::Use::reading).places("devices/", ".json"));
  return policy;
}

struct PlanOptions {
  std::string why = {};
  Anchor anchor = Anchor::kept;
  std::vector<Root> again = {};  // other runs of the same build
  bool counts_only = false;
};

std::vector<Root> other_roots(const Options& options) {
  std::vector<Root> roots;
  for (const std::string& again : options.values("again"))
    roots.push_back(read_root(again, root_options(options)));
  return roots;
}

// The run of `part` in each of the roots `again`.
std::vector<Results> other_runs_of(const MeasuredPart& part, const std::vector<Root>& again) {
  const Results& results = part.results;
  std::vector<Results> found;
  std::set<std::string> ids = {results.run.id};
  for (const Root& root : again) {
    const auto other =
        std::find_if(root.parts.begin(), root.parts.end(), [&](const MeasuredPart& one) {
          return !one.no_device() && one.results.suite == results.suite &&
                 one.results.env.device_class == results.env.device_class;
        });
    const auto refuse = [&](const auto&... why) {
      throw Error(Fault::bad_input,
                  text("--again: the other run of ", results.suite, " on ",
                       results.env.device_class, ' ', why..., "; give runs of one build"));
    };
    if (other == root.parts.end()) refuse("is not in its folder");
    const Results& run = other->results;
    if (!ids.insert(run.run.id).second) refuse("is given twice, ", run.run.id);
    if (run.run.content != results.run.content || run.list_hash != results.list_hash)
      refuse(run.run.id, " is of other code");
    if (run.env.fingerprint != results.env.fingerprint)
      refuse(run.run.id, " is of another processor, compiler or driver");
    found.push_back(run);
  }
  return found;
}

std::vector<Plan> make_plans(const fs::path& directory, const Store& store, const Root& root,
                             const Policy& policy, const PlanOptions& options) {
  const Aliases aliases = Aliases::read(store.folder());
  aliases.check_against(root.lists, root.complete);
  std::vector<Plan> plans;
  std::size_t without_device = 0;
  for (const MeasuredPart& part : root.parts) {
    if (part.no_device()) {
      ++without_device;
      continue;
    }
    Plan plan{.place = baseline_file(part.results.env.device_class, part.results.suite),
              .listed = part.list.metrics};
    plan.file = store.folder() / plan.place;
    plan.existing = read_baseline_if_any(store, plan.place);
    if (!plan.existing)
      expect_tracked(store.folder(), [&](const fs::path& file) { return file == plan.place; });
    if (plan.existing) {
      plan.renamed = renamed_cases(*plan.existing, aliases);
      aliases.rename(*plan.existing);
    }
    refuse_stale(plan, part.results, policy);
    plan.accepted = accept(part.results, plan.existing, policy.with(part.list.metrics),
                           {.why = options.why,
                            .anchor = options.anchor,
                            .again = other_runs_of(part, options.again),
                            .unmeasured = unmeasured_cases(part.results, part.list),
                            .counts_only = options.counts_only});
    accept_listed(part.results, part.list, policy.with(part.list.metrics), plan.existing,
                  options.why, plan.accepted);
    plans.push_back(std::move(plan));
  }
  if (!plans.empty()) return plans;
  if (without_device > 0)
    throw Error(Fault::no_device,
                text("the machine had no device for anything in ", directory.string()));
  throw Error(Fault::incomplete,
              text("there are no results in ", directory.string(), " to accept"));
}

// All or nothing: one part that must not be accepted keeps the others out as well.
int refuse(const Root& root, const Policy& policy, const fs::path& lists, bool bootstrap,
           bool counts_only) {
  int exit = 0;
  for (const MeasuredPart& part : root.parts) {
    if (part.no_device()) continue;
    std::vector<Refusal> found =
        refusals(part.results, part.list, policy.with(part.list.metrics), bootstrap, counts_only);
    // A baseline must come from the code that it is stored with.
    if (const std::string why = other_content(lists, part.results.suite, part.results.run.content);
        !why.empty())
      found.push_back(
          {.exit = exit_code(Fault::incomplete), .why = why + "; build and measure again"});
    for (const Refusal& refusal : found) {
      std::cerr << "holdfast: not accepted: " << part.results.suite << " on "
                << part.results.env.device_class << " ("
                << part.file.parent_path().parent_path().string() << "): " << refusal.why << "\n";
      exit = worse_exit_code(exit, refusal.exit);
    }
  }
  return exit;
}

// Prints why the plan's entries are refused and returns the worst exit code; 0 if none is.
int told_refusals(const Plan& plan) {
  int exit = 0;
  for (const Refusal& refusal : plan.accepted.refusals) {
    std::cerr << "holdfast: not accepted: " << refusal.why << "\n";
    exit = worse_exit_code(exit, refusal.exit);
  }
  return exit;
}

std::string given_reason(const Options& options) {
  const std::string why = options.value_or("why", "");
  if (options.has("why") && as_seen(why).empty())
    throw Error(Fault::bad_input, "--why holds nothing that can be read; give a reason");
  return shown_text(why);  // as the baseline reads it back, so that accepting again changes nothing
}

int accept_verb(const Options& options, const fs::path& directory, const fs::path& baselines) {
  const Root root = read_root(directory, root_options(options));
  const Policy policy = judging_policy(options, baselines, root);
  const fs::path lists = options.value_or("lists", binary_folder().string());
  const PlanOptions planned{.why = given_reason(options),
                            .anchor = options.has("new-anchor") ? Anchor::here : Anchor::kept,
                            .again = other_roots(options),
                            .counts_only = options.has("counts-only")};
  int refused = refuse(root, policy, lists, options.has("bootstrap"), planned.counts_only);
  for (const Root& again : planned.again)
    refused = worse_exit_code(
        refused, refuse(again, policy, lists, options.has("bootstrap"), planned.counts_only));
  if (refused != 0) return refused;
  Store store(baselines, Store::Use::writing);
  const std::vector<Plan> plans = make_plans(directory, store, root, policy, planned);
  for (const Plan& plan : plans) refused = worse_exit_code(refused, told_refusals(plan));
  if (refused != 0) return refused;
  for (const Plan& plan : plans) {
    const auto& changes = plan.accepted.changes;
    const auto asking = std::find_if(changes.begin(), changes.end(),
                                     [](const Change& change) { return !change.asks_why.empty(); });
    if (asking == changes.end() || !planned.why.empty()) continue;
    print_changes(plan, std::cerr);
    throw Error(Fault::bad_input, text("accepting this changes ", asking->key, " (",
                                       asking->asks_why, "), which needs a reason: --why=\"...\""));
  }
  std::ostringstream told;
  for (const Plan& plan : plans) {
    const std::string content = baseline_text(plan.accepted.baseline);
    if (plan.existing && read_file(plan.file) == content) {
      told << plan.file.string() << ": nothing to change\n";
      if (!printing().quiet) print_left_out(plan, told);
      continue;
    }
    store.write(plan.place).append(content);
    told << plan.file.string() << ": " << plan.accepted.changes.size() << " of " << entries_of(plan)
         << " changed" << renamings_of(plan, " renamed") << "\n";
    if (!plan.existing || printing().quiet) continue;
    print_changes(plan, told);
    print_left_out(plan, told);
  }
  store.publish();
  tell_done(told.str());
  return 0;
}

int diff_verb(const Options& options, const fs::path& directory, const fs::path& baselines) {
  const Root root = read_root(directory, root_options(options));
  const Policy policy = judging_policy(options, baselines, root);
  const std::vector<Plan> plans = make_plans(directory, Store(baselines, Store::Use::reading), root,
                                             policy, {.again = other_roots(options)});
  const std::filesystem::path lists = options.value_or("lists", binary_folder().string());
  (void)refuse(root, policy, lists, true, false);
  for (const Plan& plan : plans) {
    std::cout << plan.file.string() << ": " << plan.accepted.changes.size() << " of "
              << entries_of(plan) << " would change" << renamings_of(plan, " would be renamed")
              << "\n";
    if (!printing().quiet) {
      print_changes(plan, std::cout);
      print_left_out(plan, std::cout);
    }
    (void)told_refusals(plan);
  }
  return 0;
}

std::vector<Baseline> all_baselines(const fs::path& baselines) {
  const Store store(baselines, Store::Use::reading);
  std::vector<Baseline> all;
  for (const std::string& place : store.places("devices/", ".json"))
    all.push_back(*read_baseline_if_any(store, place));
  return all;
}

// Prints the entries of the case `wanted`, or all where it is empty.
void show_entries(const std::string& whose, const Entries& entries, const std::string& wanted,
                  const Meanings& metrics) {
  for (const auto& [key, entry] : entries) {
    if (!wanted.empty() && !key.starts_with(wanted + '|')) continue;
    const std::string unit = unit_of(metrics, metric_of(key));
    std::cout << whose << "  " << key << "  " << readable(entry.value, unit);
    if (entry.accepted.previous)
      std::cout << " (before: " << readable(*entry.accepted.previous, unit) << ")";
    if (is_timed(entry)) std::cout << "  " << plural(entry.medians.size(), "run");
    std::cout << "  " << entry.accepted.utc << "  " << entry.accepted.why << "\n";
  }
}

// The case that a unique part of its id names; empty if none is asked for.
std::string meant_case(const std::string& word, const std::vector<Baseline>& all) {
  std::set<std::string> ids;
  for (const Baseline& baseline : all)
    for (const auto& [processor, entries] : by_processor(baseline))
      for (const auto& [key, entry] : *entries) ids.insert(entry_name(key).case_id);
  return word.empty() ? word : resolve_case(word, {ids.begin(), ids.end()}, "what is accepted");
}

int show_verb(const Options& options, const std::string& word, const fs::path& baselines) {
  require_folder(baselines / "devices", "name the accepted baselines with --baselines");
  const auto device_class = options.value("device-class");
  std::vector<Baseline> all = all_baselines(baselines);
  if (device_class)
    std::erase_if(all, [&](const Baseline& one) { return one.device_class != *device_class; });
  if (device_class && all.empty())
    throw Error(Fault::bad_input, text("no baseline of the class ", *device_class,
                                       " is kept; holdfast baseline show lists all"));
  const std::string wanted = meant_case(word, all);
  for (const Baseline& baseline : all)
    for (const auto& [processor, entries] : by_processor(baseline))
      show_entries(text(baseline.device_class, processor.empty() ? "" : " ", processor), *entries,
                   wanted, baseline.metrics);
  return 0;
}

int baseline_verb(const Options& options) {
  const std::string& verb = options.operands().front();
  const fs::path baselines = options.value_or("baselines", "baselines");
  const bool has_operand = options.operands().size() > 1;
  if (verb == "show")
    return show_verb(options, has_operand ? options.operands()[1] : "", baselines);
  if (verb == "prune") {
    if (has_operand)
      throw Error(Fault::bad_input,
                  "holdfast baseline prune takes no DIR: it asks the build's lists");
    return prune({.baselines = baselines,
                  .lists = options.value_or("lists", binary_folder().string()),
                  .suite = options.value_or("only", ""),
                  .device_class = options.value_or("device-class", ""),
                  .write = options.has("yes")});
  }
  if (verb != "accept" && verb != "diff")
    throw Error(Fault::bad_input, text("holdfast baseline has no verb '", verb,
                                       "'; it has accept, show, diff and prune"));
  if (!has_operand)
    throw Error(Fault::bad_input, text("holdfast baseline ", verb, " needs DIR, a results root"));
  const fs::path directory = options.operands()[1];
  refuse_class_folder(directory, text("holdfast baseline ", verb));
  return verb == "accept" ? accept_verb(options, directory, baselines)
                          : diff_verb(options, directory, baselines);
}

constexpr OptionRow of_accept(const OptionRow& row) {
  return row.of("accept");
}

}  // namespace

Command baseline_command() {
  return {
      .name = "baseline",
      .summary =
          "Accepts measurements as baselines, shows them, tells what accepting would change, "
          "prunes.",
      .operands = "accept DIR | show [CASE] | diff DIR | prune",
      .fewest_operands = 1,
      .most_operands = 2,
      .options =
          {of_accept({"why", "TEXT", "the reason, which a worsening needs"}),
           OptionRow{"again", "DIR", "another run of this build, whose times count too", true}.of(
               "accept, diff"),
           of_accept({"bootstrap", "", "ratios from fewer than five processes too"}),
           of_accept({"counts-only", "",
                      "counts, bytes, instructions and codegen alone, as from a busy "
                      "machine: times and ratios stay as they are"}),
           of_accept({"new-anchor", "", "measure drift from these values on, as at a release"}),
           OptionRow{"yes", "", "remove unlisted entries instead of only listing them"}.of("prune"),
           common::baselines, common::policy, common::only.of("accept, diff, prune"),
           common::device.of("accept, diff"),
           OptionRow{"device-class", "CLASS", "that class alone"}.of("show, prune"), common::lists},
      .examples =
          "  holdfast baseline accept build/release/results --why=\"one kernel per stage\"\n"
          "  holdfast baseline accept run1 --again=run2 --again=run3 --again=run4 "
          "--again=run5\n"
          "  holdfast baseline show cubed_sphere_swe/rk4_step/n:48/f64\n"
          "  holdfast baseline diff build/release/results\n"
          "  holdfast baseline prune --yes\n",
      .run = baseline_verb};
}

}  // namespace holdfast::gate
