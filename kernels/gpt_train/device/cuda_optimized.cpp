// SPDX-License-Identifier: Apache-2.0
// The optimized variant on a device, in bf16. Against the reference: joined products, no array of T
// by T, logits 2048 rows at a time, one launch per rule of an optimiser, matrices of one shape
// orthogonalised together; a step is one graph, captured once.
#include "gpt_train/device/device_steps.hpp"
#include "gpt_train/device/model.hpp"
#include "gpt_train/variants.hpp"

namespace holdfast::gpt_train {
namespace {

class FusedSteps final : public DeviceSteps<DeviceModel> {
 public:
  FusedSteps(Backend& backend, const Problem& problem) : DeviceSteps(backend, problem) {
    start_again(0);
    enqueue();  // the first call plans the products
    if (problem_.options.launch == Launch::graph) graph_ = device_.capture([&] { enqueue(); });
    start_again(0);
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

 private:
  void update() override { model_.update(); }

  std::optional<Graph> graph_ = {};
};

}  // namespace

std::unique_ptr<Computation> make_cuda_optimized(Backend& backend, Problem problem) {
  return std::make_unique<FusedSteps>(backend, problem);
}

}  // namespace holdfast::gpt_train
