// SPDX-License-Identifier: Apache-2.0
// The optimized variant on a device, in bf16. Against the reference: joined products, no array of
// T by T, logits 2048 rows at a time, one launch for each rule of an optimiser, matrices of one
// shape made orthogonal together; a step is one graph that is captured once.
#include "gpt_train/device/model.hpp"
#include "gpt_train/stepped/pass.hpp"
#include "gpt_train/variants.hpp"

namespace holdfast::gpt_train {
namespace {

class DeviceSteps final : public Computation {
 public:
  DeviceSteps(Backend& backend, const Problem& problem)
      : device_(*backend.device),
        problem_(problem),
        feed_(backend, problem.options),
        model_(backend, problem, feed_),
        layer_names_(layer_names(problem.options.shape.layers)) {
    start_again(0);
    enqueue();  // products are planned by their first call
    if (problem_.options.launch == Launch::graph) graph_ = device_.capture([&] { enqueue(); });
    start_again(0);
  }

  void start_again(int) override {
    step_ = 0;
    feed_.forget();
    prepare();
    feed_.begin();
  }

  void step() override {
    if (!problem_.trains()) return enqueue();
    const bool passes = problem_.unit == Unit::train_step;
    {
      const Scope scope("data_loading");
      if (passes)
        feed_.send(step_);
      else
        feed_.send_rates(step_);
    }
    if (graph_)
      device_.replay(*graph_);
    else
      enqueue();
    if (passes) feed_.fetch_loss();
    feed_.done();
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
    std::vector<NamedReading> all =
        told_of_fetching(problem_, feed_.waited_seconds(), feed_.checksum());
    all.push_back({"layout_bytes", double(layout_bytes_)});
    return all;
  }

 private:
  // All but the first batch of a training.
  void prepare() {
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
  void enqueue() {
    const std::int64_t before = model_.layout_bytes();
    compute();
    layout_bytes_ = model_.layout_bytes() - before;
  }
  void compute() {
    if (problem_.unit != Unit::update) run(problem_.unit, layer_names_, model_);
    if (!problem_.trains()) return;
    const Scope scope("update");
    model_.update();
  }

  Device& device_;
  Problem problem_;
  Feed feed_;
  DeviceModel model_;
  std::vector<std::string> layer_names_;
  std::optional<Graph> graph_ = {};
  std::int64_t step_ = 0, layout_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Computation> make_cuda_optimized(Backend& backend, Problem problem) {
  return std::make_unique<DeviceSteps>(backend, problem);
}

}  // namespace holdfast::gpt_train
