// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/profile_metrics.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "base/text.hpp"
#include "gate/documents/unrequested.hpp"

namespace holdfast::gate {
namespace {

using Told = std::optional<double>;  // empty if the profile does not have it

// Shorter kernels are small: their start and end count beside their work.
constexpr double small_kernel_seconds = 1e-4;

constexpr double slow_call_seconds = 10e-3;

// Seconds of the operations that `counts` accepts, in all profiled steps; empty if the device gave
// no times.
template <class Counts>
Told seconds_of(const Profile& profile, const Counts& counts) {
  Told sum;
  for (const ProfileOp& op : profile.ops) {
    if (!op.total_s) continue;
    sum = sum.value_or(0) + (counts(op) ? *op.total_s : 0);
  }
  return sum;
}
bool any(const ProfileOp&) {
  return true;
}
bool is_kernel(const ProfileOp& op) {
  return op.is_kernel();
}

Told over(Told above, Told below) {
  if (!above || !below || !(*below > 0)) return std::nullopt;
  return *above / *below;
}
// The share of the device's busy time.
template <class Counts>
Told share_of(const Profile& profile, const Counts& counts) {
  return over(seconds_of(profile, counts), seconds_of(profile, any));
}

Told kernels_per_step(const Profile& profile) {
  return over(seconds_of(profile, is_kernel), static_cast<double>(profile.steps));
}

// Several shapes of one name count as one kernel, as in the profile's overview.
Told top_kernel(const Profile& profile) {
  std::map<std::string, double> by_name;
  Told most;
  for (const ProfileOp& op : profile.ops)
    if (op.is_kernel() && op.fraction)
      most = std::max(most.value_or(0), by_name[op.name] += *op.fraction);
  return most;
}

Told top_five(const Profile& profile) {
  std::vector<double> seconds;
  for (const ProfileOp& op : profile.ops)
    if (op.total_s) seconds.push_back(*op.total_s);
  std::sort(seconds.begin(), seconds.end(), std::greater<>());
  const auto end =
      seconds.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(5, seconds.size()));
  return over(std::accumulate(seconds.begin(), end, 0.), seconds_of(profile, any));
}

// The number of operations with a slow call.
Told slow_operations(const Profile& profile) {
  Told slow;
  for (const ProfileOp& op : profile.ops)
    if (op.max_s) slow = slow.value_or(0) + (*op.max_s > slow_call_seconds ? 1 : 0);
  return slow;
}

std::string why_unknown(const Profile& profile) {
  if (profile.silence) return *profile.silence;
  if (profile.dropped == 0) return "the profile does not tell it";
  return text("the profile lost ", profile.dropped, " activities; profile fewer steps");
}

struct Reading {
  const char* metric;
  Told (*value)(const Profile& profile);
};
constexpr Reading profile_readings[] = {
    {"kernels_s", kernels_per_step},
    {"kernels_floor_fraction",
     [](const Profile& profile) {
       return over(profile.kernels_floor_s, kernels_per_step(profile));
     }},
    {"idle_fraction", [](const Profile& profile) { return profile.overview.idle_fraction; }},
    {"max_gap_s", [](const Profile& profile) { return profile.overview.max_gap_s; }},
    {"top_kernel_fraction", top_kernel},
    {"top5_time_fraction", top_five},
    {"small_kernel_time_fraction",
     [](const Profile& profile) {
       return share_of(profile, [](const ProfileOp& op) {
         return op.is_kernel() && op.mean_s && *op.mean_s < small_kernel_seconds;
       });
     }},
    {"transfer_time_fraction",
     [](const Profile& profile) {
       return share_of(profile, [](const ProfileOp& op) {
         return op.kind == "upload" || op.kind == "download";
       });
     }},
    {"ops_over_10ms", slow_operations}};

}  // namespace

void add_profiled(const std::vector<Profile>& profiles, Results& results) {
  for (CaseResult& result : results.cases)
    for (auto& [variant, content] : result.variants) {
      const auto profile = std::find_if(profiles.begin(), profiles.end(), [&](const Profile& one) {
        return one.case_id == result.id && one.variant == variant;
      });
      if (profile == profiles.end()) continue;
      for (const auto& [metric, value_of] : profile_readings) {
        const auto promise = content.metrics.find(metric);
        if (promise == content.metrics.end()) continue;
        // Sums over what a profile did not lose would be too small.
        promise->second.value = profile->dropped > 0 ? std::nullopt : value_of(*profile);
        promise->second.reason =
            promise->second.value ? std::nullopt : std::optional(why_unknown(*profile));
      }
    }
}

void leave_unprofiled(Results& results) {
  for (CaseResult& result : results.cases)
    for (auto& [variant, content] : result.variants)
      for (const Reading& one : profile_readings)
        if (const auto promise = content.metrics.find(one.metric);
            promise != content.metrics.end() && !promise->second.value)
          promise->second.reason = not_asked_for;
}

}  // namespace holdfast::gate
