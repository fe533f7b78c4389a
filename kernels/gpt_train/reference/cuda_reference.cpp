// SPDX-License-Identifier: Apache-2.0
// The reference on a device, launched by the host operation by operation; inputs and loss are
// transferred as in the optimized variant.
#include "gpt_train/device/device_steps.hpp"
#include "gpt_train/problem/rates.hpp"
#include "gpt_train/reference/device_plain.hpp"
#include "gpt_train/variants.hpp"

namespace holdfast::gpt_train {
namespace {

class PlainSteps final : public DeviceSteps<DevicePlain> {
 public:
  PlainSteps(Backend& backend, const Problem& problem) : DeviceSteps(backend, problem) {
    start_again(0);
    enqueue();  // the first call plans the products
    start_again(0);
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

 private:
  void update() override { model_.update(rates_of(problem_.options, step_)); }
};

}  // namespace

std::unique_ptr<Computation> make_cuda_reference(Backend& backend, Problem problem) {
  return std::make_unique<PlainSteps>(backend, problem);
}

}  // namespace holdfast::gpt_train
