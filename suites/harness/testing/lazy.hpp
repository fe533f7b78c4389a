// SPDX-License-Identifier: Apache-2.0
// For tests: variants that skip work, and the verdict of the repeated verification.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/measure/again.hpp"

namespace holdfast {

using Calls = std::function<bool(int call)>;  // counted from 1

// Does nothing at these calls.
class Skipping : public Computation {
 public:
  Skipping(std::unique_ptr<Computation> inner, Calls skips)
      : inner_(std::move(inner)), skips_(std::move(skips)) {}
  void step() override {
    if (!skips_(++calls_)) inner_->step();
  }
  std::vector<double> result() override { return inner_->result(); }
  std::vector<NamedReading> readings() override { return inner_->readings(); }
  void start_again(int input) override { inner_->start_again(input); }

 private:
  std::unique_ptr<Computation> inner_;
  Calls skips_;
  int calls_ = 0;
};

// Answers these calls with its last result, from its own memory.
class Remembering : public Computation {
 public:
  Remembering(std::unique_ptr<Computation> inner, Calls remembers)
      : inner_(std::move(inner)), remembers_(std::move(remembers)) {}
  void step() override {
    from_memory_ = remembers_(++calls_);
    if (from_memory_) return;
    inner_->step();
    kept_ = inner_->result();
  }
  std::vector<double> result() override { return from_memory_ ? kept_ : inner_->result(); }
  Permissions permissions() const override { return {.may_allocate = true}; }  // for its memory
  std::vector<NamedReading> readings() override { return inner_->readings(); }
  void start_again(int input) override { inner_->start_again(input); }

 private:
  std::unique_ptr<Computation> inner_;
  Calls remembers_;
  std::vector<double> kept_ = {};
  bool from_memory_ = false;
  int calls_ = 0;
};

// The repeated verification's verdict on steps on the host whose optimized variant is `Lazy`.
template <class Lazy>
std::optional<std::string> found_again(Steps steps, const Calls& calls, bool beside_reference) {
  steps.make = [=, made = steps.make](Backend& backend,
                                      Variant variant) -> std::unique_ptr<Computation> {
    auto inner = made(backend, variant);
    if (variant == Variant::reference) return inner;
    return std::make_unique<Lazy>(std::move(inner), calls);
  };
  Subject optimized = account(steps, Variant::optimized, "host");
  std::optional<Subject> reference;
  if (beside_reference) reference = account(steps, Variant::reference, "host");
  Again done;
  constexpr double ample = 60;  // seconds
  return verify_again(steps, reference ? &*reference : nullptr, optimized,
                      {.seconds = ample, .seed = 1}, done);
}

}  // namespace holdfast
