// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/settings.hpp"

#include "runtime/backend/host_limits.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/transfer_guard.hpp"
#include "runtime/compile/source_text.hpp"

namespace holdfast {
void check_settings() {
  check_log_settings();
  (void)transfer_guard();
  check_sources();
  (void)host_limits();
}

}  // namespace holdfast
