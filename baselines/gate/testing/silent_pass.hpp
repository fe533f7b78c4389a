// SPDX-License-Identifier: Apache-2.0
// For tests: a corpus of inputs that must not pass without a word, for the toy suite.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gate/testing/toy_root.hpp"

namespace holdfast::gate::toy {

// A file of the root, by its path in it; no content: it is taken out.
struct Written {
  std::string file;
  std::optional<std::string> content;
};

struct Trick {
  std::string name;                 // "policy: ..."
  std::vector<Written> files = {};  // over what was accepted and committed
  bool by_merge_base = false;       // judged with --baseline-ref=HEAD
};

// The state that all of them begin with.
struct Honest {
  Results dry = toy::dry();
  Results host = toy::host();
  std::string policy;  // common.json
  Baseline baseline;   // of dry
  std::string baseline_text;
};

inline constexpr const char* dry_file = "results/cuda-dry-sm_90/toy.json";
inline constexpr const char* host_file = "results/host-x86_64-v4-2t/toy.json";
inline constexpr const char* baseline_place = "baselines/devices/cuda-dry-sm_90/toy.json";
inline constexpr const char* policy_place = "baselines/policy/common.json";

}  // namespace holdfast::gate::toy
