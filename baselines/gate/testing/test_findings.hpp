// SPDX-License-Identifier: Apache-2.0
// For tests of the detectors: healthy results, and the names of what was found in them.
#pragma once

#include "gate/explain/detectors.hpp"
#include "gate/testing/toy_root.hpp"

namespace holdfast::gate::toy {

inline std::vector<std::string> names(const std::vector<Detection>& found) {
  std::vector<std::string> all;
  for (const Detection& one : found) all.push_back(one.detector);
  return all;
}

// Results of the toy suite on a GPU, without profiles; the first case alone is looked at.
inline Results gpu_results() {
  Results made = toy::dry();
  made.env.device_class = "nvidia-h200";
  made.env.device_name = "cuda";
  for (CaseResult& result : made.cases) {
    result.executed = true;
    result.metrics["peak_ratio"] = toy::exact(3);
    for (auto& [variant, content] : result.variants) {
      content.metrics["launches"] = toy::exact(12);
      content.metrics["time_s"] = toy::timed("time", variant == "optimized" ? 6e-4 : 6e-3);
      for (const char* zero : {"h2d_bytes", "d2h_bytes", "syncs", "compile_steady", "graph_nodes"})
        content.metrics[zero] = toy::exact(0);
    }
  }
  return made;
}

inline std::vector<Detection> seen_in(const Results& results) {
  std::vector<Detection> found = examine(results, {});
  std::erase_if(found, [&](const Detection& one) {
    return one.case_id != results.cases.front().id || one.variant == "reference";
  });
  return found;
}

inline Metric advisory(double value) {
  return {.kind = "advisory", .value = value};
}

}  // namespace holdfast::gate::toy
