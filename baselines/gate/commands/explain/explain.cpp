// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <set>

#include "gate/base/printing.hpp"
#include "gate/base/shown_text.hpp"
#include "gate/commands/commands.hpp"
#include "gate/commands/common_options.hpp"
#include "gate/commands/explain/judged.hpp"
#include "gate/documents/aliases.hpp"
#include "gate/documents/baseline_files.hpp"
#include "gate/documents/beside.hpp"
#include "gate/documents/case_name.hpp"
#include "gate/documents/results_root.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/explain/detectors.hpp"
#include "gate/explain/explain.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

std::size_t count_present(const std::vector<StoredResults>& all) {
  return static_cast<std::size_t>(std::count_if(
      all.begin(), all.end(),
      [](const StoredResults& stored) { return stored.results.status != "no_device"; }));
}

std::vector<std::string> all_ids(const std::vector<StoredResults>& all) {
  std::set<std::string> ids;
  for (const StoredResults& stored : all)
    for (const CaseResult& result : stored.results.cases) ids.insert(result.id);
  return {ids.begin(), ids.end()};
}

CheckRequest request_of(const Options& options) {
  CheckRequest request{.directory = options.operands()[1], .asks_what_may_be_accepted = true};
  request.baselines = options.value_or("baselines", "baselines");
  request.policy = options.value_or("policy", "");
  if (const auto lists = options.value("lists")) request.root.lists = *lists;
  return request;
}

// The base's measurement in the same run; empty where it has none of the case.
std::optional<Results> beside(const fs::path& directory, const Results& results,
                              const std::string& id) {
  const fs::path file = base_side(directory / results.env.device_class, results.suite);
  if (!results.run.beside || !fs::exists(file)) return std::nullopt;
  Results base = read_results(file);
  const CaseResult* found = base.run.id == results.run.id ? base.find(id) : nullptr;
  if (!found || found->status != "ok" || is_wrong(*found, base.env.device_name))
    return std::nullopt;
  return base;
}

// Times and ratios of the base, by what they were compiled with and ran on, and what else the side
// lacks.
void put_beside(const Results& base, const std::string& id, Side& side) {
  const CaseResult& result = *base.find(id);
  for (const NamedMetric& metric : named_metrics(result))
    if (metric.measured && (metric.kind == "time" || metric.kind == "ratio"))
      side.values[{metric.variant, metric.name}] = metric.measured->value;
  Side measured = measured_side(base, result, {});
  side.environment.erase("compiler");
  side.environment.merge(measured.environment);
  side.values.merge(measured.values);
  side.kernels.merge(measured.kernels);
}

// What is said of a result that nothing can be held against; empty of any other.
std::string useless(const CaseResult& result, const std::string& device_name) {
  if (is_wrong(result, device_name)) return "whose own result of it is wrong or was not verified";
  return result.status == "ok" ? "" : text("where it gave no result (", result.status, ")");
}

// The other side's measurement of the case: on the same device class, or on the only one it has.
// Where it is of no use, `why` says so.
std::optional<Side> side_of(const fs::path& folder, const std::vector<StoredResults>& all,
                            const std::string& device_class, const std::string& id,
                            std::string& why) {
  const StoredResults* found = nullptr;
  std::size_t others = 0;
  for (const StoredResults& stored : all) {
    if (!stored.results.find(id)) continue;
    if (stored.results.env.device_class == device_class) {
      found = &stored;
      others = 1;
      break;
    }
    found = &stored;
    ++others;
  }
  if (others > 1) why = text("which has it on ", others, " other classes and not on this one");
  if (others != 1) return std::nullopt;
  const Results& results = found->results;
  const CaseResult& result = *results.find(id);
  if (const std::string because = useless(result, results.env.device_name); !because.empty()) {
    why = because;
    return std::nullopt;
  }
  return measured_side(results, result,
                       read_root_profiles(folder, results.env.device_class, results.suite));
}

// What the gate says of the case. Where it sends its reader here, what follows is to accept.
void add_rows(const Judged& judged, const Part& part, Evidence& made) {
  for (const Row& row : judged.rows) {
    if (row.case_id != made.case_id || row.device_class != made.device_class ||
        !is_about(made.result, row))
      continue;
    made.rows.push_back(row);
    const bool timed = row.kind == "time" || row.kind == "ratio";
    if (row.next && row.next->starts_with("holdfast explain"))
      made.rows.back().next =
          part.accept_command(timed && row.verdict == verdict::drift ? " --new-anchor" : "");
  }
}

// Times the case in this build and the one before it in turn.
std::string compare_command(const Options& options, const Part& part, const std::string& id) {
  const std::string& suite = part.results.suite;
  const auto build = options.value("lists");
  return text("holdfast ab BASE/bin/", suite, ' ',
              build ? shell_word((fs::path(*build) / suite).string()) : suite,
              " --device=", part.results.env.device_name,
              part.results.tier == "gate" ? "" : " --tier=" + part.results.tier,
              " --filter=", shell_word(pattern_of(id)));
}

// Measures the case where it is missed; only the user knows where the build of that folder is.
std::string measure_there(Part part, const std::string& folder) {
  part.directory = folder;
  part.given = {.lists = "BASE/bin"};
  part.results.run.base.reset();
  return part.run_again();
}

