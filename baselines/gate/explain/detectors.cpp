// SPDX-License-Identifier: Apache-2.0
#include "gate/explain/detectors.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "gate/explain/symptoms.hpp"

namespace holdfast::gate {
namespace {

Detection finding(const Sighting& seen, const Detector& detector, const Symptom& symptom) {
  return {.case_id = seen.case_id,
          .device_class = seen.device_class,
          .variant = seen.variant,
          .detector = detector.name,
          .sentence = symptom.words,
          .value = symptom.value,
          .threshold = detector.threshold,
          .fix = detector.fix,
          .source = symptom.source};
}

// The log distance beyond the threshold, whichever side of it is bad. Where nothing should be there
// at all, one byte, wait or program is hardly beyond it.
double severity(const Detection& finding) {
  constexpr double farthest = 50;
  if (finding.threshold == 0) return std::log1p(finding.value);
  return std::min(farthest, std::abs(std::log(finding.value / finding.threshold)));
}

bool is_for(const ExpectedFinding& expected, const std::string& device) {
  const std::string kind = device_kind(device);
  return std::find(expected.devices.begin(), expected.devices.end(), kind) !=
         expected.devices.end();
}

bool is_detector(const std::string& name) {
  return std::any_of(detectors().begin(), detectors().end(),
                     [&](const Detector& detector) { return detector.name == name; });
}

}  // namespace

double Sighting::inner_steps() const {
  constexpr std::string_view axis = "/steps:";
  const std::size_t at = case_id.find(axis);
  if (at == std::string::npos) return 1;
  const double steps = std::strtod(case_id.c_str() + at + axis.size(), nullptr);
  return steps >= 1 ? steps : 1;
}

std::optional<double> Sighting::metric(const std::string& name) const {
  const auto in = [&](const Metrics& metrics) -> std::optional<double> {
    const auto at = metrics.find(name);
    return at == metrics.end() ? std::nullopt : at->second.number();
  };
  if (numbers)
    if (const auto value = in(numbers->metrics)) return value;
  // A metric of the case as a whole (a ratio of its variants) belongs to the optimized variant.
  if (!result || variant == "reference") return std::nullopt;
  if (const auto value = in(result->metrics)) return value;
  return in(result->derived);
}

const std::vector<Detector>& detectors() {
  using namespace symptoms;
  static const std::vector<Detector> table = {
      {"idle_gaps", "long gaps between GPU operations: the device waits for the host",
       idle_threshold, "of a step",
       "record the steps as one graph, or move the loop onto the device, so that nothing waits for "
       "the host",
       idle_gaps},
      {"low_utilisation", "low SM utilisation: the device is starved for work", 0.1,
       "of the floor's speed",
       "where idle_fraction failed, launch less often (a graph, fewer kernels); where "
       "floor_fraction failed, break the chain of dependent kernels: fuse them, or give each more "
       "independent work (blocks, a batch)",
       low_utilisation},
      {"transfers_in_the_loop",
       "copies between host and device in the loop, beside what a step must bring", 0, "B per step",
       "keep the data on the device: copy once before the loop, and read a result back after it, "
       "not in every step",
       transfers_in_the_loop},
      {"syncs_in_the_loop", "the host waits for the device in the loop", 0, "per step",
       "take no value back in the hot path: compute and keep diagnostics on the device, and "
       "synchronise once at the end",
       syncs_in_the_loop},
      {"compilations_after_warmup", "compilations inside the loop, not only at start-up", 0,
       "programs per step",
       "keep shapes, types and constants the same from step to step, or pass what varies as an "
       "argument; HOLDFAST_LOG_COMPILES=1 tells the reason of each",
       compilations_after_warmup},
      {"compile_dominates", "compilation dominates the first call", 2, "s",
       "a one-time cost: keep HOLDFAST_CACHE_DIR between runs, make all sizes of one program an "
       "argument, and leave large headers out of device code",
       compile_dominates},
      {"slow_gradient", "the gradient is much slower than the forward pass", 3, "times forward",
       "use the analytic gradient in the same pass, smaller transforms, f32 where it suffices, or "
       "a method that needs fewer gradients",
       slow_gradient},
      {"slow_loop", "a step of the loop is much slower than the isolated step", 1.5,
       "times the isolated step",
       "the loop itself costs: run it on the device (launch:graph, launch:persistent), and do no "
       "bookkeeping on the host in each step",
       slow_loop},
      {"peak_over_estimate", "peak memory is out of proportion to its estimate", 1.5,
       "times the estimate",
       "find the site that grew in the memory profile; free or reuse what is dead at the peak",
       peak_over_estimate},
      {"peak_over_work", "peak memory is out of proportion to the data of a step", 10,
       "times the bytes that a step must move",
       "large intermediates are kept: fuse their producer and consumer, recompute them, work in "
       "blocks, or use f32",
       peak_over_work},
      {"peak_over_reference", "peak memory is out of proportion to the reference's", 2,
       "times the reference's peak",
       "see which site holds it: holdfast profile prints memory by site; trade less memory for "
       "speed, or reuse buffers",
       peak_over_reference},
      {"one_kernel_dominates", "a single operation dominates the step", 0.6, "of the device time",
       "look at that kernel alone: can it be restructured (another algorithm, a library's matrix "
       "product, better memory order)?",
       one_kernel_dominates},
      {"slow_operation", "a single operation takes long", 10e-3, "s",
       "split it over more blocks, or find what it waits for: an operation of a training step or "
       "of "
       "a fit that takes this long has work for many",
       slow_operation},
      {"many_tiny_kernels", "many tiny kernels in sequence", 64, "per step",
       "fuse them, or batch them into one launch over all pieces", many_tiny_kernels},
      {"many_scatters", "many scatter operations in sequence", 32, "per step",
       "gather all indices once and write them with a single scatter", many_scatters},
      {"many_launches", "many launches in each step", 200, "per step",
       "fuse kernels or record the step as a graph; holdfast profile tells which of them are tiny",
       many_launches},
  };
  return table;
}

std::vector<Detection> examine(const Sighting& seen) {
  std::vector<Detection> findings;
  for (const Detector& detector : detectors())
    if (const auto symptom = detector.look(seen, detector.threshold))
      findings.push_back(finding(seen, detector, *symptom));
  return findings;
}

std::vector<Detection> examine(const Results& results, const std::vector<Profile>& profiles,
                               const List& list) {
  std::vector<Detection> findings;
  for (const CaseResult& result : results.cases) {
    for (const auto& [variant, numbers] : result.variants) {
      Sighting seen{.case_id = result.id,
                    .variant = variant,
                    .device_class = results.env.device_class,
                    .part = &results,
                    .result = &result,
                    .numbers = &numbers};
      for (const Profile& profile : profiles)
        if (profile.case_id == result.id && profile.variant == variant &&
            profile.device_class == results.env.device_class)
          seen.profile = &profile;
      for (Detection& found : examine(seen)) findings.push_back(std::move(found));
    }
  }
  mark_expected(list, results.env.device_name, findings);
  sort_by_severity(findings);
  return findings;
}

void mark_expected(const List& list, const std::string& device, std::vector<Detection>& findings) {
  for (const ListedCase& listed : list.cases)
    for (const ExpectedFinding& expected : listed.expected)
      for (Detection& finding : findings)
        if (finding.case_id == listed.id && finding.detector == expected.finding &&
            finding.variant != "reference" && is_for(expected, device))
          finding.expected = expected.why;
}

std::vector<std::string> unseen(const Results& results, const List& list,
                                const std::vector<Detection>& found) {
  std::vector<Detection> all = examine(results, {}, list);
  all.insert(all.end(), found.begin(), found.end());
  std::vector<std::string> sentences;
  for (const ListedCase& listed : list.cases) {
    if (std::none_of(results.cases.begin(), results.cases.end(), [&](const CaseResult& result) {
          return result.id == listed.id && result.status == "ok";
        }))
      continue;
    for (const ExpectedFinding& expected : listed.expected) {
      const bool seen = std::any_of(all.begin(), all.end(), [&](const Detection& one) {
        return one.expected && one.case_id == listed.id && one.detector == expected.finding;
      });
      if (seen || !is_for(expected, results.env.device_name)) continue;
      sentences.push_back(text(listed.id, " on ", results.env.device_class,
                               " is listed as showing ", expected.finding, " on purpose, ",
                               is_detector(expected.finding)
                                   ? "and no longer does; drop it from the case's expected findings"
                                   : "which no detector is called; correct the name"));
    }
  }
  return sentences;
}

void sort_by_severity(std::vector<Detection>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Detection& a, const Detection& b) {
    const auto rank = [](const Detection& one) {
      return std::tuple(one.variant == "reference", one.expected.has_value(), -severity(one));
    };
    return rank(a) < rank(b);
  });
}

}  // namespace holdfast::gate
