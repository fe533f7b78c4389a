// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/settings.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "runtime/backend/host_limits.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/transfer_guard.hpp"

namespace holdfast {
namespace {

void check_sources() {
  const char* setting = std::getenv("HOLDFAST_SOURCES");
  const std::string_view folder = setting ? setting : "";
  std::error_code failure;
  if (!folder.empty() && !std::filesystem::is_directory(folder, failure))
    throw Error(Fault::bad_input,
                text("HOLDFAST_SOURCES is '", folder,
                     "', which is no folder: name one that holds .cu files, or unset it"));
}

}  // namespace

void check_settings() {
  check_log_settings();
  (void)transfer_guard();
  check_sources();
  (void)host_limits();
}

}  // namespace holdfast
