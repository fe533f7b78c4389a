// SPDX-License-Identifier: Apache-2.0
#include "harness/profile/nvml_log.hpp"

#include <iomanip>

#include "base/files.hpp"
#include "base/time.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"

namespace holdfast {
namespace {

struct Column {
  const char* name;
  std::optional<double> GpuSample::*member;
};
constexpr Column columns[] = {{"sm_util", &GpuSample::sm_util},
                              {"mem_util", &GpuSample::mem_util},
                              {"fb_used_bytes", &GpuSample::fb_used_bytes},
                              {"sm_clock_hz", &GpuSample::sm_clock_hz},
                              {"mem_clock_hz", &GpuSample::mem_clock_hz},
                              {"power_w", &GpuSample::power_w},
                              {"temperature_c", &GpuSample::temperature_c}};

std::filesystem::path beside(std::filesystem::path path) {
  return path += ".new";
}

}  // namespace

NvmlLog::NvmlLog(std::unique_ptr<GpuSensors> sensors, std::filesystem::path path, double period)
    : sensors_(std::move(sensors)), path_(std::move(path)), period_(period), file_(beside(path_)) {
  file_ << "time_s" << std::setprecision(15);
  for (const Column& column : columns) file_ << "," << column.name;
  file_ << "\n";
  thread_ = std::thread([this] { run(); });
}

NvmlLog::~NvmlLog() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
  file_.close();
  if (!file_ || take_place(beside(path_), path_) != 0)
    log(LogLevel::warn,
        text("--nvml-log=", path_.string(), ": cannot be written; is the disk full?"));
}

void NvmlLog::run() {
  std::unique_lock lock(mutex_);
  do {
    write_sample();
  } while (!wake_.wait_for(lock, period_, [this] { return ending_; }));
  write_sample();
}

void NvmlLog::write_sample() {
  const GpuSample sample = sensors_->sample();
  file_ << seconds_since(start_);
  for (const Column& column : columns) {
    file_ << ",";
    if (const auto value = sample.*(column.member)) file_ << *value;
  }
  file_ << "\n";
}

std::unique_ptr<NvmlLog> begin_nvml_log(const ProfileOptions& options, const std::string& device) {
  if (options.nvml_log.empty()) return nullptr;
  try {
    return std::make_unique<NvmlLog>(open_nvml(device), options.nvml_log, options.nvml_period);
  } catch (const Error& error) {
    if (error.fault() != Fault::no_device) throw;
    log(LogLevel::warn, text("--nvml-log=", options.nvml_log, " is not written: ", error.what()));
    return nullptr;
  }
}

}  // namespace holdfast
