// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/ceilings_of.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "base/text.hpp"
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

double floor_seconds(const Ceilings& ceilings, const Work& work, std::int64_t peak_bytes) {
  return ceilings.floor_seconds(work, std::min(static_cast<double>(peak_bytes), work.bytes));
}

double kernels_floor_seconds(const Ceilings& ceilings, Work work, std::int64_t peak_bytes) {
  work.phases = 0;
  return floor_seconds(ceilings, work, peak_bytes);
}

}  // namespace holdfast
