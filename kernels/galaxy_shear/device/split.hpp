// SPDX-License-Identifier: Apache-2.0
// The optimized variant on a device for stamps beyond a block's shared memory (split.cu).
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "galaxy_shear/data/data.hpp"
#include "galaxy_shear/device/on_device.hpp"
#include "galaxy_shear/device/split_kernels.hpp"
#include "galaxy_shear/problem/results.hpp"

namespace holdfast::galaxy_shear {

// The units render, render_grad, forward, svi_step and map.
template <class T>
class Split final : public Computation {
 public:
  Split(Backend& backend, const Problem& problem)
      : device_(*backend.device),
        problem_(problem),
        model_(model_of(problem.scene)),
        kernels_(problem),
        at_once_(problem.split > 0 ? problem.split
                                   : split_galaxies(problem.scene, sizeof(T), problem.batch)),
        optics_(backend, cast<T>(attenuation(problem.scene)), "optics"),
        roots_(backend, cast<T>(roots(problem.scene.fft)), "roots"),
        planes_(backend, at_once_ * 2 * split_plane(problem.scene), "planes") {
    if (walks(problem.unit) || problem.launch == Launch::persistent)
      throw Error(Fault::bad_input,
                  text(walks(problem.unit) ? "a walk" : "launch:persistent",
                       " keeps a galaxy in a block's shared memory, and image ",
                       problem.scene.image, " with fft ", problem.scene.fft,
                       " does not fit there; use a smaller stamp, f32 or launch:graph"));
    kernels_.build(*backend.compiler, problem.scene);
    const std::size_t batch = problem.batch;
    if (!problem.fits()) truths_.emplace(backend, problem.truths, "inputs");
    if (problem.unit == Unit::render) {
      images_.emplace(backend, batch * problem.scene.image * problem.scene.image, "result");
      return;
    }
    parts_.emplace(backend, batch * split_parts * 7, "parts");
    if (problem.unit == Unit::render_grad) {
      given_.emplace(backend, cast<T>(problem.cotangent), "inputs: cotangent");
      out_.emplace(backend, batch, "result: sums");
      gradients_.emplace(backend, batch * parameters, "result: gradients");
      return;
    }
    given_.emplace(backend, cast<T>(problem.data), "inputs");
    states_.emplace(backend, first_states(problem), "state");
    out_.emplace(backend, batch * problem.steps, "result");
    if (problem.unit != Unit::map) return;
    starts_.emplace(backend, padded_starts(problem), "inputs: starts");
    if (problem.launch == Launch::graph) graph_ = device_.capture([&] { descend(); });
  }

  void step() override {
    if (problem_.sample || problem_.unit == Unit::map) begin_all();
    for (int t = 0; t < problem_.steps; ++t) {
      if (graph_) {
        device_.replay(*graph_);
        continue;
      }
      descend();
      if (problem_.unit == Unit::map)
        device_.download(now_.data(), out_->data() + t * now_.size(), now_.size() * sizeof(double));
    }
  }
  void start_again(int input) override {
    if (truths_) truths_->upload(truths_of(problem_, input));
    if (states_) states_->upload(first_states(problem_));
    if (problem_.fits()) given_->upload(cast<T>(data_of(problem_, input)));
  }
  std::vector<double> result() override {
    if (problem_.unit == Unit::render_grad)
      return summed_up(out_->to_host(), gradients_->to_host());
    if (problem_.fits()) return told(problem_, states_->to_host(), out_->to_host());
    const std::vector<T> images = images_->to_host();
    return {images.begin(), images.end()};
  }
  std::vector<NamedReading> readings() override { return {{"path", 1}}; }

 private:
  static constexpr unsigned finishing = 128;  // threads of a block, one galaxy each

  LaunchShape each() const {
    return {.grid = {blocks(problem_.batch, finishing)}, .block = {finishing}};
  }
  void begin_all() {
    const Scope scope("begin");
    (*kernels_.begin)(each(), model_, states_->data(), starts_ ? starts_->data() : nullptr,
                      problem_.batch, problem_.sample);
  }

  // Takes as many galaxies at a time as the planes hold.
  void descend() {
    const Scope scope("split");
    SplitPlan<T> plan = {.attenuation = optics_.data(),
                         .roots = roots_.data(),
                         .zs = truths_ ? truths_->data() : nullptr,
                         .states = states_ ? states_->data() : nullptr,
                         .planes = planes_.data(),
                         .parts = parts_ ? parts_->data() : nullptr};
    for (; plan.first < problem_.batch; plan.first += at_once_) {
      const auto count = static_cast<unsigned>(std::min(at_once_, problem_.batch - plan.first));
      const LaunchShape shape = {
          .grid = {count, split_parts},
          .block = {stamp_threads},
          .shared_bytes = shared_bytes(sizeof(T), problem_.scene.fft, 1, stamp_threads)};
      kernels_.generate(shape, model_, plan);
      kernels_.rows(shape, model_, plan, given_ ? given_->data() : nullptr,
                    images_ ? images_->data() : nullptr);
      if (kernels_.reduce) (*kernels_.reduce)(shape, model_, plan);
    }
    plan.first = 0;
    if (kernels_.finish)
      (*kernels_.finish)(each(), model_, plan, problem_.batch, static_cast<int>(split_parts),
                         out_->data(), gradients_ ? gradients_->data() : nullptr,
                         problem_.unit == Unit::map ? problem_.steps : 0);
  }

  Device& device_;
  Problem problem_;
  Model model_;
  SplitKernels<T> kernels_;
  int at_once_;
  Buffer<T> optics_, roots_, planes_;
  std::optional<Buffer<double>> truths_ = {}, parts_ = {}, out_ = {}, gradients_ = {}, starts_ = {};
  std::optional<Buffer<T>> given_ = {}, images_ = {};
  std::optional<Buffer<FitState>> states_ = {};
  std::optional<Graph> graph_ = {};
  std::vector<double> now_ = std::vector<double>(problem_.batch);  // losses of the latest step
};

}  // namespace holdfast::galaxy_shear
