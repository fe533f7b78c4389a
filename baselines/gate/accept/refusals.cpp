// SPDX-License-Identifier: Apache-2.0
#include "gate/accept/refusals.hpp"

#include <algorithm>

#include "gate/base/numbers.hpp"
#include "gate/documents/measured.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/unrequested.hpp"
#include "gate/documents/verdict_names.hpp"

namespace holdfast::gate {
namespace {

constexpr Fault incomplete = Fault::incomplete;

using Refusals = std::vector<Refusal>;

void refuse(Refusals& found, Fault fault, const std::string& why) {
  found.push_back({.exit = exit_code(fault), .why = why});
}

void of_run(const Results& results, bool counts_only, Refusals& found) {
  if (results.partial) refuse(found, incomplete, "the run was filtered; run the whole suite");
  if (!tier_includes(results.tier, "gate"))
    refuse(found, incomplete,
           text("the run was of the tier ", results.tier, "; baselines hold the gate tier"));
  if (!results.run.custom.empty())
    refuse(found, incomplete, text("the run was custom (", results.run.custom.front(), " ...)"));
  if (results.run.sources)
    refuse(found, incomplete,
           text("its device code came from HOLDFAST_SOURCES=", *results.run.sources,
                ", not from the build"));
  if (counts_only) return;
  const auto& quality = results.quality;
  if (!quality.valid)
    for (const std::string& reason : quality.reasons)
      refuse(found, incomplete, text("the measurement is invalid: ", reason));
  if (!quality.valid && quality.reasons.empty())
    refuse(found, incomplete, "the measurement is invalid");
  if (quality.throttled.value_or(false)) refuse(found, incomplete, "the device was throttled");
}

struct RatiosAsked {
  bool bootstrap = false;
  bool counts_only = false;
};

void of_metric(const NamedMetric& metric, const std::string& name, const Standard& standard,
               const RatiosAsked& asked, Refusals& found) {
  const auto* value = std::get_if<double>(&metric.measured->value);
  if (standard.impossible_above && value && *value > *standard.impossible_above)
    refuse(found, Fault::regression,
           text(name, " is ", readable(*value, standard.unit), ", which no hardware allows"));
  if (standard.kind != "ratio" || standard.gate == Gate::off || !value || asked.counts_only) return;
  if (metric.measured->processes < enough_processes && !asked.bootstrap)
    refuse(found, Fault::undecided,
           text(name, " comes from ", metric.measured->processes, " of the ", enough_processes,
                " processes it needs",
                metric.measured->processes > 0 ? " (--bootstrap takes it all the same)" : ""));
}

// Whether the policy knows why the case was skipped, as a check asks.
bool is_excused(const Results& results, const CaseResult& result, const Policy& policy) {
  return result.status == "skipped" &&
         policy.absence(results.env.device_class, "", result.reason.value_or(""));
}

void of_case(const Results& results, const CaseResult& result, const Policy& policy,
             const RatiosAsked& asked, Refusals& found) {
  if (is_wrong(result, results.env.device_name))
    refuse(found, Fault::regression, text(result.id, ": the result is wrong or was not verified"));
  else if (result.status != "ok" && !is_excused(results, result, policy))
    refuse(found, incomplete, text(result.id, ": ", result.status));
  for (const NamedMetric& metric : named_metrics(result))
    if (metric.name != kernels_metric && metric.measured)
      of_metric(metric, text(result.id, " ", metric.variant, ": ", metric.name),
                policy.standard(result.id, results.env.device_class, metric.variant, metric.name,
                                metric.kind),
                asked, found);
}

// Refuses a metric that has a reason in place of its value, unless the policy knows that reason.
void refuse_blank(const CaseResult& result, const std::vector<std::string>& listed,
                  const std::string& device_class, const Policy& policy, Refusals& found) {
  for (const NamedMetric& metric : named_metrics(result)) {
    const std::string asking = policy.on_request(metric.name);
    if (metric.measured || std::find(listed.begin(), listed.end(), metric.name) == listed.end() ||
        (!asking.empty() && (metric.kind == "advisory" || is_unrequested(metric.reason, asking))) ||
        policy.absence(device_class, metric.name, metric.reason))
      continue;
    refuse(found, incomplete,
           text(result.id, " ", metric.variant, ": ", metric.name,
                " is listed and was not measured: ", metric.reason));
  }
}

// A run that is not a whole gate tier is already refused by of_run().
void of_list(const Results& results, const List& list, const Policy& policy, Refusals& found) {
  if (results.partial || !tier_includes(results.tier, "gate")) return;
  const std::string kind = device_kind(results.env.device_name);
  for (const ListedCase& listed : list.cases) {
    const auto here = listed.devices.find(kind);
    if (here == listed.devices.end() || !tier_includes("gate", listed.tier)) continue;
    const CaseResult* result = results.find(listed.id);
    if (!result) {
      refuse(found, incomplete, text(listed.id, " is listed and was not measured"));
    } else if (result->tier != listed.tier) {
      refuse(
          found, Fault::bad_input,
          text(listed.id, " is of the tier ", result->tier, ", and its list says ", listed.tier));
    } else if (result->status == "ok") {
      refuse_blank(*result, here->second, results.env.device_class, policy, found);
      for (const std::string& name : lost_metrics(named_metrics(*result), here->second))
        refuse(found, incomplete, text(listed.id, ": ", name, " is listed and was not measured"));
    }
  }
}

}  // namespace

std::vector<Refusal> refusals(const Results& results, const List& list, const Policy& policy,
                              bool bootstrap, bool counts_only) {
  Refusals found;
  of_run(results, counts_only, found);
  for (const CaseResult& result : results.cases)
    of_case(results, result, policy, {.bootstrap = bootstrap, .counts_only = counts_only}, found);
  of_list(results, list, policy, found);
  if (!found.empty() && !counts_only && refusals(results, list, policy, bootstrap, true).empty())
    for (Refusal& refusal : found) refusal.why += counts_remain;
  return found;
}

}  // namespace holdfast::gate
