// SPDX-License-Identifier: Apache-2.0
// Options that several commands have, worded once.
#pragma once

#include "gate/base/options.hpp"

namespace holdfast::gate::common {

inline constexpr OptionRow baselines = {"baselines", "DIR",
                                        "the accepted baselines (default: baselines)"};
inline constexpr OptionRow policy = {"policy", "DIR",
                                     "the folder of the policy (default: policy of the baselines)"};
inline constexpr OptionRow only = {"only", "SUITE", "that suite alone"};
inline constexpr OptionRow device = {"device", "DEVICE",
                                     "that device alone: host, cuda, cuda-dry:sm_90"};
inline constexpr OptionRow bin_dir = {"bin-dir", "DIR",
                                      "where the suites are (default: beside holdfast)"};
inline constexpr OptionRow unit = {"unit", "SECONDS",
                                   "time for the samples of each pair of processes (default 0.3)"};
inline constexpr OptionRow filter = {
    "filter", "REGEX",
    "only cases whose id contains a match (RE2); with a leading -, only the others"};
inline constexpr OptionRow lists = {"lists", "DIR",
                                    "the build's lists (default: beside this program)"};

}  // namespace holdfast::gate::common
