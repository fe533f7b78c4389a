// SPDX-License-Identifier: Apache-2.0
// What the run-time layer tells the person at the terminal, on standard error.
// HOLDFAST_LOG=error|warn|info|debug says how much (warn when unset); HOLDFAST_LOG_COMPILES=1 adds
// one line per compilation.
#pragma once

#include <string_view>

namespace holdfast {

enum class LogLevel { error, warn, info, debug };

// One line, "holdfast: warn: ...", where HOLDFAST_LOG lets it through.
void log(LogLevel level, std::string_view line) noexcept;

// One line, "holdfast: ...", where HOLDFAST_LOG_COMPILES asks for it.
void log_compilation(std::string_view line) noexcept;
bool logs_compilations() noexcept;

// Throws Error{bad_input} when HOLDFAST_LOG or HOLDFAST_LOG_COMPILES has a value that means
// nothing; log() itself then behaves as unset.
void check_log_settings();

}  // namespace holdfast
