// SPDX-License-Identifier: Apache-2.0
// What a result was measured on: device, tools, machine, and the content of the build.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/results/run_quality.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast {

// The `env` of holdfast-results/1; its fingerprint is a hash over all that could move a time or a
// code.
nlohmann::json environment(const Backend& backend);

// `content` and `git` of `run`: from content.json, which the build writes beside its binaries.
nlohmann::json provenance();

// `quality`: whether the machine was in a state that allows measuring.
nlohmann::json quality(const RunQuality& seen);

}  // namespace holdfast
