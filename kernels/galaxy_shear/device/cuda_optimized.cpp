// SPDX-License-Identifier: Apache-2.0
// The optimized variant on a device: a block per galaxy, one launch per step or per whole fit
// (optimized.cu).
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "galaxy_shear/device/optimized_kernels.hpp"
#include "galaxy_shear/problem/results.hpp"
#include "galaxy_shear/variants.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::galaxy_shear {
namespace {

template <class T>
std::vector<T> cast(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

// exp(-2 pi i k / n), real and imaginary parts in turn.
std::vector<double> roots(int n) {
  std::vector<double> values;
  for (int k = 0; k < n; ++k) {
    const double angle = 2 * std::numbers::pi * k / n;
    values.insert(values.end(), {std::cos(angle), -std::sin(angle)});
  }
  return values;
}

// What all units share: the plan's tables and the shape of a launch.
template <class T>
class OnDevice : public Computation {
 public:
  OnDevice(Backend& backend, const Problem& problem)
      : device_(*backend.device),
        problem_(problem),
        model_(model_of(problem.scene)),
        optics_(backend, cast<T>(attenuation(problem.scene)), "optics"),
        roots_(backend, cast<T>(roots(problem.scene.fft)), "roots") {
    const auto wanted = static_cast<std::int64_t>(shape().shared_bytes);
    const std::int64_t most = device_.architecture().shared_bytes_per_block;
    if (wanted > most)
      throw Error(Fault::bad_input,
                  text("image ", problem.scene.image, " with fft ", problem.scene.fft, " takes ",
                       wanted, " bytes of a block's shared memory, ", most,
                       " are there; use a smaller stamp or f32"));
  }

 protected:
  LaunchShape shape() const {
    return {.grid = {static_cast<unsigned>(problem_.batch)},
            .block = {stamp_threads},
            .shared_bytes =
                shared_bytes(sizeof(T), problem_.scene.fft, problem_.scene.image, stamp_threads)};
  }
  std::size_t pixels() const { return std::size_t(problem_.scene.image) * problem_.scene.image; }

  Device& device_;
  Problem problem_;
  Model model_;
  Buffer<T> optics_, roots_;
};

template <class T>
class Render final : public OnDevice<T> {
  using Base = OnDevice<T>;

 public:
  Render(Backend& backend, const Problem& problem)
      : Base(backend, problem),
        kernel_(problem.scene),
        truths_(backend, problem.truths, "inputs"),
        images_(backend, problem.batch * Base::pixels(), "result") {
    kernel_.build(*backend.compiler, problem.scene);
  }
  void step() override {
    const Scope scope("render");
    kernel_.render(Base::shape(), Base::model_, Base::optics_.data(), Base::roots_.data(),
                   truths_.data(), images_.data());
  }
  std::vector<double> result() override {
    const std::vector<T> images = images_.to_host();
    return {images.begin(), images.end()};
  }

 private:
  RenderKernel<T> kernel_;
  Buffer<double> truths_;
  Buffer<T> images_;
};

template <class T>
class RenderGrad final : public OnDevice<T> {
  using Base = OnDevice<T>;

 public:
  RenderGrad(Backend& backend, const Problem& problem)
      : Base(backend, problem),
        kernel_(problem.scene),
        truths_(backend, problem.truths, "inputs"),
        cotangent_(backend, cast<T>(problem.cotangent), "inputs: cotangent"),
        gradients_(backend, std::size_t(problem.batch) * parameters, "result") {
    kernel_.build(*backend.compiler, problem.scene);
  }
  void step() override {
    const Scope scope("render_grad");
    kernel_.render_grad(Base::shape(), Base::model_, Base::optics_.data(), Base::roots_.data(),
                        truths_.data(), cotangent_.data(), gradients_.data());
  }
  std::vector<double> result() override { return gradients_.to_host(); }

 private:
  RenderGradKernel<T> kernel_;
  Buffer<double> truths_;
  Buffer<T> cotangent_;
  Buffer<double> gradients_;
};

constexpr int steps_of_a_graph = 20;

template <class T>
class Forward final : public OnDevice<T> {
  using Base = OnDevice<T>;
  using Base::problem_;

 public:
  Forward(Backend& backend, const Problem& problem)
      : Base(backend, problem),
        kernel_(problem.scene),
        data_(backend, cast<T>(problem.data), "inputs"),
        states_(backend, first_states(problem), "state"),
        losses_(backend, problem.batch, "result") {
    kernel_.build(*backend.compiler, problem.scene);
  }
  void step() override {
    const Scope scope("forward");
    kernel_.forward(Base::shape(), Base::model_, Base::optics_.data(), Base::roots_.data(),
                    data_.data(), states_.data(), losses_.data(), problem_.sample);
  }
  void start_again(int) override { states_.upload(first_states(problem_)); }
  std::vector<double> result() override {
    return told(problem_, states_.to_host(), losses_.to_host());
  }

 private:
  ForwardKernel<T> kernel_;
  Buffer<T> data_;
  Buffer<FitState> states_;
  Buffer<double> losses_;
};

// svi_step and map.
template <class T>
class Fit final : public OnDevice<T> {
  using Base = OnDevice<T>;
  using Base::device_, Base::problem_;

 public:
  Fit(Backend& backend, const Problem& problem)
      : Base(backend, problem),
        kernel_(problem.scene),
        data_(backend, cast<T>(problem.data), "inputs"),
        starts_(backend, padded_starts(problem), "inputs: starts"),
        states_(backend, first_states(problem), "state"),
        losses_(backend, std::size_t(problem.batch) * problem.steps, "result") {
    kernel_.build(*backend.compiler, problem.scene);
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
    // As a progress bar asks for it: the loss of every step, read back and waited for.
    for (int t = 0; t < problem_.steps; ++t) {
      launch(1, problem_.steps);
      device_.download(now_.data(), losses_.data() + t * now_.size(), now_.size() * sizeof(double));
    }
  }

  std::vector<double> result() override {
    return told(problem_, states_.to_host(), losses_.to_host());
  }

 private:
  void launch(int steps, int period) {
    const Scope scope("fit");
    kernel_.fit(Base::shape(), Base::model_, Base::optics_.data(), Base::roots_.data(),
                data_.data(), starts_.data(), states_.data(), losses_.data(), steps, period);
  }
  Graph recorded(int steps) {
    return device_.capture([&] {
      for (int k = 0; k < steps; ++k) launch(1, problem_.steps);
    });
  }

  FitKernel<T> kernel_;
  Buffer<T> data_;
  Buffer<double> starts_;
  Buffer<FitState> states_;
  Buffer<double> losses_;
  std::optional<Graph> graph_ = {}, rest_ = {};
  std::vector<double> now_ = std::vector<double>(problem_.batch);  // losses of the newest step
};

template <class T>
class PsfTable final : public Computation {
 public:
  PsfTable(Backend& backend, const Problem& problem)
      : scene_(problem.scene),
        columns_(scene_.fft / 2 + 1),
        table_(backend, std::size_t(columns_) * columns_, "result") {
    kernel_.build(*backend.compiler);
  }
  void step() override {
    const Scope scope("table");
    constexpr unsigned wide = 16, high = 8;
    kernel_.psf_table(
        {.grid = {blocks(columns_, wide), blocks(columns_, high)}, .block = {wide, high}},
        optics_of(scene_.psf), scene_.pixel_scale, two_pi / scene_.fft, columns_, table_.data());
  }
  std::vector<double> result() override {
    const std::vector<T> table = table_.to_host();
    return {table.begin(), table.end()};
  }

 private:
  PsfTableKernel<T> kernel_ = {};
  Scene scene_;
  int columns_;
  Buffer<T> table_;
};

template <class T>
std::unique_ptr<Computation> made(Backend& backend, const Problem& problem) {
  if (problem.unit == Unit::psf_table) return std::make_unique<PsfTable<T>>(backend, problem);
  if (problem.unit == Unit::render) return std::make_unique<Render<T>>(backend, problem);
  if (problem.unit == Unit::render_grad) return std::make_unique<RenderGrad<T>>(backend, problem);
  if (problem.unit == Unit::forward) return std::make_unique<Forward<T>>(backend, problem);
  return std::make_unique<Fit<T>>(backend, problem);
}

}  // namespace

std::unique_ptr<Computation> make_cuda_optimized(Backend& backend, Problem problem) {
  return problem.precision == Precision::f32 ? made<float>(backend, problem)
                                             : made<double>(backend, problem);
}

}  // namespace holdfast::galaxy_shear
