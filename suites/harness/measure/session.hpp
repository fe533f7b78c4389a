// SPDX-License-Identifier: Apache-2.0
// What a Protocol is given: fresh backends, clocks, counts, and where its readings go.
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
  // `limit` is the case's own.
  Session(std::string device, Measurement& measurement, std::optional<double> limit)
      : device_(std::move(device)), measurement_(&measurement), limit_(limit) {}

  const std::string& device() const { return device_; }
  bool executes() const { return measurement_->executed; }

  // Fresh, and alive as long as the session. Its ledger's counts and peak are there to be read.
  Backend& open();

  // Of the device, or of the host where that computes.
  double seconds(Backend& backend, const std::function<void()>& work);
  // Of the host, until the device has done what `work` enqueued.
  double seconds_until_done(Backend& backend, const std::function<void()>& work);
  // One steady step; Error{broken_rule} when steps differ, or do what they must not.
  Counts steady_step(Backend& backend, Computation& computation);

  // A metric that the case declares, of either variant.
  void read(std::string_view metric, double value, Variant variant = Variant::optimized);
  // trace_s, lower_s, compile_s, load_s, compile_warm and nvrtc_runs of what `backend` compiled.
  void read_compilation(const Backend& backend);

  // Without it the case counts as not verified, and on a device that executes it fails. Of several
  // checks the one that comes nearest to its limit, or goes furthest beyond, is reported. A limit
  // above the one that the case lists is an error.
  void check(std::string_view oracle, double error, double limit);

 private:
  std::string device_;
  Measurement* measurement_;
  std::optional<double> limit_;
  std::vector<std::unique_ptr<Backend>> backends_ = {};
};

}  // namespace holdfast
