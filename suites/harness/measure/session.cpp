// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/session.hpp"

#include <cmath>
#include <limits>

#include "harness/measure/account.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {

Backend& Session::open() {
  return *backends_.emplace_back(open_backend(device_));
}

double Session::seconds(Backend& backend, const std::function<void()>& work) {
  return backend.device ? backend.device->time(work) : seconds_until_done(backend, work);
}

double Session::seconds_until_done(Backend& backend, const std::function<void()>& work) {
  return holdfast::seconds_until_done(backend, work);
}

Counts Session::steady_step(Backend& backend, Computation& computation) {
  return holdfast::steady_step(backend, computation);
}

void Session::read(std::string_view metric, double value, Variant variant) {
  VariantMeasurement& measured = variant == Variant::optimized ? measurement_->optimized
                                 : measurement_->reference     ? *measurement_->reference
                                                               : measurement_->reference.emplace();
  measured.readings[std::string(metric)] = value;
}

void Session::read_compilation(const Backend& backend) {
  const StageSeconds stages = stage_seconds(backend);
  read("trace_s", stages.trace);
  read("lower_s", stages.lower);
  read("compile_s", stages.compile);
  read("load_s", stages.load);
  read("compile_warm", static_cast<double>(backend.ledger.counts.programs));
  read("nvrtc_runs", static_cast<double>(backend.ledger.counts.nvrtc_runs));
}

void Session::check(std::string_view oracle, double error, double limit) {
  // JSON has no infinity; a result that is not a number is as wrong as can be.
  if (!std::isfinite(error)) error = std::numeric_limits<double>::max();
  const bool first = measurement_->check == CheckStatus::not_executed;
  const double before = first ? -1 : *measurement_->check_error / *measurement_->check_limit;
  if (error / limit > before) {
    measurement_->oracle = oracle;
    measurement_->check_error = error;
    measurement_->check_limit = limit;
  }
  const bool right = error <= limit;
  if (first && right) measurement_->check = CheckStatus::passed;
  if (right) return;
  measurement_->check = CheckStatus::failed;
  measurement_->status = Measurement::Status::failed;
  measurement_->reason =
      text("wrong by ", error, ", the limit is ", limit, " (oracle: ", oracle, ")");
}

}  // namespace holdfast
