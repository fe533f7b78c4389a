// SPDX-License-Identifier: Apache-2.0
// For tests of the judge: the rows that it wrote about the toy's step.
#pragma once

#include "gate/judge/part.hpp"
#include "gate/testing/toy_root.hpp"

namespace holdfast::gate::toy {

inline const Row& row(const PartVerdict& verdict, const std::string& metric,
                      const std::string& variant = "optimized") {
  for (const Row& found : verdict.rows)
    if (found.case_id == step_id && found.metric == metric && found.variant == variant)
      return found;
  throw std::runtime_error("no row for " + metric);
}

}  // namespace holdfast::gate::toy
