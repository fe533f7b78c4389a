// SPDX-License-Identifier: Apache-2.0
// The environment of a result: device, tools, machine, and the content of the build.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/results/run_quality.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast {

// The `env` of holdfast-results/1; its fingerprint hashes everything that could affect times or
// code.
nlohmann::json environment(const Backend& backend);

// `content` and `git` of `run`: from content.json, which the build writes beside its binaries.
// Throws Error{bad_input} where that is of other content than this binary, which a build that
// failed left.
nlohmann::json provenance();

// `quality`: whether the state of the machine allowed measuring.
nlohmann::json quality(const RunQuality& seen);

}  // namespace holdfast
