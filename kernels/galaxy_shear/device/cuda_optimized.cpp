// SPDX-License-Identifier: Apache-2.0
// The optimized variant on a device: one block per galaxy, one launch per step or per whole fit
// (optimized.cu), or several launches and blocks if its rows do not fit there (split.cu).
#include <memory>
#include <vector>

#include "galaxy_shear/data/data.hpp"
#include "galaxy_shear/device/cuda_fits.hpp"
#include "galaxy_shear/device/on_device.hpp"
#include "galaxy_shear/device/scene.hpp"
#include "galaxy_shear/device/split.hpp"
#include "galaxy_shear/variants.hpp"

namespace holdfast::galaxy_shear {
namespace {

template <class T>
class Render final : public OnDevice<T, RenderKernel<T>> {
  using Base = OnDevice<T, RenderKernel<T>>;

 public:
  Render(Backend& backend, const Problem& problem)
      : Base(backend, problem),
        truths_(backend, problem.truths, "inputs"),
        images_(backend, problem.batch * Base::pixels(), "result") {}
  void step() override {
    Base::launch("render", Base::kernels_.render, truths_.data(), images_.data());
  }
  void start_again(int input) override { truths_.upload(truths_of(Base::problem_, input)); }
  std::vector<double> result() override {
    const std::vector<T> images = images_.to_host();
    return {images.begin(), images.end()};
  }

 private:
  Buffer<double> truths_;
  Buffer<T> images_;
};

template <class T>
class RenderGrad final : public OnDevice<T, RenderGradKernel<T>> {
  using Base = OnDevice<T, RenderGradKernel<T>>;

 public:
  RenderGrad(Backend& backend, const Problem& problem)
      : Base(backend, problem),
        truths_(backend, problem.truths, "inputs"),
        cotangent_(backend, cast<T>(problem.cotangent), "inputs: cotangent"),
        sums_(backend, problem.batch, "result: sums"),
        gradients_(backend, std::size_t(problem.batch) * parameters, "result: gradients") {}
  void step() override {
    Base::launch("render_grad", Base::kernels_.render_grad, truths_.data(), cotangent_.data(),
                 sums_.data(), gradients_.data());
  }
  void start_again(int input) override { truths_.upload(truths_of(Base::problem_, input)); }
  std::vector<double> result() override { return summed_up(sums_.to_host(), gradients_.to_host()); }

 private:
  Buffer<double> truths_;
  Buffer<T> cotangent_;
  Buffer<double> sums_, gradients_;
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
  if (problem.unit == Unit::scene_step) return std::make_unique<SceneFit<T>>(backend, problem);
  if (problem.split > 0 ||
      !fused(problem.scene, sizeof(T), backend.device->architecture().shared_bytes_per_block))
    return std::make_unique<Split<T>>(backend, problem);
  switch (problem.unit) {
    case Unit::render:
      return std::make_unique<Render<T>>(backend, problem);
    case Unit::render_grad:
      return std::make_unique<RenderGrad<T>>(backend, problem);
    case Unit::forward:
      return std::make_unique<Forward<T>>(backend, problem);
    case Unit::vi_step:
      return std::make_unique<Walked<T, Variational>>(backend, problem);
    case Unit::hmc_sample:
      return std::make_unique<Walked<T, Hamiltonian>>(backend, problem);
    default:
      return std::make_unique<Fit<T>>(backend, problem);
  }
}

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): a VariantFactory
std::unique_ptr<Computation> make_cuda_optimized(Backend& backend, Problem problem) {
  return problem.precision == Precision::f32 ? made<float>(backend, problem)
                                             : made<double>(backend, problem);
}

}  // namespace holdfast::galaxy_shear
