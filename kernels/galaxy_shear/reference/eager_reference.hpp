// SPDX-License-Identifier: Apache-2.0
// The reference: the published program's graph of operations (eager_graph.hpp) and the products,
// losses and fits of its images (README.md, F1 to F19 and B1 to B15). All memory is allocated
// before the first step.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "computation.hpp"
#include "galaxy_shear/data/data.hpp"
#include "galaxy_shear/problem/results.hpp"
#include "galaxy_shear/reference/eager_graph.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::galaxy_shear {

template <class Verbs>
class EagerReference final : public Computation {
  using T = Verbs::Value;

 public:
  EagerReference(Backend& backend, Problem problem)
      : backend_(backend),
        problem_(std::move(problem)),
        batch_(problem_.batch),
        model_(model_of(problem_.scene)),
        graph_(backend, problem_.scene, problem_.precision, batch_, descends()) {
    const int stamp = graph_.size.stamp;
    if (problem_.fits()) {
      data_.emplace(backend, cast(problem_.data), "inputs");
      states_.emplace(backend, first_states(problem_), "state");
      sums_.emplace(backend, batch_, "sums");
      losses_.emplace(backend, batch_ * problem_.steps, "result");
      residual_.emplace(backend, batch_ * stamp, "residual");
    } else {
      truths_.emplace(backend, problem_.truths, "inputs");
    }
    if (problem_.unit == Unit::render_grad) {
      cotangent_.emplace(backend, cast(problem_.cotangent), "inputs: cotangent");
      sums_.emplace(backend, batch_, "result: sums");
    } else if (descends()) {
      cotangent_.emplace(backend, batch_ * stamp, "cotangent");
    }
  }

  void step() override {
    if (!problem_.fits()) {
      graph_.verbs.place_truths(model_, truths_->data(), graph_.placed.data(), batch_);
      graph_.draw();
      if (problem_.unit != Unit::render_grad) return;
      graph_.verbs.weighted_light(graph_.images().data(), cotangent_->data(), sums_->data(), batch_,
                                  graph_.size.stamp);
      graph_.go_back(cotangent_->data(), 0);
      return;
    }
    if (problem_.unit == Unit::map) restart();
    for (int t = 0; t < problem_.steps; ++t) {
      double* losses = losses_->data() + t * batch_;
      compare(losses);
      if (!descends()) continue;
      graph_.go_back(cotangent_->data(), graph_.size.stamp);
      graph_.verbs.adam(model_, graph_.placed.data(), graph_.gradients().data(), losses,
                        states_->data(), batch_);
      // Reads back the losses of each step, like a progress bar.
      if (problem_.unit == Unit::map && backend_.device)
        backend_.device->download(now_.data(), losses, batch_ * sizeof(double));
    }
  }

  void start_again(int input) override {
    if (truths_) truths_->upload(truths_of(problem_, input));
    if (states_) restart();
    if (data_) data_->upload(cast(data_of(problem_, input)));
  }
  std::vector<double> result() override {
    if (problem_.unit == Unit::render_grad)
      return summed_up(sums_->to_host(), graph_.gradients().to_host());
    if (problem_.fits()) return told(problem_, states_->to_host(), losses_->to_host());
    const std::vector<T> images = graph_.images().to_host();
    return {images.begin(), images.end()};
  }

 private:
  static std::vector<T> cast(const std::vector<double>& values) {
    return {values.begin(), values.end()};
  }
  bool descends() const { return problem_.unit != Unit::render && problem_.unit != Unit::forward; }
  void restart() { states_->upload(first_states(problem_)); }

  void compare(double* losses) {
    if (problem_.sample) graph_.verbs.draw_states(model_, states_->data(), batch_);
    graph_.verbs.place_states(model_, states_->data(), graph_.placed.data(), batch_);
    graph_.draw();
    const T inverse_noise = static_cast<T>(model_.inverse_noise);
    graph_.verbs.residual(graph_.images().data(), data_->data(), inverse_noise, residual_->data(),
                          batch_, graph_.size.stamp);
    graph_.verbs.half_square(residual_->data(), sums_->data(), batch_, graph_.size.stamp);
    graph_.verbs.add_prior(model_.constant, graph_.placed.data(), sums_->data(), losses, batch_);
    if (descends())
      graph_.verbs.weigh_residual(residual_->data(), inverse_noise, cotangent_->data(), batch_,
                                  graph_.size.stamp);
  }

  Backend& backend_;
  Problem problem_;
  std::size_t batch_;
  Model model_;
  EagerGraph<Verbs> graph_;
  std::optional<Buffer<double>> truths_ = {}, sums_ = {}, losses_ = {};
  std::optional<Buffer<T>> data_ = {}, residual_ = {}, cotangent_ = {};
  std::optional<Buffer<FitState>> states_ = {};
  std::vector<double> now_ = std::vector<double>(problem_.batch);  // losses of the latest step
};

}  // namespace holdfast::galaxy_shear
