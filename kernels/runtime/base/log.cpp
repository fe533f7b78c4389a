// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/log.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

constexpr std::array<std::string_view, 4> names = {"error", "warn", "info", "debug"};

std::string_view setting(const char* variable) noexcept {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

std::optional<LogLevel> level_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (name == names[i]) return static_cast<LogLevel>(i);
  return {};
}

void print(std::string_view prefix, std::string_view line) noexcept {
  std::fprintf(stderr, "holdfast: %.*s%.*s\n", static_cast<int>(prefix.size()), prefix.data(),
               static_cast<int>(line.size()), line.data());
}

}  // namespace

void log(LogLevel level, std::string_view line) noexcept {
  if (level > level_named(setting("HOLDFAST_LOG")).value_or(LogLevel::warn)) return;
  const std::array<std::string_view, 4> prefixes = {"error: ", "warn: ", "info: ", "debug: "};
  print(prefixes[static_cast<std::size_t>(level)], line);
}

bool logs_compilations() noexcept {
  const auto value = setting("HOLDFAST_LOG_COMPILES");
  return !value.empty() && value != "0";
}

void log_compilation(std::string_view line) noexcept {
  if (logs_compilations()) print("", line);
}

void check_log_settings() {
  const auto value = setting("HOLDFAST_LOG");
  if (!value.empty() && !level_named(value))
    throw Error(Fault::bad_input, text("HOLDFAST_LOG is '", value,
                                       "', which is no log level: use error, warn, info or debug"));
  const auto compiles = setting("HOLDFAST_LOG_COMPILES");
  if (!compiles.empty() && compiles != "0" && compiles != "1")
    throw Error(Fault::bad_input, text("HOLDFAST_LOG_COMPILES is '", compiles,
                                       "', which means nothing: use 1 or 0, or unset it"));
}

}  // namespace holdfast
