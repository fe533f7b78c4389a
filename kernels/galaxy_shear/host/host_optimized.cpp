// SPDX-License-Identifier: Apache-2.0
// The optimized variant on the host: a galaxy is a thread's, its planes stay in the caches. Against
// the reference: attenuation is a table of the plan; phases are products of two rows of waves, not
// a sine per sample; samples at r and -r share all but a root; columns 0 and H are one transform,
// and so is each pair of rows; only S of N outputs are transformed along x; nothing is taped.
// README.md has what was measured.
#include <omp.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "galaxy_shear/galaxy_shear.hpp"
#include "galaxy_shear/host/reduce.hpp"
#include "galaxy_shear/host/stamp.hpp"
#include "galaxy_shear/problem/results.hpp"
#include "galaxy_shear/problem/sampling.hpp"
#include "galaxy_shear/variants.hpp"
#include "host/flush_to_zero.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::galaxy_shear::HOLDFAST_ISA {
namespace {

// With room for a vector behind the last number.
template <class T>
std::vector<T> readable(const std::vector<double>& values) {
  std::vector<T> all(values.begin(), values.end());
  all.resize(all.size() + Lanes<T>::count);
  return all;
}

template <class T>
class OnHost : public Computation {
 public:
  OnHost(Backend& backend, Problem problem)
      : problem_(std::move(problem)),
        model_(model_of(problem_.scene)),
        optics_(backend, readable<T>(attenuation(problem_.scene)), "optics"),
        plan_(problem_.scene, optics_.data()),
        threads_(team()),
        workspaces_(backend, std::vector<T>(threads_ * plan_.workspace()), "workspaces") {}

 protected:
  // work(stamp, b) for every galaxy.
  template <class Work>
  void each(const Work& work) {
#pragma omp parallel num_threads(threads_) if (threads_ > 1)
    {
      const FlushToZero<T> flush;
      Stamp<T> stamp(plan_, workspaces_.data() + omp_get_thread_num() * plan_.workspace());
#pragma omp for schedule(static) nowait
      for (int b = 0; b < problem_.batch; ++b) work(stamp, b);
    }
  }
  std::size_t pixels() const {
    return std::size_t(plan_.s) * plan_.s;
  }

  Problem problem_;
  Model model_;
  Buffer<T> optics_;
  Plan<T> plan_;

 private:
  int team() const {
    const Options sizes = {.fft = problem_.scene.fft, .image = problem_.scene.image};
    const double flops = problem_.batch * problem_.steps * work_of(problem_.unit, sizes).flops;
    return flops < flops_worth_sharing ? 1 : std::min(host_limits().threads, problem_.batch);
  }

  int threads_;
  Buffer<T> workspaces_;
};

template <class T>
class Render final : public OnHost<T> {
  using Base = OnHost<T>;
  using Base::problem_, Base::plan_;

 public:
  Render(Backend& backend, Problem problem)
      : Base(backend, std::move(problem)),
        truths_(backend, problem_.truths, "inputs"),
        images_(backend, problem_.batch * Base::pixels(), "result") {}

