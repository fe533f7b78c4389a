// SPDX-License-Identifier: Apache-2.0
#include "runtime/settings.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "runtime/backend.hpp"
#include "runtime/error.hpp"
#include "runtime/log.hpp"

namespace holdfast {
namespace {

std::string_view setting(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

void check_sources() {
  const auto folder = setting("HOLDFAST_SOURCES");
  std::error_code failure;
  if (!folder.empty() && !std::filesystem::is_directory(folder, failure))
    throw Error(Fault::bad_input,
                text("HOLDFAST_SOURCES is '", folder,
                     "', which is no folder: name one that holds .cu files, or unset it"));
}

}  // namespace

TransferGuard transfer_guard() {
  const auto guard = setting("HOLDFAST_TRANSFER_GUARD");
  if (guard.empty()) return TransferGuard::off;
  if (guard == "log") return TransferGuard::log;
  if (guard == "error") return TransferGuard::error;
  throw Error(Fault::bad_input, text("HOLDFAST_TRANSFER_GUARD is '", guard,
                                     "', which means nothing: use log or error, or unset it"));
}

void check_settings() {
  check_log_settings();
  (void)transfer_guard();
  check_sources();
  (void)host_limits();
}

}  // namespace holdfast
