// SPDX-License-Identifier: Apache-2.0
// The reference on a device, launched by the host operation by operation; its inputs and its loss
// go to and fro as the optimized variant's do.
#include "gpt_train/reference/device_plain.hpp"
#include "gpt_train/stepped/pass.hpp"
#include "gpt_train/variants.hpp"

namespace holdfast::gpt_train {
namespace {

class PlainSteps final : public Computation {
 public:
  PlainSteps(Backend& backend, const Problem& problem)
      : device_(*backend.device),
        problem_(problem),
        feed_(backend, problem.options),
        model_(backend, problem, feed_),
        layer_names_(layer_names(problem.options.shape.layers)) {
    start_again(0);
    enqueue();  // products are planned by their first call
    start_again(0);
  }

  void start_again(int) override {
    step_ = 0;
    feed_.forget();
    model_.draw();
    if (problem_.unit == Unit::update) return;
    feed_.send(0);
    feed_.done();
    if (problem_.has_layers()) return;
    model_.draw_stream();
    if (problem_.unit == Unit::layer_backward) model_.layer_forward(0);
    if (problem_.unit == Unit::attention_backward) model_.attention_forward();
    if (problem_.unit == Unit::layer_backward || problem_.unit == Unit::attention_backward)
      model_.draw_incoming();
  }

  void step() override {
    const bool trains = problem_.unit == Unit::train_step;
    if (trains) {
      const Scope scope("data_loading");
      feed_.send(step_);
    }
    enqueue();
    if (trains) {
      feed_.fetch_loss();
      feed_.done();
    }
    ++step_;
  }

  std::vector<double> result() override {
    device_.synchronize();
    if (!device_.executes()) return {};  // a gigabyte of zeros tells nothing
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
    return {{"layout_bytes", double(layout_bytes_)}};
  }

 private:
  void enqueue() {
    const std::int64_t before = model_.layout_bytes();
    compute();
    layout_bytes_ = model_.layout_bytes() - before;
  }
  void compute() {
    if (problem_.unit != Unit::update) run(problem_.unit, layer_names_, model_);
    if (!problem_.trains()) return;
    const Scope scope("update");
    model_.update(rates_of(problem_.options, step_));
  }

  Device& device_;
  Problem problem_;
  Feed feed_;
  DevicePlain model_;
  std::vector<std::string> layer_names_;
  std::int64_t step_ = 0, layout_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Computation> make_cuda_reference(Backend& backend, Problem problem) {
  return std::make_unique<PlainSteps>(backend, problem);
}

}  // namespace holdfast::gpt_train
