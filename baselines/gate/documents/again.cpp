// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/again.hpp"

#include "gate/documents/baseline.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/results_root.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

void read_again(const Results& results, const fs::path& root, MeasuredAgain& found) {
  const auto refuse = [&](const std::string& why) {
    return Error(Fault::bad_input, text("--again=", root.string(), ": ", why));
  };
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
      if (result.status != "ok" || is_wrong(result, again.env.device_name)) continue;
      for (const NamedMetric& metric : named_metrics(result))
        if (metric.measured)
          found[entry_key(result.id, metric.variant, metric.name)].push_back(*metric.measured);
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
