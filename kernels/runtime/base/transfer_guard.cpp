// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/transfer_guard.hpp"

#include <cstdlib>
#include <string_view>

#include "runtime/base/error.hpp"

namespace holdfast {

TransferGuard transfer_guard() {
  const char* setting = std::getenv("HOLDFAST_TRANSFER_GUARD");
  const std::string_view guard = setting ? setting : "";
  if (guard.empty()) return TransferGuard::off;
  if (guard == "log") return TransferGuard::log;
  if (guard == "error") return TransferGuard::error;
  throw Error(Fault::bad_input, text("HOLDFAST_TRANSFER_GUARD is '", guard,
                                     "', which means nothing: use log or error, or unset it"));
}

}  // namespace holdfast
