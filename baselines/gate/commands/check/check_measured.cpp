// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/check/check_measured.hpp"

#include <algorithm>
#include <set>

#include "gate/base/shown_text.hpp"
#include "gate/documents/beside.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/row_sentence.hpp"
#include "gate/measure/gpu_driver.hpp"

namespace holdfast::gate {
namespace {

std::string why_other_content(const CheckRequest& request, const Results& results) {
  return other_content(request.root.lists.value_or(binary_folder()), results.suite,
                       results.run.content);
}

bool is_device(const std::string& name) {
  return name == "host" || device_kind(name) == "cuda" || name.starts_with("cuda-dry:sm_");
}

}  // namespace

std::string measure_command(const CheckRequest& request, const std::string& suite,
                            const std::string& device) {
  return text("holdfast run ", suite, " --device=", device, request.given().measuring(),
              " --out=", shell_word(request.directory.string()));
}

std::string shortcoming(const Results& results) {
  if (results.status == "no_device") return "the machine had no such device";
  if (results.partial) return "the run was filtered";
  if (!tier_includes(results.tier, "gate")) return "the run was of the tier " + results.tier;
  return "";
}

std::string no_answer(const Results& results) {
  const std::string why = shortcoming(results);
  return why.empty() && results.run.sources ? "its device code was not the build's" : why;
}

void add_caveat(const std::string& caveat, Verdict& verdict) {
  auto& all = verdict.caveats;
  if (std::find(all.begin(), all.end(), caveat) == all.end()) all.push_back(caveat);
}

bool is_of_build(const CheckRequest& request, const Results& results) {
  return why_other_content(request, results).empty();
}

void refuse_other_content(const CheckRequest& request, const MeasuredPart& part, Verdict& verdict) {
  if (part.no_device()) return;
  const std::string why = why_other_content(request, part.results);
  if (why.empty()) return;
  if (!request.any_content)
    throw Error(Fault::incomplete,
                text(part.file.string(), ": ", why, "; measure again: ",
                     measure_command(request, part.results.suite, part.results.env.device_name),
                     ", or look at it with --any-content"));
  verdict.notes.push_back(text(part.file.string(), ": ", why));
  add_caveat("of another content than the build", verdict);
}

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

void tell_lost_by_base(const Part& part, Verdict& verdict) {
  const Results& results = part.results;
  const auto tell = [&](const std::string& what, const std::string& why) {
    verdict.not_checked.push_back(text(what, ": beside the base, which ", why));
    add_caveat("not all was held against the base", verdict);
  };
  if (results.run.base && !results.run.beside)
    tell(part.name(), text("brought no result; measure both again: ", part.run_again()));
  if (!results.run.beside) return;
  const std::filesystem::path folder = std::filesystem::path(part.directory) / part.device_class();
  for (const CaseResult& lost : read_results(base_side(folder, results.suite)).cases)
    if (is_wrong(lost, results.env.device_name))
      tell(text(lost.id, " on ", part.device_class()), "was wrong or was not verified");
    else if (lost.status != "ok" && lost.status != "skipped")
      tell(text(lost.id, " on ", part.device_class()),
           text("lost it (", lost.status, "): ", lost.reason.value_or("no reason given")));
}

void miss(const std::string& suite, const std::string& device, const std::string& because,
          const std::string& next, Verdict& verdict) {
  Row row{.case_id = suite, .device_class = device, .variant = case_variant, .metric = ""};
  row.verdict = verdict::missing;
  row.blocking = true;
  say(row, because);
  row.next = next;
  verdict.rows.push_back(std::move(row));
  verdict.exit = worse_exit_code(verdict.exit, exit_code(Fault::incomplete));
}

void look_for_expected(const CheckRequest& request, const Root& root, Verdict& verdict) {
  for (const std::string& expected : request.expect) {
    const std::size_t colon = expected.find(':');
    if (colon == std::string::npos || colon == 0 || !is_device(expected.substr(colon + 1)))
      throw Error(Fault::bad_input, text("--expect=", expected,
                                         ": write SUITE:DEVICE, e.g. cubed_sphere_swe:host or "
                                         "cubed_sphere_swe:cuda-dry:sm_90"));
    const std::string suite = expected.substr(0, colon);
    const std::string device = expected.substr(colon + 1);
    std::string why = "there are no results of it in " + request.directory.string();
    for (const MeasuredPart& part : root.parts)
      if (part.results.suite == suite && part.results.env.device_name == device)
        why = no_answer(part.results);
    if (why.empty()) continue;
    miss(suite, device, "expected, and " + why, measure_command(request, suite, device), verdict);
  }
}

Error nothing_there(const CheckRequest& request) {
  const std::string device = request.root.device.value_or("host");
  const std::string what = text("there are no results in ", request.directory.string(),
                                request.root.only ? " of " + *request.root.only : std::string(),
                                request.root.device ? " on " + device : std::string());
  if (device_kind(device) == "cuda")
    if (const GpuDriver driver = ask_gpu_driver(); !driver.problem.empty())
      return Error(Fault::no_device, text(what, ", and no such device: ", driver.problem));
  return Error(Fault::incomplete,
               text(what, "; measure first: ",
                    measure_command(request, request.root.only.value_or("SUITE"), device)));
}

}  // namespace holdfast::gate
