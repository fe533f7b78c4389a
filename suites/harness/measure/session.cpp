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
  if (!limit_)
    throw Error(Fault::broken_rule, text("its protocol checks a result (oracle: ", oracle,
                                         ") and the case lists no limit: say Case::limit"));
  if (limit > *limit_)
    throw Error(Fault::broken_rule, text("its protocol checks a result with the limit ", limit,
                                         " (oracle: ", oracle, "), and the case lists ", *limit_));
  error = as_error(error, oracle);
  const bool first = measurement_->check == CheckStatus::not_executed;
  // A non-finite result exceeds its limit by more than any error.
  const auto share = [](const std::optional<double>& some, double of) {
    return some && std::isfinite(*some) ? *some / of : std::numeric_limits<double>::infinity();
  };
  if (first || share(error, limit) >
                   share(measurement_->check_error, measurement_->check_limit.value_or(1))) {
    measurement_->oracle = oracle;
    measurement_->check_error = std::isfinite(error) ? std::optional(error) : std::nullopt;
    measurement_->check_limit = limit;
  }
  const bool right = error <= limit;
  if (first && right) measurement_->check = CheckStatus::passed;
  if (right) return;
  measurement_->check = CheckStatus::failed;
  measurement_->status = Measurement::Status::failed;
  if (!std::isfinite(error)) {
    measurement_->reason =
        text("its result holds what is no number, or has another length (oracle: ", oracle, ")");
    return;
  }
  measurement_->reason =
      text("wrong by ", error, ", the limit is ", limit, " (oracle: ", oracle, ")");
}

}  // namespace holdfast
