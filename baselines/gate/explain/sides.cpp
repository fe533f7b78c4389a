// SPDX-License-Identifier: Apache-2.0
// The two sides that evidence compares: a measurement, and what a baseline keeps of one.
#include "gate/documents/kernel_table.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/explain/explain.hpp"

namespace holdfast::gate {
namespace {

void put(std::map<std::string, std::string>& environment, const char* name,
         const std::optional<std::string>& value) {
  if (value) environment[name] = *value;
}

}  // namespace

std::optional<double> Side::number(const std::string& variant, const std::string& metric) const {
  const auto at = values.find({variant, metric});
  const auto* value = at == values.end() ? nullptr : std::get_if<double>(&at->second);
  return value ? std::optional(*value) : std::nullopt;
}

Side measured_side(const Results& results, const CaseResult& result,
                   const std::vector<Profile>& profiles) {
  Side side;
  for (const NamedMetric& metric : named_metrics(result))
    if (metric.measured && metric.name != kernels_metric)
      side.values[{metric.variant, metric.name}] = metric.measured->value;
  for (const auto& [variant, content] : result.variants)
    side.kernels[variant] = facts_by_name(content.kernels);
  const Environment& env = results.env;
  for (const auto& [name, value] :
       {std::pair("driver", env.driver), std::pair("nvrtc", env.nvrtc),
        std::pair("nvjitlink", env.nvjitlink), std::pair("nvdisasm", env.nvdisasm),
        std::pair("compiler", env.compiler), std::pair("flags", env.flags),
        std::pair("cpu", env.cpu), std::pair("processor", std::optional(timed_on(results))),
        std::pair("isa", env.isa), std::pair("device", env.device.name)})
    put(side.environment, name, value);
  for (const Profile& profile : profiles)
    if (profile.case_id == result.id) side.profiles[profile.variant] = profile;
  return side;
}

Side baseline_side(const Baseline& baseline, const std::string& case_id) {
  Side side;
  const std::string prefix = case_id + '|';
  for (auto at = baseline.entries.lower_bound(prefix);
       at != baseline.entries.end() && at->first.starts_with(prefix); ++at) {
    const auto [id, variant, metric] = entry_name(at->first);
    if (metric != kernels_metric) {
      side.values[{variant, metric}] = at->second.value;
    } else if (const auto* table = std::get_if<std::string>(&at->second.value)) {
      side.kernels[variant] = parse_kernel_table(*table);
    }
  }
  put(side.environment, "nvrtc", baseline.fingerprint.nvrtc);
  put(side.environment, "nvjitlink", baseline.fingerprint.nvjitlink);
  put(side.environment, "nvdisasm", baseline.fingerprint.nvdisasm);
  put(side.environment, "driver", baseline.fingerprint.driver);
  put(side.environment, "compiler", baseline.fingerprint.compiler);
  return side;
}

}  // namespace holdfast::gate
