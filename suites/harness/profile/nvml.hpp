// SPDX-License-Identifier: Apache-2.0
// What the GPU's own sensors say: load, memory, clocks, power, temperature. Read through NVML,
// which is opened at run time, so that nothing depends on a driver being there.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace holdfast {

// Utilisations are shares of the last sampling period of the driver; what a device does not tell is
// empty.
struct GpuSample {
  std::optional<double> sm_util = {}, mem_util = {};
  std::optional<double> fb_used_bytes = {};
  std::optional<double> sm_clock_hz = {}, mem_clock_hz = {};
  std::optional<double> power_w = {}, temperature_c = {};
  std::optional<bool> throttled = {};          // by heat, power or a fault, not by being idle
  std::optional<double> ecc_errors = {};       // since the driver began, that no code could correct
  std::optional<double> other_processes = {};  // that compute on it beside this one
};

class GpuSensors {
 public:
  virtual ~GpuSensors() = default;
  virtual GpuSample sample() = 0;
};

// Of "cuda" or "cuda:N"; for a device that is no GPU, of the machine's first. Throws
// Error{no_device} saying why there are none.
std::unique_ptr<GpuSensors> open_nvml(const std::string& device,
                                      const std::string& library = "libnvidia-ml.so.1");

}  // namespace holdfast
