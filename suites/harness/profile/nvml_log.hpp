// SPDX-License-Identifier: Apache-2.0
// A table of the GPU's sensors over time, sampled in the background.
#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>

#include "harness/case/profile_options.hpp"
#include "harness/profile/nvml.hpp"

namespace holdfast {

// Samples immediately, then every `period` seconds, and once more at the end, when the file takes
// its place. A line is time_s, sm_util, mem_util, fb_used_bytes, sm_clock_hz, mem_clock_hz,
// power_w, temperature_c; a field is empty if the GPU does not report it.
class NvmlLog {
 public:
  NvmlLog(std::unique_ptr<GpuSensors> sensors, std::filesystem::path path, double period);
  ~NvmlLog();
  NvmlLog(const NvmlLog&) = delete;
  NvmlLog& operator=(const NvmlLog&) = delete;

 private:
  void run();
  void write_sample();

  std::unique_ptr<GpuSensors> sensors_;
  std::filesystem::path path_;
  std::chrono::duration<double> period_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::ofstream file_;
  std::mutex mutex_ = {};
  std::condition_variable wake_ = {};
  bool ending_ = false;
  std::thread thread_;  // last: it uses all members above
};

// Begins the log requested by --nvml-log. Null if not requested, or, with one warning that gives
// the reason, if no GPU reports: nothing else depends on it.
std::unique_ptr<NvmlLog> begin_nvml_log(const ProfileOptions& options, const std::string& device);

}  // namespace holdfast
