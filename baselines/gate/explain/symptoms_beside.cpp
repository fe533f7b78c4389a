// SPDX-License-Identifier: Apache-2.0
// Symptoms that show beside another case of the same run: a gradient beside its forward pass, a
// loop beside its isolated step.
#include <algorithm>
#include <set>

#include "gate/base/numbers.hpp"
#include "gate/explain/symptoms.hpp"

namespace holdfast::gate::symptoms {
namespace {

// The time of one step() of another case of the same run.
std::optional<double> time_of(const Sighting& seen, const std::string& id) {
  for (const CaseResult& other : seen.part->cases) {
    if (other.id != id) continue;
    const auto variant = other.variants.find(seen.variant);
    if (variant == other.variants.end()) return std::nullopt;
    const auto time = variant->second.metrics.find("time_s");
    if (time == variant->second.metrics.end()) return std::nullopt;
    return time->second.number();
  }
  return std::nullopt;
}

std::set<std::string> segments(const std::string& id) {
  std::set<std::string> all;
  for (std::size_t at = 0; at <= id.size();) {
    const std::size_t end = std::min(id.find('/', at), id.size());
    all.insert(id.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

// The isolated step of a loop: a case of the suite whose family ends in "step" and whose axes the
// loop has as well.
std::optional<std::string> isolated_step(const Sighting& seen) {
  const std::set<std::string> loop = segments(seen.case_id);
  for (const CaseResult& other : seen.part->cases) {
    const std::set<std::string> own = segments(other.id);
    std::size_t foreign = 0;
    bool is_step = false;
    for (const std::string& segment : own) {
      if (loop.contains(segment)) continue;
      ++foreign;
      is_step = segment.ends_with("step");
    }
    if (foreign == 1 && is_step) return other.id;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Symptom> slow_gradient(const Sighting& seen, double threshold) {
  std::optional<double> ratio = seen.metric("grad_over_forward");
  std::string compared;
  const std::size_t at = seen.case_id.find("_grad/");
  if (const auto time = seen.metric("time_s");
      !ratio && time && seen.part && at != std::string::npos) {
    const std::string forward = seen.case_id.substr(0, at) + seen.case_id.substr(at + 5);
    if (const auto other = time_of(seen, forward); other && *other > 0) {
      ratio = *time / *other;
      compared = text(" (", readable(*time, "s"), " against ", readable(*other, "s"), " of ",
                      forward, ")");
    }
  }
  if (!ratio || *ratio <= threshold) return std::nullopt;
  return Symptom{
      *ratio,
      text("the gradient takes ", readable(*ratio, ""), " times the forward pass", compared),
      "result"};
}

std::optional<Symptom> slow_loop(const Sighting& seen, double threshold) {
  std::optional<double> ratio = seen.metric("overhead_ratio");
  std::string compared;
  if (const auto speedup = seen.metric("loop_speedup"); !ratio && speedup && *speedup > 0)
    ratio = 1 / *speedup;
  const double steps = seen.inner_steps();
  if (const auto time = seen.metric("time_s"); !ratio && time && seen.part && steps > 1) {
    const auto isolated = isolated_step(seen);
    const auto other = isolated ? time_of(seen, *isolated) : std::nullopt;
    if (other && *other > 0) {
      ratio = *time / steps / *other;
      compared = text(" (", readable(*time / steps, "s"), " against ", readable(*other, "s"),
                      " of ", *isolated, ")");
    }
  }
  if (!ratio || *ratio <= threshold) return std::nullopt;
  return Symptom{
      *ratio,
      text("a step of the loop takes ", readable(*ratio, ""), " times the isolated step", compared),
      "result"};
}

}  // namespace holdfast::gate::symptoms
