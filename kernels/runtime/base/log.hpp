// SPDX-License-Identifier: Apache-2.0
// Messages of the run-time layer to the user, on standard error. HOLDFAST_LOG=error|warn|info|debug
// sets the level (warn by default); HOLDFAST_LOG_COMPILES=1 adds one line per compilation.
#pragma once

#include <string_view>

namespace holdfast {

enum class LogLevel { error, warn, info, debug };

// Prints one line, "holdfast: warn: ...", if HOLDFAST_LOG permits the level.
void log(LogLevel level, std::string_view line) noexcept;

// Prints one line, "holdfast: ...", if HOLDFAST_LOG_COMPILES is 1.
void log_compilation(std::string_view line) noexcept;
bool logs_compilations() noexcept;

// Throws Error{bad_input} if HOLDFAST_LOG or HOLDFAST_LOG_COMPILES is invalid; log() itself treats
// an invalid HOLDFAST_LOG as unset.
void check_log_settings();

}  // namespace holdfast
