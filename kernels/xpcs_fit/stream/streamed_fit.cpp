// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/stream/streamed_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "base/time.hpp"
#include "runtime/base/error.hpp"
#include "xpcs_fit/data/noise.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr int nothing_left = -1;  // the next batch of a fit that is over
constexpr int most_restarts = 2;

}  // namespace

void StreamStatistics::add(const BatchRecord& record) {
  const int struck = record.good ? record.attempts - 1 : record.attempts;
  ++batches;
  attempts += record.attempts;
  faults += struck;
  recovered += record.good && struck > 0;
  failed += !record.good;
  least_seconds = batches == 1 ? record.seconds : std::min(least_seconds, record.seconds);
  most_seconds = std::max(most_seconds, record.seconds);
  seconds += record.seconds;
  last.push_back(record);
  if (last.size() > kept_records) last.pop_front();
}

void StreamStatistics::add_good() {
  ++batches;
  ++attempts;
}

StreamedFit::StreamedFit(const Problem& problem, int passes, Batches& batches,
                         StreamSettings settings)
    : p_(parameter_count(problem.options, problem.input->size.angles)),
      passes_(passes),
      seed_(problem.input->seed),
      fit_(problem, passes),
      batches_(batches),
      settings_(std::move(settings)),
      left_out_(static_cast<std::size_t>(batches.count())),
      normal_(normal_count(p_)),
      costs_(left_out_.size()),
      accepted_costs_(left_out_.size()),
      begun_(static_cast<std::size_t>(batches.slots())) {}

void StreamedFit::run() {
  start();
  go_on(0);
}

void StreamedFit::resume() {
  start();
  const auto payload = settings_.checkpoints ? settings_.checkpoints->newest() : std::nullopt;
  go_on(payload ? restore(*payload) : 0);
}

void StreamedFit::start() {
  fit_.restart();
  std::fill(left_out_.begin(), left_out_.end(), 0);
  statistics_ = {};
  best_.clear();
  best_costs_.clear();
  std::fill(normal_.begin(), normal_.end(), 0.);
  fit_.set_freedom(freedom());
  pass_ = 0;
}

void StreamedFit::go_on(int next_batch) {
  if (next_batch == nothing_left) return;
  for (;; ++pass_, next_batch = 0) {
    const std::vector<double> at = fit_.trial();
    if (next_batch == 0) std::fill(normal_.begin(), normal_.end(), 0.);
    pass(at, next_batch);
    ++statistics_.passes;
    check_success_rate();
    const bool over = fit_.take(normal_.data());
    // If this trial was accepted, these are the costs of the current state.
    const double* const stands = fit_.state().parameters();
    if (std::equal(at.begin(), at.end(), stands)) accepted_costs_ = costs_;
    if (!over || begins_elsewhere()) continue;
    if (settings_.checkpoints) save(nothing_left);
    return;
  }
}

// A stuck fit restarts nearby, twice at most; the best of all is the result.
bool StreamedFit::begins_elsewhere() {
  const FitState fit = fit_.state();
  const bool stuck =
      passes_ == 0 && (fit.status() == out_of_iterations || fit.status() == damping_too_large);
  if (!stuck && statistics_.restarts == 0) return false;
  if (best_.empty() || fit.cost() < FitState{best_.data(), p_}.cost()) {
    best_.assign(fit.at, fit.at + fit_count(p_));
    best_costs_ = accepted_costs_;
  }
  if (stuck && statistics_.restarts < most_restarts) {
    std::vector<double> near(fit.parameters(), fit.parameters() + p_);
    const double z = noise(++statistics_.restarts, seed_, noise_of_restarts);
    for (double& value : near) value *= 1 + z / 20;
    fit_.restart_at(near);
    return true;
  }
  std::copy(best_.begin(), best_.end(), fit.at);
  return false;
}

// Keeps as many batches in flight as there are slots; adds them up in their order.
void StreamedFit::pass(const std::vector<double>& at, int first) {
  std::deque<std::pair<int, int>> begun;  // slot, batch
  int next_slot = 0;
  for (int batch = first; batch < batches_.count(); ++batch) {
    if (left_out_[batch]) continue;
    if (static_cast<int>(begun.size()) == batches_.slots()) {
      take(begun.front().first, begun.front().second, at);
      begun.pop_front();
    }
    if (settings_.mode == StreamMode::full)
      begun_[static_cast<std::size_t>(next_slot)] = monotonic_seconds();
    batches_.begin(next_slot, batch, settings_.faults.strikes(batch, pass_, 0), at);
    begun.emplace_back(next_slot, batch);
    next_slot = (next_slot + 1) % batches_.slots();
  }
  for (const auto& [slot, batch] : begun) take(slot, batch, at);
}

