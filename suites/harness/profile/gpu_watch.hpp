// SPDX-License-Identifier: Apache-2.0
// Judges by a GPU's own sensors, sampled while a suite runs, whether its timings can be trusted.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "harness/profile/nvml.hpp"
#include "harness/results/run_quality.hpp"

namespace holdfast {

// A run is invalid if the GPU was slowed down in more than a quarter of the samples, shared with
// another process in any, or had memory errors since the first.
class GpuWatch {
 public:
  explicit GpuWatch(std::unique_ptr<GpuSensors> sensors, double period_seconds = 0.25);
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;
  ~GpuWatch();
  RunQuality quality();  // so far

 private:
  void run();
  void take_sample();  // requires the lock

  std::unique_ptr<GpuSensors> sensors_;
  std::chrono::duration<double> period_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
  int samples_ = 0, slowed_ = 0, shared_ = 0;
  std::optional<double> first_errors_ = {};
  RunQuality seen_ = {};
  std::thread thread_ = {};
};

// Whether the last timing was disturbed: the GPU is slowed down, or more other processes than
// expected compute on it.
bool is_disturbed(const GpuSample& sample, std::int64_t expected_processes);

// Null for a device that is not a GPU, or, with a warning, if NVML does not respond.
std::unique_ptr<GpuSensors> sensors_of(const std::string& device);
std::unique_ptr<GpuWatch> watch_gpu(const std::string& device);

}  // namespace holdfast
