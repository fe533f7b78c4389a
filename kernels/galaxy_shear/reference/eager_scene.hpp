// SPDX-License-Identifier: Apache-2.0
// The reference of scenes: an image of each object by the published graph of operations, their sum
// compared with the data, and the same cotangent back through each object's graph.
#pragma once

#include <utility>
#include <vector>

#include "computation.hpp"
#include "galaxy_shear/problem/results.hpp"
#include "galaxy_shear/reference/eager_graph.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::galaxy_shear {

template <class Verbs>
class EagerScene final : public Computation {
  using T = Verbs::Value;

 public:
  EagerScene(Backend& backend, Problem problem)
      : problem_(std::move(problem)),
        model_(scene_model_of(problem_.scene)),
        graph_(backend, problem_.scene, problem_.precision, problem_.objects, true),
        data_(backend, std::vector<T>(problem_.data.begin(), problem_.data.end()), "inputs"),
        states_(backend, first_objects(problem_), "state"),
        loss_(backend, 1, "result"),
        image_(backend, data_.size(), "image"),
        residual_(backend, data_.size(), "residual"),
        cotangent_(backend, data_.size(), "cotangent"),
        misfit_(backend, 1, "misfit"),
        shares_(backend, problem_.objects, "shares"),
        together_(backend, 1, "together") {}

  void step() override {
    const int objects = problem_.objects, stamp = graph_.size.stamp;
    const T inverse_noise = static_cast<T>(model_.object.inverse_noise);
    Verbs& verbs = graph_.verbs;
    verbs.place_objects(model_, states_.data(), graph_.placed.data(), objects);
    graph_.draw();
    verbs.add_images(graph_.images().data(), objects, image_.data(), stamp);
    verbs.residual(image_.data(), data_.data(), inverse_noise, residual_.data(), 1, stamp);
    verbs.half_square(residual_.data(), misfit_.data(), 1, stamp);
    verbs.weigh_residual(residual_.data(), inverse_noise, cotangent_.data(), 1, stamp);
    graph_.go_back(cotangent_.data(), 0);
    verbs.share_objects(graph_.placed.data(), graph_.gradients().data(), shares_.data(), objects);
    verbs.add_shares(model_, states_.data(), shares_.data(), objects, misfit_.data(),
                     together_.data(), 1);
    verbs.advance_objects(model_, together_.data(), shares_.data(), loss_.data(), states_.data(),
                          1 + objects);
  }
  void start_again(int) override { states_.upload(first_objects(problem_)); }
  std::vector<double> result() override {
    return told_objects(states_.to_host(), loss_.to_host()[0]);
  }

 private:
  Problem problem_;
  SceneModel model_;
  EagerGraph<Verbs> graph_;
  Buffer<T> data_;
  Buffer<FitState> states_;
  Buffer<double> loss_;
  Buffer<T> image_, residual_, cotangent_;
  Buffer<double> misfit_;
  Buffer<Share> shares_;
  Buffer<Together> together_;
};

}  // namespace holdfast::galaxy_shear
