// SPDX-License-Identifier: Apache-2.0
// A GPU's own word on whether what is timed on it can be trusted, sampled while a suite runs.
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

// Slowed down in more than a quarter of the samples, shared with another process in any, or with
// memory errors since the first: a run is invalid.
class GpuWatch {
 public:
  explicit GpuWatch(std::unique_ptr<GpuSensors> sensors, double period_seconds = 0.25);
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;
  ~GpuWatch();
  RunQuality quality();  // until now

 private:
  void run();
  void take_sample();  // with the lock held

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

// Whether what was timed just before is the machine's: the GPU is slowed down, or more processes
// than these compute on it beside this one.
bool is_disturbed(const GpuSample& sample, std::int64_t expected_processes);

// Empty for a device that is no GPU, or, with a warning, where NVML does not answer.
std::unique_ptr<GpuSensors> sensors_of(const std::string& device);
std::unique_ptr<GpuWatch> watch_gpu(const std::string& device);

}  // namespace holdfast
