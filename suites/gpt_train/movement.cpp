// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/movement.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "gpt_train/data/data.hpp"
#include "gpt_train/oracle/answers.hpp"
#include "gpt_train/problem/rates.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::gpt_train {
namespace {

using Values = std::vector<double>;
using Numbers = Values::const_iterator;

double norm(Numbers first, std::int64_t count) {
  return std::sqrt(std::inner_product(first, first + count, first, 0.));
}
double distance(Numbers a, Numbers b, std::int64_t count) {
  return std::sqrt(std::inner_product(a, a + count, b, 0., std::plus<>(),
                                      [](double x, double y) { return (x - y) * (x - y); }));
}

// The norm of a step that moves each number by the rate, or, with Muon, each singular value.
double usual_step(const Options& options, const Tensor& tensor) {
  const Rates rates = rates_of(options, 0);
  const bool is_matrix = tensor.role == Role::matrix;
  if (is_matrix && !rates.timescales.empty()) {
    double weights = 0;
    for (const Timescale& scale : rates.timescales) weights += scale.weight;
    return std::abs(rates.muon_rate) * muon_stretch(tensor.rows, tensor.columns) * weights *
           std::sqrt(double(std::min(tensor.rows, tensor.columns)));
  }
  const double rate = is_matrix                        ? rates.matrix.rate
                      : tensor.role == Role::embedding ? rates.embedding.rate
                      : tensor.role == Role::head      ? rates.head.rate
                                                       : rates.norm.rate;
  return std::abs(rate) * std::sqrt(double(tensor.size()));
}

// Whether f32 distinguishes that step from none.
bool is_resolved(double step, Numbers tensor, std::int64_t count) {
  return step > oracle::resolved_movement * norm(tensor, count);
}

struct Range {
  double least = 0, most = 0;
};
// The range of a tensor's first movement, in usual steps. Adam and Lion move each number by the
// rate and a little decay, Adam by less if a gradient is no larger than its epsilon, as in a head
// with many tokens; Newton-Schulz leaves most singular values at 0.68 to 1.13, smaller ones less,
// and a gradient has at most as many as tokens. Of E only rows of seen tokens move, at least one,
// and rows that are too long are also shortened.
Range first_step(Unit unit, const Options& options, const Tensor& tensor) {
  const Shape& s = options.shape;
  if (tensor.role == Role::matrix && options.optimizer != Optimizer::adamw)
    return {
        0.3 * std::sqrt(std::min(1., double(s.tokens()) / std::min(tensor.rows, tensor.columns))),
        1.2};
  if (tensor.role != Role::embedding) return {0.5, 1.1};
  return {unit == Unit::update ? 0.5 : 0.5 / std::sqrt(double(s.vocabulary)), INFINITY};
}

// Adam's quotient is below (1 - beta1) / sqrt((1 - beta2) (1 - beta1^2 / beta2)) = 5.1, Lion's and
// Muon's are smaller; the rest allows for decay.
constexpr double most_of_a_step = 6;

// The parameters follow the number of steps and, for a training step, four more numbers.
std::size_t first_parameter(const Row& row, const Values& result) {
  return result.size() - std::size_t(parameter_count(row.options.shape));
}

std::optional<std::string> moved_wrongly(const Options& options, const Tensor& tensor, double steps,
                                         Numbers before, Numbers after) {
  const double moved = distance(before, after, tensor.size());
  const double step = usual_step(options, tensor);
  if (!std::isfinite(moved)) return text(tensor.name, " holds what is no number");
  if (!is_resolved(step, before, tensor.size())) return std::nullopt;
  if (moved == 0) return text(tensor.name, " has not moved");
  // Rows of E that are too long are shortened as much as necessary.
  if (tensor.role == Role::embedding || moved <= most_of_a_step * steps * step) return std::nullopt;
  return text(tensor.name, " moved by ", moved, " in ", steps, " steps, of which each may be ",
              most_of_a_step * step);
}

}  // namespace

bool is_one_step_from_start(const Row& row, const Values& result) {
  if (result[0] != 1) return false;
  auto at = result.begin() + std::ptrdiff_t(first_parameter(row, result));
  for (const Tensor& tensor : tensors_of(row.options.shape)) {
    const Values start = drawn(tensor, row.options.start);
    const double step = usual_step(row.options, tensor);
    const auto [least, most] = first_step(unit_of(row), row.options, tensor);
    const double moved = distance(start.begin(), at, tensor.size());
    if (is_resolved(step, start.begin(), tensor.size()) &&
        !(moved >= least * step && moved <= most * step))
      return false;
    at += tensor.size();
  }
  return true;
}

Invariant training_goes_on(const Row& row) {
  return [=](const Values& before, const Values& after) -> std::optional<std::string> {
    if (before.size() != after.size())
      return text("the result had ", before.size(), " values and has ", after.size());
    if (!(after[0] > before[0])) return "no step was taken";
    const std::size_t first = first_parameter(row, after);
    for (std::size_t k = 0; k < first; ++k)
      if (!std::isfinite(after[k])) return text("value ", k, " of the result is no number");
    std::ptrdiff_t at = std::ptrdiff_t(first);
    for (const Tensor& tensor : tensors_of(row.options.shape)) {
      if (auto fault = moved_wrongly(row.options, tensor, after[0] - before[0], before.begin() + at,
                                     after.begin() + at))
        return fault;
      at += tensor.size();
    }
    return std::nullopt;
  };
}

}  // namespace holdfast::gpt_train
