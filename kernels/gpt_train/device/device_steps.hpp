// SPDX-License-Identifier: Apache-2.0
// The units of work on a device in terms of a model's stages, and their results: shared by both
// variants.
#pragma once

#include <string>
#include <vector>

#include "computation.hpp"
#include "gpt_train/device/feed.hpp"
#include "gpt_train/problem/problem.hpp"
#include "gpt_train/stepped/pass.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::gpt_train {

// A Model is constructed from (backend, problem, feed) and has the stages that are called here.
template <class Model>
class DeviceSteps : public Computation {
 public:
  // Input s is the batch of step s, for units that do not train.
  void start_again(int input) override {
    step_ = 0;
    feed_.forget();
    prepare(input);
    spoil(backend_, model_.shared_result(), problem_.options.shape.tokens());
    feed_.begin();
  }

  std::vector<double> result() override {
    device_.synchronize();
    if (!device_.executes()) return {};  // a gigabyte of zeros carries no information
    feed_.check_losses();
    std::vector<double> told;
    if (problem_.trains()) told.push_back(double(step_));
    if (problem_.has_head()) {
      const Feed::Loss loss = feed_.newest_loss();
      told.insert(told.end(), {loss.mean, loss.deviation, loss.objective});
    }
    if (problem_.unit == Unit::train_step) told.push_back(model_.gradient_norm());
    if (problem_.trains())
      model_.tell_parameters(told);
    else
      model_.tell(told);
    return told;
  }

  std::vector<NamedReading> readings() override {
    std::vector<NamedReading> all =
        told_of_fetching(problem_, feed_.waited_seconds(), feed_.checksum());
    all.push_back({"layout_bytes", double(layout_bytes_)});
    return all;
  }

 protected:
  DeviceSteps(Backend& backend, const Problem& problem)
      : backend_(backend),
        device_(*backend.device),
        problem_(problem),
        feed_(backend, problem.options),
        model_(backend, problem, feed_),
        layer_names_(layer_names(problem.options.shape.layers)) {}

  virtual void update() = 0;

  void enqueue() {
    const std::int64_t before = model_.layout_bytes();
    if (problem_.unit != Unit::update) run(problem_.unit, layer_names_, model_);
    if (problem_.trains()) {
      const Scope scope("update");
      update();
    }
    layout_bytes_ = model_.layout_bytes() - before;
  }

  Backend& backend_;
  Device& device_;
  Problem problem_;
  Feed feed_;
  Model model_;
  std::int64_t step_ = 0;

 private:
  // Prepares everything but the first batch of a training.
  void prepare(int input) {
    model_.draw();
    if (problem_.unit == Unit::update) return;
    feed_.send(input);
    feed_.done();
    if (problem_.has_layers()) return;
    model_.draw_stream();
    if (problem_.unit == Unit::layer_backward) model_.layer_forward(0);
    if (problem_.unit == Unit::attention_backward) model_.attention_forward();
    if (problem_.unit == Unit::layer_backward || problem_.unit == Unit::attention_backward)
      model_.draw_incoming();
  }

  std::vector<std::string> layer_names_;
  std::int64_t layout_bytes_ = 0;
};

}  // namespace holdfast::gpt_train