Evidence compare_case(const Options& options, const CheckRequest& request, const Part& part,
                      const CaseResult& result, const Judged& judged) {
  const fs::path& directory = request.directory;
  const Results& results = part.results;
  const std::string& device_class = results.env.device_class;
  const std::vector<Profile> profiles = read_root_profiles(directory, device_class, results.suite);
  Evidence made{.case_id = result.id,
                .device_class = device_class,
                .device_name = results.env.device_name,
                .run_again = part.run_again() + " --profile",
                .profile = text("holdfast profile ", results.suite, ' ', result.id,
                                " --device=", results.env.device_name, request.given().measuring(),
                                " --out=profile"),
                .accept = part.accept_command(),
                .compare = compare_command(options, part, result.id),
                .now = measured_side(results, result, profiles),
                .result = result,
                .quality = results.quality,
                .ceilings = results.ceilings};
  for (const std::string& note : judged.notes)
    if (judged.about_all || note.find(results.suite + " on " + device_class) != std::string::npos)
      made.notes.push_back(note);
  add_rows(judged, part, made);
  for (Detection& seen : examine(results, profiles, part.list))
    if (seen.case_id == result.id) made.findings.push_back(std::move(seen));
  if (const auto other = options.value("against")) {
    made.against = *other;
    made.untimed = "no time in " + *other;
    made.before = side_of(*other, read_all_results(*other), device_class, result.id, made.absent);
    if (!made.before) made.accept = measure_there(part, *other);
    return made;
  }
  const fs::path& baselines = request.baselines;
  const std::string place = baseline_file(device_class, results.suite);
  made.against = text("the baseline ", (baselines / place).string());
  made.untimed = text("no accepted time", is_host_class(device_class) ? " of this processor" : "");
  if (auto baseline = read_baseline_if_any(Store(baselines, Store::Use::reading), place)) {
    Aliases::read(baselines).rename(*baseline);
    Side side = baseline_side(judged_by(results, std::move(*baseline)), result.id);
    if (!side.values.empty()) made.before = std::move(side);
  }
  if (const auto base = beside(directory, results, result.id)) {
    const std::string rest =
        made.before ? ", and, of what is neither a time nor a ratio, " + made.against : "";
    if (!made.before) made.before.emplace();
    put_beside(*base, result.id, *made.before);
    made.against = text("the base beside it (",
                        base_side(directory / device_class, results.suite).string(), ")", rest);
  }
  return made;
}

void print(const Evidence& evidence) {
  std::cout << evidence.case_id << "  " << evidence.device_class << "\nagainst " << evidence.against
            << (evidence.before ? "" : ", " + evidence.absent) << "\n\n";
  std::size_t step = 0;
  for (const Rung& rung : printing().quiet ? std::vector<Rung>() : ladder(evidence)) {
    std::string left = text(++step, " ", rung.name);
    left.resize(15, ' ');
    for (const std::string& line : rung.lines) {
      std::cout << left << line << "\n";
      left.assign(15, ' ');
    }
  }
  if (step > 0) std::cout << "\n";
  std::string word = "cause";
  std::set<std::string> commands;
  std::string next;
  for (const Cause& cause : causes(evidence)) {
    word.resize(15, ' ');
    std::cout << toned(Tone::warning, word) << cause.sentence << "\n";
    word = "and";
    if (commands.insert(cause.next).second) next += text("next           ", cause.next, "\n");
  }
  for (const Row& row : evidence.rows)
    if ((row.blocking || row.verdict == verdict::drift) && row.next &&
        commands.insert(*row.next).second)
      next += text("or             ", *row.next, "\n");
  std::cout << next;
}

int explain(const Options& options) {
  const CheckRequest request = request_of(options);
  const fs::path& directory = request.directory;
  if (const auto device = options.value("device")) require_device(*device);
  if (!fs::exists(directory) && fs::is_directory(options.operands()[0]))
    throw Error(Fault::bad_input,
                text("the case comes first: holdfast explain ", shell_word(directory.string()), ' ',
                     shell_word(options.operands()[0])));
  if (!options.has("against"))
    require_folder(request.baselines, "name the accepted baselines with --baselines");
  const std::vector<StoredResults> all = read_all_results(directory);
  const std::string id = resolve_case(options.operands()[0], all_ids(all), directory.string());
  Judged judged = options.has("against") ? Judged{} : judge(request);
  std::size_t shown = 0;
  for (const StoredResults& stored : all) {
    const CaseResult* result = stored.results.find(id);
    const auto device = options.value("device");
    if (!result || (device && stored.results.env.device_name != *device)) continue;
    if (shown++ > 0) std::cout << "\n";
    if (!options.has("against")) keep_rows_beside(directory, stored.results, *result, judged);
    const std::string place = baseline_file(stored.results.env.device_class, stored.results.suite);
    const Part part{.results = stored.results,
                    .list = list_beside(stored),
                    .directory = directory.string(),
                    .given = request.given(),
                    .is_alone = count_present(all) == 1,
                    .may_be_accepted = [&] { return judged.acceptable.contains(place); }};
    print(compare_case(options, request, part, *result, judged));
  }
  if (shown == 0)
    throw Error(Fault::bad_input, text(directory.string(), " has no results of ", id,
                                       " on --device=", options.value_or("device", "")));
  return 0;
}

}  // namespace

Command explain_command() {
  return {
      .name = "explain",
      .summary = "Explains one case: the evidence, rung by rung, a cause, and the next command.",
      .operands = "CASE DIR",
      .fewest_operands = 2,
      .most_operands = 2,
      .options = {{"against", "DIR", "compare with these results instead of the baseline"},
                  common::device,
                  common::baselines,
                  common::policy,
                  common::lists},
      .examples =
          "  holdfast explain cubed_sphere_swe/rk4_step/n:48/f64 build/release/results\n"
          "  holdfast explain rk4_step/n:48/f64 results --against=results.before "
          "--device=cuda-dry:sm_90\n",
      .run = explain};
}

}  // namespace holdfast::gate
