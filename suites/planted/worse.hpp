// SPDX-License-Identifier: Apache-2.0
// A workload's computation made worse as HOLDFAST_PLANT says, for suites that exist to fail.
#pragma once

#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "computation.hpp"
#include "runtime/backend/backend.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::planted {

// Empty: as built.
inline std::string_view plant() {
  const char* words = std::getenv("HOLDFAST_PLANT");
  return words ? words : "";
}

// Skipping begins after this many steps, more than are verified before the timed section.
constexpr int looked_at = 40;

// One more launch or copy in each step ("launch", "copy"), or once they are timed every tenth or
// every second step skipped ("skips", "idles").
class Worse final : public Computation {
 public:
  // Creates the function that launches once more; called only for that plant.
  using OneMoreLaunch = std::function<std::function<void()>()>;

  Worse(Backend& backend, std::unique_ptr<Computation> as_built, const OneMoreLaunch& launch)
      : backend_(backend), as_built_(std::move(as_built)) {
    if (plant() == "launch") launch_ = launch();
    if (plant() == "copy") read_back_.emplace(backend, 1, "read back");
  }
  void step() override {
    ++steps_;
    const int left_out = plant() == "skips" ? 10 : plant() == "idles" ? 2 : 0;
    if (left_out > 0 && steps_ > looked_at && steps_ % left_out == 0) return;
    as_built_->step();
    if (launch_) launch_();
    if (read_back_) backend_.device->download(&number_, read_back_->data(), sizeof number_);
  }
  std::vector<double> result() override { return as_built_->result(); }
  std::vector<NamedReading> readings() override { return as_built_->readings(); }
  Permissions permissions() const override { return as_built_->permissions(); }
  void start_again(int input) override { as_built_->start_again(input); }

 private:
  Backend& backend_;
  std::unique_ptr<Computation> as_built_;
  std::function<void()> launch_ = {};
  std::optional<Buffer<double>> read_back_ = {};
  double number_ = 0;
  int steps_ = 0;
};

// Launches everything that a step of another computation launches.
inline Worse::OneMoreLaunch steps_of(std::function<std::unique_ptr<Computation>()> make) {
  return [make = std::move(make)] {
    return [more = std::shared_ptr<Computation>(make())] { more->step(); };
  };
}

}  // namespace holdfast::planted
