// SPDX-License-Identifier: Apache-2.0
// The optimized variant on the host. Against the reference: attenuation is a table of the plan;
// phases are products of two rows of waves, not a sine per sample; samples at r and -r share all
// but a root; columns 0 and H are one transform, and so is each pair of rows; only S of N outputs
// are transformed along x; nothing is taped. README.md has what was measured.
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "galaxy_shear/data/data.hpp"
#include "galaxy_shear/host/fits.hpp"
#include "galaxy_shear/host/on_host.hpp"
#include "galaxy_shear/host/psf_table.hpp"
#include "galaxy_shear/host/scene.hpp"
#include "galaxy_shear/variants.hpp"

namespace holdfast::galaxy_shear::HOLDFAST_ISA {
namespace {

// Draws the truth: see(b, i, x0, pixels) returns the cotangent of a row's pixels from x0 on.
template <class T>
class Truths : public OnHost<T> {
  using Base = OnHost<T>;

 public:
  Truths(Backend& backend, Problem problem)
      : Base(backend, std::move(problem)), truths_(backend, Base::problem_.truths, "inputs") {}
  void start_again(int input) override { truths_.upload(truths_of(Base::problem_, input)); }

 protected:
  const double* truth(int b) const { return truths_.data() + b * parameters; }

  template <bool returns, class See>
  void draw(Lone<T>& galaxy, int b, const See& see) const {
    galaxy.place(Base::model_, truth(b));
    galaxy.generate();
    galaxy.template pass_rows<returns>(see);
  }

 private:
  Buffer<double> truths_;
};

template <class T>
class Render final : public Truths<T> {
  using Base = Truths<T>;

 public:
  Render(Backend& backend, Problem problem)
      : Base(backend, std::move(problem)),
        images_(backend, Base::problem_.batch * Base::pixels(), "result") {}

  void step() override {
    const Scope scope("render");
    Base::each([&](Lone<T>& galaxy, int b) {
      T* image = images_.data() + b * Base::pixels();
      const int s = Base::plan_.s;
      Base::template draw<false>(galaxy, b, [=](int i, int x0, Vector<T> pixels) {
        if (x0 + Lanes<T>::count <= s)
          store(image + i * s + x0, pixels);
        else
          for (int k = 0; x0 + k < s; ++k) image[i * s + x0 + k] = pixels[k];
        return pixels;
      });
    });
  }
  std::vector<double> result() override {
    const std::vector<T> images = images_.to_host();
    return {images.begin(), images.end()};
  }

 private:
  Buffer<T> images_;
};

template <class T>
class RenderGrad final : public Truths<T> {
  using Base = Truths<T>;

 public:
  RenderGrad(Backend& backend, Problem problem)
      : Base(backend, std::move(problem)),
        cotangent_(backend, readable<T>(Base::problem_.cotangent), "inputs: cotangent"),
        sums_(backend, Base::problem_.batch, "result: sums"),
        gradients_(backend, std::size_t(Base::problem_.batch) * parameters, "result: gradients") {}

  void step() override {
    const Scope scope("render_grad");
    Base::each([&](Lone<T>& galaxy, int b) {
      const T* cotangent = cotangent_.data();
      const int s = Base::plan_.s;
      Vector<T> light = {};
      Base::template draw<true>(galaxy, b, [&](int i, int x0, Vector<T> pixels) {
        const Vector<T> weights = inside<T>(load(cotangent + i * s + x0), x0, s);
        light += weights * pixels;
        return weights;
      });
      double sum = 0;
      for (int k = 0; k < Lanes<T>::count; ++k) sum += double(light[k]);
      sums_.data()[b] = sum;
      chain(Base::model_, Base::truth(b), galaxy.reduce(), gradients_.data() + b * parameters);
    });
  }
  std::vector<double> result() override { return summed_up(sums_.to_host(), gradients_.to_host()); }

 private:
  Buffer<T> cotangent_;
  Buffer<double> sums_, gradients_;
};

template <class T>
std::unique_ptr<Computation> made(Backend& backend, Problem problem) {
  switch (problem.unit) {
    case Unit::psf_table:
      return std::make_unique<PsfTable<T>>(backend, problem);
    case Unit::render:
      return std::make_unique<Render<T>>(backend, std::move(problem));
    case Unit::render_grad:
      return std::make_unique<RenderGrad<T>>(backend, std::move(problem));
    case Unit::scene_step:
      return std::make_unique<SceneFit<T>>(backend, std::move(problem));
    case Unit::vi_step:
      return std::make_unique<Walked<T, Variational>>(backend, std::move(problem));
    case Unit::hmc_sample:
      return std::make_unique<Walked<T, Hamiltonian>>(backend, std::move(problem));
    default:
      return std::make_unique<Fit<T>>(backend, std::move(problem));
  }
}

}  // namespace

std::unique_ptr<Computation> make_host_optimized(Backend& backend, Problem problem) {
  return problem.precision == Precision::f32 ? made<float>(backend, std::move(problem))
                                             : made<double>(backend, std::move(problem));
}

}  // namespace holdfast::galaxy_shear::HOLDFAST_ISA
