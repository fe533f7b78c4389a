// SPDX-License-Identifier: Apache-2.0
// The environment of a Protocol: fresh backends, clocks, counts, and the destination of its
// readings.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/measure/measure.hpp"

namespace holdfast {

class Session {
 public:
  // `limit`: the case's own.
  Session(std::string device, Measurement& measurement, std::optional<double> limit)
      : device_(std::move(device)), measurement_(&measurement), limit_(limit) {}

  const std::string& device() const { return device_; }
  bool executes() const { return measurement_->executed; }

  // A fresh backend, alive as long as the session. Its ledger's counts and peak may be read.
  Backend& open();

  // Seconds of the device, or of the host if that computes.
  double seconds(Backend& backend, const std::function<void()>& work);
  // Host seconds until the device has finished what `work` enqueued.
  double seconds_until_done(Backend& backend, const std::function<void()>& work);
  // The counts of one steady step; throws Error{broken_rule} if steps differ, or violate a steady
  // step's rules.
  Counts steady_step(Backend& backend, Computation& computation);

  // Stores the value of a declared metric, for either variant.
  void read(std::string_view metric, double value, Variant variant = Variant::optimized);
  // Reads trace_s, lower_s, compile_s, load_s, compile_warm and nvrtc_runs for `backend`'s
  // compilations.
  void read_compilation(const Backend& backend);

  // Required: otherwise the case counts as not verified, and fails on a device that executes. Of
  // several checks, the one with the largest error relative to its limit is reported. A limit above
  // the case's own is an error.
  void check(std::string_view oracle, double error, double limit);

 private:
  std::string device_;
  Measurement* measurement_;
  std::optional<double> limit_;
  std::vector<std::unique_ptr<Backend>> backends_ = {};
};

}  // namespace holdfast
