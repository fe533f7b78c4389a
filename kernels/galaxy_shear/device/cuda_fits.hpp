// SPDX-License-Identifier: Apache-2.0
// Fits on a device: the units that compare galaxies' images with their data.
#pragma once

#include <optional>
#include <vector>

#include "galaxy_shear/data/data.hpp"
#include "galaxy_shear/device/on_device.hpp"
#include "galaxy_shear/problem/results.hpp"

namespace holdfast::galaxy_shear {

template <class T>
class Forward final : public OnDevice<T, ForwardKernel<T>> {
  using Base = OnDevice<T, ForwardKernel<T>>;
  using Base::problem_;

 public:
  Forward(Backend& backend, const Problem& problem)
      : Base(backend, problem),
        data_(backend, cast<T>(problem.data), "inputs"),
        states_(backend, first_states(problem), "state"),
        losses_(backend, problem.batch, "result") {}
  void step() override {
    Base::launch("forward", Base::kernels_.forward, data_.data(), states_.data(), losses_.data(),
                 problem_.sample);
  }
  void start_again(int input) override {
    states_.upload(first_states(problem_));
    data_.upload(cast<T>(data_of(problem_, input)));
  }
  std::vector<double> result() override {
    return told(problem_, states_.to_host(), losses_.to_host());
  }

 private:
  Buffer<T> data_;
  Buffer<FitState> states_;
  Buffer<double> losses_;
};

constexpr int steps_of_a_graph = 20;

// The units svi_step and map.
template <class T>
class Fit final : public OnDevice<T, FitKernel<T>> {
  using Base = OnDevice<T, FitKernel<T>>;
  using Base::device_, Base::problem_;

 public:
  Fit(Backend& backend, const Problem& problem)
      : Base(backend, problem),
        data_(backend, cast<T>(problem.data), "inputs"),
        starts_(backend, padded_starts(problem), "inputs: starts"),
        states_(backend, first_states(problem), "state"),
        losses_(backend, std::size_t(problem.batch) * problem.steps, "result") {
    if (problem.unit != Unit::map || problem.launch != Launch::graph) return;
    if (problem.steps >= steps_of_a_graph) graph_ = recorded(steps_of_a_graph);
    if (problem.steps % steps_of_a_graph > 0) rest_ = recorded(problem.steps % steps_of_a_graph);
  }

  void step() override {
    if (problem_.unit == Unit::svi_step) return launch(1, 0);
    if (problem_.launch == Launch::persistent) return launch(problem_.steps, problem_.steps);
    if (problem_.launch == Launch::graph) {
      for (int k = 0; k < problem_.steps / steps_of_a_graph; ++k) device_.replay(*graph_);
      if (rest_) device_.replay(*rest_);
      return;
    }
    // Like a progress bar, reads back the loss of every step and waits for it.
    for (int t = 0; t < problem_.steps; ++t) {
      launch(1, problem_.steps);
      device_.download(now_.data(), losses_.data() + t * now_.size(), now_.size() * sizeof(double));
    }
  }
  void start_again(int input) override {
    states_.upload(first_states(problem_));
    data_.upload(cast<T>(data_of(problem_, input)));
  }
  std::vector<double> result() override {
    return told(problem_, states_.to_host(), losses_.to_host());
  }

 private:
  void launch(int steps, int period) {
    Base::launch("fit", Base::kernels_.fit, data_.data(), starts_.data(), states_.data(),
                 losses_.data(), steps, period);
  }
  Graph recorded(int steps) {
    return device_.capture([&] {
      for (int k = 0; k < steps; ++k) launch(1, problem_.steps);
    });
  }

  Buffer<T> data_;
  Buffer<double> starts_;
  Buffer<FitState> states_;
  Buffer<double> losses_;
  std::optional<Graph> graph_ = {}, rest_ = {};
  std::vector<double> now_ = std::vector<double>(problem_.batch);  // losses of the latest step
};

// The units vi_step and hmc_sample.
template <class T, class Walk>
class Walked final : public OnDevice<T, WalkKernel<T, Walk>> {
  using Base = OnDevice<T, WalkKernel<T, Walk>>;
  using Base::problem_;

 public:
  Walked(Backend& backend, const Problem& problem)
      : Base(backend, problem),
        data_(backend, cast<T>(problem.data), "inputs"),
        states_(backend, first_walks<Walk>(problem), "state"),
        losses_(backend, problem.batch, "result") {}
  void step() override {
    Base::launch("walk", Base::kernels_.walk, data_.data(), states_.data(), losses_.data(),
                 evaluations_of(problem_.unit));
  }
  void start_again(int) override { states_.upload(first_walks<Walk>(problem_)); }
  std::vector<double> result() override {
    return walked<Walk>(problem_, states_.to_host(), losses_.to_host());
  }

 private:
  Buffer<T> data_;
  Buffer<typename Walk::State> states_;
  Buffer<double> losses_;
};

}  // namespace holdfast::galaxy_shear
