// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/again.hpp"

#include <set>

#include "gate/base/shown_text.hpp"
#include "gate/documents/baseline.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/results_root.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

bool is_good(const CaseResult& result, const Results& results) {
  return result.status == "ok" && !is_wrong(result, results.env.device_name);
}

// The good cases of a run.
std::set<std::string> good_cases(const Results& results) {
  std::set<std::string> ids;
  for (const CaseResult& result : results.cases)
    if (is_good(result, results)) ids.insert(result.id);
  return ids;
}

void read_again(const Results& results, const fs::path& root, MeasuredAgain& found) {
  const auto refuse = [&](const std::string& why) {
    return Error(Fault::bad_input, text("--again=", root.string(), ": ", why));
  };
  const std::set<std::string> good = good_cases(results);
  for (const StoredResults& stored : read_all_results(root)) {
    const Results& again = stored.results;
    if (again.suite != results.suite || again.env.device_class != results.env.device_class)
      continue;
    if (again.run.id == results.run.id)
      throw refuse("is the run that is judged; give a second run of the same build");
    if (again.run.content != results.run.content || again.list_hash != results.list_hash)
      throw refuse(
          text("holds ", again.suite, " of another build; measure this one a second time"));
    if (again.env.fingerprint != results.env.fingerprint)
      throw refuse(text("holds ", again.suite,
                        " of another processor, compiler or driver; measure where this run was"));
    if (timed_on(again) != timed_on(results))
      throw refuse(text("holds ", again.suite, " as timed on ", timed_on(again), ", and not on ",
                        timed_on(results), ", so it confirms nothing; measure once more"));
    if (!again.quality.valid || again.quality.throttled.value_or(false) || again.partial)
      throw refuse(text("holds ", again.suite,
                        " as a filtered, invalid or throttled run, which confirms nothing"));
    for (const CaseResult& result : again.cases) {
      if (!is_good(result, again)) {
        if (!good.contains(result.id)) continue;  // this run says the same of it
        throw refuse(text("the case ", result.id, " is '",
                          result.status == "ok" ? "wrong" : result.status,
                          "' there and not in this run; judge that one first: holdfast check ",
                          shell_word(root.string())));
      }
      for (const NamedMetric& metric : named_metrics(result))
        if (metric.measured)
          found[entry_key(result.id, metric.variant, metric.name)]
              .emplace_back(*metric.measured)
              .run = again.run.id;
    }
  }
}

}  // namespace

MeasuredAgain measured_again(const Results& results, const std::vector<fs::path>& again) {
  MeasuredAgain found;
  for (const fs::path& root : again) read_again(results, root, found);
  return found;
}

}  // namespace holdfast::gate
