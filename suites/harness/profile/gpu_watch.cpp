// SPDX-License-Identifier: Apache-2.0
#include "harness/profile/gpu_watch.hpp"

#include <algorithm>
#include <utility>

#include "base/names.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"

namespace holdfast {
namespace {

constexpr double most_slowed = 0.25;

void keep_least(std::optional<double>& kept, const std::optional<double>& value) {
  if (value) kept = std::min(kept.value_or(*value), *value);
}

}  // namespace

GpuWatch::GpuWatch(std::unique_ptr<GpuSensors> sensors, double period_seconds)
    : sensors_(std::move(sensors)), period_(period_seconds) {
  take_sample();
  thread_ = std::thread([this] { run(); });
}

GpuWatch::~GpuWatch() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void GpuWatch::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, period_, [this] { return ending_; })) take_sample();
}

void GpuWatch::take_sample() {
  const GpuSample sample = sensors_->sample();
  ++samples_;
  keep_least(seen_.sm_clock_hz, sample.sm_clock_hz);
  keep_least(seen_.mem_clock_hz, sample.mem_clock_hz);
  if (sample.temperature_c)
    seen_.temperature_c =
        std::max(seen_.temperature_c.value_or(*sample.temperature_c), *sample.temperature_c);
  if (sample.throttled) {
    slowed_ += *sample.throttled;
    seen_.throttled = false;
  }
  if (sample.other_processes) {
    const auto others = static_cast<std::int64_t>(*sample.other_processes);
    shared_ += others > 0;
    seen_.other_processes = std::max(seen_.other_processes.value_or(0), others);
  }
  if (sample.ecc_errors) {
    if (!first_errors_) first_errors_ = sample.ecc_errors;
    seen_.ecc_errors = static_cast<std::int64_t>(*sample.ecc_errors - *first_errors_);
  }
}

RunQuality GpuWatch::quality() {
  const std::lock_guard lock(mutex_);
  take_sample();
  RunQuality quality = seen_;
  const auto of_samples = [&](int count) { return text(count, " of ", samples_, " samples"); };
  if (slowed_ > most_slowed * samples_) {
    quality.throttled = true;
    quality.reasons.push_back(
        text("the GPU was slowed down by heat, power or a fault in ", of_samples(slowed_),
             "; hold it to a clock that it keeps: sudo nvidia-smi --lock-gpu-clocks=MHZ"));
  }
  if (shared_ > 0)
    quality.reasons.push_back(text("other processes computed on the GPU in ", of_samples(shared_)));
  if (quality.ecc_errors.value_or(0) > 0)
    quality.reasons.push_back(
        text("the GPU's memory had ", *quality.ecc_errors, " errors that no code could correct"));
  return quality;
}

bool is_disturbed(const GpuSample& sample, std::int64_t expected_processes) {
  return sample.throttled.value_or(false) ||
         static_cast<std::int64_t>(sample.other_processes.value_or(0)) > expected_processes;
}

std::unique_ptr<GpuSensors> sensors_of(const std::string& device) {
  if (device_kind(device) != "cuda") return nullptr;
  try {
    return open_nvml(device);
  } catch (const Error& error) {
    if (error.fault() != Fault::no_device) throw;
    log(LogLevel::warn,
        text("nothing tells whether the GPU was throttled or shared: ", error.what()));
    return nullptr;
  }
}

std::unique_ptr<GpuWatch> watch_gpu(const std::string& device) {
  auto sensors = sensors_of(device);
  return sensors ? std::make_unique<GpuWatch>(std::move(sensors)) : nullptr;
}

}  // namespace holdfast
