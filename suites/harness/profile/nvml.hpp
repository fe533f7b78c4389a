// SPDX-License-Identifier: Apache-2.0
// Readings of the GPU's sensors: load, memory, clocks, power, temperature. NVML is loaded at run
// time, so that no driver is required.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace holdfast {

// Utilisations are fractions of the driver's last sampling period; unreported values are empty.
struct GpuSample {
  std::optional<double> sm_util = {}, mem_util = {};
  std::optional<double> fb_used_bytes = {};
  std::optional<double> sm_clock_hz = {}, mem_clock_hz = {};
  std::optional<double> power_w = {}, temperature_c = {};
  std::optional<bool> throttled = {};          // by heat, power or a fault, not by idling
  std::optional<double> ecc_errors = {};       // uncorrected, since the driver was loaded
  std::optional<double> other_processes = {};  // that compute on it beside this one
};

class GpuSensors {
 public:
  virtual ~GpuSensors() = default;
  virtual GpuSample sample() = 0;
};

// For "cuda" or "cuda:N"; for any other device, the machine's first GPU. Throws Error{no_device}
// with the reason if there is none.
std::unique_ptr<GpuSensors> open_nvml(const std::string& device,
                                      const std::string& library = "libnvidia-ml.so.1");

}  // namespace holdfast
