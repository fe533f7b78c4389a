// SPDX-License-Identifier: Apache-2.0
// An improvement that made something beside it worse: fewer registers and more launches.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gate/documents/measured.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/policy/policy.hpp"
#include "gate/judge/screening.hpp"

namespace holdfast::gate {

// The metrics of one case, and what is accepted of them.
struct Surroundings {
  const Policy& policy;
  const std::string& device_class;
  const std::string& case_id;
  const std::vector<NamedMetric>& all;
  const Entries& accepted;
  std::span<const Measured> again = {};  // of the metric, by other runs of the build
};

// As judge() says; an improvement that another metric of the same variant pays for is CHANGED.
Judgement judge_among(const Surroundings& around, const NamedMetric& metric,
                      const Standard& standard, const Entry& entry);

}  // namespace holdfast::gate
