// SPDX-License-Identifier: Apache-2.0
// The units of work in terms of a model's stages, and their results: shared by both host variants.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "computation.hpp"
#include "gpt_train/problem/problem.hpp"
#include "gpt_train/problem/rates.hpp"
#include "gpt_train/stepped/fetching.hpp"
#include "gpt_train/stepped/inputs.hpp"
#include "gpt_train/stepped/pass.hpp"
#include "runtime/base/error.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::gpt_train {

// Statistics of the positions' losses l, in f64.
struct LossSums {
  double mean = 0, deviation = 0, objective = 0;
};
template <class T>
LossSums sums_of(const T* losses, std::int64_t positions, std::int64_t count) {
  double total = 0, squares = 0;
  for (std::int64_t k = 0; k < positions; ++k) total += losses[k];
  const double mean = total / double(count);
  for (std::int64_t k = 0; k < positions; ++k) squares += (losses[k] - mean) * (losses[k] - mean);
  return {mean, std::sqrt(squares / double(count)), total / std::sqrt(double(count))};
}

// A Model<T> is constructed from (backend, problem) and has the stages that are called here. It
// need not hold what a unit does not need.
template <class Model>
class Steps : public Computation {
 public:
  Steps(Backend& backend, Problem problem)
      : backend_(backend),
        problem_(std::move(problem)),
        model_(backend, problem_),
        batches_(problem_.options, trains_ahead(problem_)),
        layer_names_(layer_names(problem_.options.shape.layers)) {
    start_again(0);
  }

  // Input s is the batch of step s, for units that do not train.
  void start_again(int input) override {
    step_ = 0;
    batches_.halt();
    if (problem_.has_attention())
      model_.take(projected(problem_.options, input));
    else
      model_.draw();
    if (problem_.has_layer() || problem_.unit == Unit::lm_head)
      model_.take(first_stream(problem_.options, input));
    if (problem_.unit != Unit::update) take_batch(input);
    if (problem_.unit == Unit::layer_backward) {
      model_.layer_forward(0);
      model_.take_incoming(incoming(problem_.options.shape, problem_.options.shape.width));
    }
    if (problem_.unit == Unit::attention_backward) {
      model_.attention_forward();
      model_.take_incoming(incoming(problem_.options.shape, problem_.options.shape.query_width()));
    }
    spoil(backend_, model_.shared_result(), problem_.options.shape.tokens());
    batches_.begin_again();
  }

  void step() override {
    if (problem_.unit == Unit::train_step) return train();
    if (problem_.unit != Unit::update) return run(problem_.unit, layer_names_, model_);
    const Scope scope("update");
    model_.update(rates_of(problem_.options, step_++));
  }

  std::vector<double> result() override {
    std::vector<double> told;
    const bool trains = problem_.trains();
    if (trains) told.push_back(double(step_));
    if (problem_.has_head()) {
      const LossSums sums = loss();
      told.insert(told.end(), {sums.mean, sums.deviation, sums.objective});
    }
    if (problem_.unit == Unit::train_step) told.push_back(model_.gradient_norm());
    if (trains)
      model_.tell_parameters(told);
    else
      model_.tell(told);
    return told;
  }

  std::vector<NamedReading> readings() override {
    return told_of_fetching(problem_, batches_.waited_seconds(), batches_.checksum());
  }

 private:
  LossSums loss() const {
    return sums_of(model_.losses(), problem_.options.shape.tokens(), count_);
  }
  void take_batch(std::int64_t step) {
    batches_.of(step, [&](const Fetched& here) {
      count_ = here.targets.count;
      model_.take(here.batch, here.targets);
    });
  }

  void train() {
    {
      const Scope scope("data_loading");
      take_batch(step_);
    }
    pass(problem_.unit, layer_names_, model_);
    if (!std::isfinite(loss().mean))
      throw Error(Fault::broken_rule, text("Loss is NaN, stopping training at step ", step_));
    const Scope scope("update");
    model_.update(rates_of(problem_.options, step_++));
  }

  Backend& backend_;
  Problem problem_;
  Model model_;
  Batches batches_;
  std::vector<std::string> layer_names_;
  std::int64_t step_ = 0, count_ = 1;
};

}  // namespace holdfast::gpt_train