void StreamedFit::take(int slot, int batch, const std::vector<double>& at) {
  BatchRecord record = {.pass = pass_, .batch = batch, .attempts = 1};
  const double* normal = batches_.finish(slot);
  const bool full = settings_.mode == StreamMode::full;
  const auto is_good = [&] {
    const BatchFault fault = fault_of(normal);
    if (fault == BatchFault::none) return true;
    record.fault = fault;
    ++statistics_.faults_of[static_cast<std::size_t>(fault)];
    return false;
  };
  if (full)
    while (!(record.good = is_good()) && record.attempts <= settings_.retries) {
      batches_.begin(slot, batch, settings_.faults.strikes(batch, pass_, record.attempts), at);
      normal = batches_.finish(slot);
      ++record.attempts;
    }
  if (full) {
    record.cost = costs_[batch] = normal[0];
    record.gradient = std::sqrt(std::inner_product(normal + 1, normal + 1 + p_, normal + 1, 0.));
    record.seconds = monotonic_seconds() - begun_[static_cast<std::size_t>(slot)];
    statistics_.add(record);
  } else if (settings_.mode == StreamMode::fast) {
    statistics_.add_good();
  }
  if (record.good) {
    for (std::size_t k = 0; k < normal_.size(); ++k) normal_[k] += normal[k];
  } else {
    leave_out(batch);
  }
  if (settings_.checkpoints && statistics_.batches % settings_.checkpoint_frequency == 0)
    save(batch + 1);
  if (settings_.watch) settings_.watch(record);
}

// Leaves the batch out for the rest of the fit. Its share is subtracted from the current cost and
// from the best one before a restart, so that costs stay comparable.
void StreamedFit::leave_out(int batch) {
  left_out_[batch] = 1;
  if (fit_.state().passes() > 0) fit_.state().cost() -= accepted_costs_[batch];
  costs_[batch] = accepted_costs_[batch] = 0;
  if (!best_.empty()) FitState{best_.data(), p_}.cost() -= std::exchange(best_costs_[batch], 0);
  fit_.set_freedom(freedom());
}

BatchFault StreamedFit::fault_of(const double* normal) const {
  const auto finite = [](const double* first, const double* last) {
    return std::all_of(first, last, [](double x) { return std::isfinite(x); });
  };
  const double *const gradient = normal + 1, *const matrix = gradient + p_;
  return !std::isfinite(normal[0])                  ? BatchFault::cost
         : !finite(gradient, matrix)                ? BatchFault::gradient
         : !finite(matrix, normal + normal_.size()) ? BatchFault::matrix
                                                    : BatchFault::none;
}

double StreamedFit::success_rate() const {
  const auto lost = std::count(left_out_.begin(), left_out_.end(), 1);
  return 1 - static_cast<double>(lost) / static_cast<double>(left_out_.size());
}

std::int64_t StreamedFit::points() const {
  std::int64_t sum = 0;
  for (int batch = 0; batch < batches_.count(); ++batch)
    if (!left_out_[batch]) sum += batches_.points(batch);
  return sum;
}

void StreamedFit::check_success_rate() {
  if (success_rate() >= settings_.least_success_rate) return;
  const std::span best(best_parameters(), static_cast<std::size_t>(p_));
  throw Error(Fault::broken_rule,
              text("success_rate_too_low: ", success_rate(), " of the batches are left in pass ",
                   pass_, ", less than ", settings_.least_success_rate,
                   "; the best parameters so far are ", listed(best)));
}

// After a restart, the cost of the current state is unknown until its first pass is over.
const double* StreamedFit::best_parameters() {
  const FitState fit = fit_.state();
  if (best_.empty()) return fit.parameters();
  const FitState best = {best_.data(), p_};
  return (fit.passes() > 0 && fit.cost() < best.cost() ? fit : best).parameters();
}

}  // namespace holdfast::xpcs_fit