  void step() override {
    const Scope scope("render");
    Base::each([&](Stamp<T>& stamp, int b) {
      stamp.place(Base::model_, truths_.data() + b * parameters);
      stamp.generate();
      T* image = images_.data() + b * Base::pixels();
      const int s = plan_.s;
      stamp.template pass_rows<true, false>([=](int i, int x0, Vector<T> pixels) {
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
  Buffer<double> truths_;
  Buffer<T> images_;
};

// What lies beyond pixel s is nothing, even where a number is none.
template <class T>
Vector<T> inside(Vector<T> values, int x0, int s) {
  for (int k = s - x0; k < Lanes<T>::count; ++k) values[k] = 0;
  return values;
}

template <class T>
class RenderGrad final : public OnHost<T> {
  using Base = OnHost<T>;
  using Base::problem_, Base::plan_;

 public:
  RenderGrad(Backend& backend, Problem problem)
      : Base(backend, std::move(problem)),
        truths_(backend, problem_.truths, "inputs"),
        cotangent_(backend, readable<T>(problem_.cotangent), "inputs: cotangent"),
        gradients_(backend, std::size_t(problem_.batch) * parameters, "result") {}

  void step() override {
    const Scope scope("render_grad");
    Base::each([&](Stamp<T>& stamp, int b) {
      const double* z = truths_.data() + b * parameters;
      const T* cotangent = cotangent_.data();
      const int s = plan_.s;
      stamp.place(Base::model_, z);
      stamp.template pass_rows<false, true>(
          [=](int i, int x0, Vector<T>) { return inside<T>(load(cotangent + i * s + x0), x0, s); });
      chain(Base::model_, z, stamp.reduce(), gradients_.data() + b * parameters);
    });
  }
  std::vector<double> result() override { return gradients_.to_host(); }

 private:
  Buffer<double> truths_;
  Buffer<T> cotangent_;
  Buffer<double> gradients_;
};

// forward, svi_step and map.
template <class T>
class Fit final : public OnHost<T> {
  using Base = OnHost<T>;
  using Base::problem_, Base::plan_, Base::model_;

 public:
  Fit(Backend& backend, Problem problem)
      : Base(backend, std::move(problem)),
        data_(backend, readable<T>(problem_.data), "inputs"),
        starts_(backend,
                problem_.unit == Unit::map ? padded_starts(problem_) : std::vector<double>(),
                "inputs: starts"),
        states_(backend, first_states(problem_), "state"),
        losses_(backend, std::size_t(problem_.batch) * problem_.steps, "result") {}

  void step() override {
    const Scope scope("fit");
    Base::each([&](Stamp<T>& stamp, int b) {
      FitState& state = states_.data()[b];
      if (problem_.unit == Unit::map) begin(model_, starts_.data() + b * 8, state);
      for (int t = 0; t < problem_.steps; ++t)
        losses_.data()[t * problem_.batch + b] = advanced(stamp, b, state);
    });
  }
  void start_again(int) override { states_.upload(first_states(problem_)); }
  std::vector<double> result() override {
    return told(problem_, states_.to_host(), losses_.to_host());
  }

 private:
  double advanced(Stamp<T>& stamp, int b, FitState& state) const {
    if (problem_.sample) draw_latents(model_, b, state.u);
    const Point point = constrained(model_, state.u);
    const bool shaped = admissible(point.z);
    stamp.place(model_, point.z);
    stamp.generate();
    const T* data = data_.data() + b * Base::pixels();
    const T inverse_noise = static_cast<T>(model_.inverse_noise);
    const int s = plan_.s;
    Vector<T> squares = {};
    const auto residual = [&](int i, int x0, Vector<T> pixels) {
      const Vector<T> found = inside<T>((pixels - load(data + i * s + x0)) * inverse_noise, x0, s);
      squares += found * found;
      return found * inverse_noise;
    };
    const bool descends = problem_.unit != Unit::forward;
    if (descends)
      stamp.template pass_rows<true, true>(residual);
    else
      stamp.template pass_rows<true, false>(residual);
    double loss = model_.constant + point.prior;
    for (int k = 0; k < Lanes<T>::count; ++k) loss += double(squares[k]) / 2;
    if (!descends) return loss;
    double gradient[parameters];
    chain(model_, point.z, stamp.reduce(), gradient);
    return advance(model_, point, shaped, loss, gradient, state);
  }

  Buffer<T> data_;
  Buffer<double> starts_;
  Buffer<FitState> states_;
  Buffer<double> losses_;
};

// Pairs c <= r of distances from the axes, a row at a time; the table is symmetric.
template <class T>
class PsfTable final : public Computation {
 public:
  PsfTable(Backend& backend, const Problem& problem)
      : scene_(problem.scene),
        columns_(scene_.fft / 2 + 1),
        threads_(work_of(Unit::psf_table, {.fft = scene_.fft, .beta = scene_.psf.beta}).flops <
                         flops_worth_sharing
                     ? 1
                     : host_limits().threads),
        table_(backend, std::size_t(columns_) * columns_, "result") {}

  void step() override {
    const Scope scope("table");
    const Optics optics = optics_of(scene_.psf);
    const double step = two_pi / scene_.fft;
    T* table = table_.data();
#pragma omp parallel for schedule(dynamic) num_threads(threads_) if (threads_ > 1)
    for (int r = 0; r < columns_; ++r)
      for (int c = 0; c <= r; ++c)
        table[r * columns_ + c] = table[c * columns_ + r] =
            static_cast<T>(response_at(optics, scene_.pixel_scale, step * c, step * r));
  }
  std::vector<double> result() override {
    const std::vector<T> table = table_.to_host();
    return {table.begin(), table.end()};
  }

 private:
  Scene scene_;
  int columns_, threads_;
  Buffer<T> table_;
};

template <class T>
std::unique_ptr<Computation> made(Backend& backend, Problem problem) {
  if (problem.unit == Unit::psf_table) return std::make_unique<PsfTable<T>>(backend, problem);
  if (problem.unit == Unit::render) return std::make_unique<Render<T>>(backend, std::move(problem));
  if (problem.unit == Unit::render_grad)
    return std::make_unique<RenderGrad<T>>(backend, std::move(problem));
  return std::make_unique<Fit<T>>(backend, std::move(problem));
}

}  // namespace

std::unique_ptr<Computation> make_host_optimized(Backend& backend, Problem problem) {
  return problem.precision == Precision::f32 ? made<float>(backend, std::move(problem))
                                             : made<double>(backend, std::move(problem));
}

}  // namespace holdfast::galaxy_shear::HOLDFAST_ISA
