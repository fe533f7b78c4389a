// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/ceilings_of.hpp"

#include <cstdlib>
#include <exception>
#include <string_view>

#include "harness/machine/measuring_turn.hpp"
#include "runtime/base/log.hpp"

namespace holdfast {

std::optional<Ceilings> ceilings_of(Backend& backend) {
  const char* setting = std::getenv("HOLDFAST_CEILINGS");
  if (setting && std::string_view(setting) == "none") return std::nullopt;
  try {
    const MeasuringTurn turn(backend.name);
    return calibrate(backend);
  } catch (const std::exception& error) {
    log(LogLevel::warn, text("no ceilings are known, because calibrating failed: ", error.what()));
    return std::nullopt;
  }
}

}  // namespace holdfast
