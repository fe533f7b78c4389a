// SPDX-License-Identifier: Apache-2.0
// For the tests of the harness: a computation on the host that counts to ten times its steps, and
// its possible faults.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "harness/case/case.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast {

class Toy : public Computation {
 public:
  Toy(Backend& backend, std::function<void(Backend&, int step)> besides = {})
      : backend_(&backend), besides_(std::move(besides)), state_(backend, 1, "state") {
    state_.data()[0] = 0;
  }
  void step() override {
    ++steps_;
    state_.data()[0] += 10;
    if (besides_) besides_(*backend_, steps_);
  }
  std::vector<double> result() override { return {state_.data()[0]}; }
  void start_again(int) override { state_.data()[0] = 0; }

 private:
  Backend* backend_;
  std::function<void(Backend&, int)> besides_;
  Buffer<double> state_;
  int steps_ = 0;
};

inline std::vector<double> ten_per_step(int steps) {
  return {10. * steps};
}

inline Case toy_case(const std::function<void(Backend&, int)>& besides = {}) {
  return {
      .id = "toy/count/n:1/f64",
      .tier = Tier::smoke,
      .devices = {"host"},
      .work = {.flops = 1, .bytes = 8},
      .recipe = Steps{.make = [=](Backend& backend,
                                  Variant) { return std::make_unique<Toy>(backend, besides); },
                      .oracle = {.name = "arithmetic", .limit = 1e-15, .expected = ten_per_step},
                      .warm_up = 2}};
}

inline Steps& steps_of(Case& one) {
  return std::get<Steps>(one.recipe);
}

}  // namespace holdfast
