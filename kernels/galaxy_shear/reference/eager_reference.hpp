// SPDX-License-Identifier: Apache-2.0
// The reference: the graph of operations that the published program traces, each a pass over whole
// arrays, the forward ones kept for the way back (README.md, F1 to F19 and B1 to B15). All memory
// is there before the first step. The same for host and device: Verbs tells them apart.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "computation.hpp"
#include "galaxy_shear/problem/results.hpp"
#include "galaxy_shear/reference/reference_formulas.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/backend/fft.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::galaxy_shear {

// Points of each kind of plane.
struct Extents {
  explicit Extents(const Scene& scene)
      : n(scene.fft),
        s(scene.image),
        lines(n + 1),
        columns(n / 2 + 1),
        half_plane(lines * columns),
        whole(lines * lines),
        padded(4 * n * n),
        square(n * n),
        spectrum(n * (n / 2 + 1)),
        stamp(s * s) {}
  int n, s, lines, columns, half_plane, whole, padded, square, spectrum, stamp;
};

template <class Verbs>
class EagerReference final : public Computation {
  using T = typename Verbs::Value;
  using Complex = Value<T>;

 public:
  EagerReference(Backend& backend, Problem problem)
      : backend_(backend),
        problem_(std::move(problem)),
        size_(problem_.scene),
        batch_(problem_.batch),
        model_(model_of(problem_.scene)),
        verbs_(backend),
        placed_(backend, batch_, "placed"),
        forward_(backend, size_, batch_) {
    if (problem_.fits()) {
      data_.emplace(backend, cast(problem_.data), "inputs");
      states_.emplace(backend, first_states(problem_), "state");
      sums_.emplace(backend, batch_, "sums");
      losses_.emplace(backend, batch_ * problem_.steps, "result");
      residual_.emplace(backend, batch_ * size_.stamp, "residual");
    } else {
      truths_.emplace(backend, problem_.truths, "inputs");
    }
    if (problem_.unit == Unit::render_grad) {
      cotangent_.emplace(backend, cast(problem_.cotangent), "inputs: cotangent");
      sums_.emplace(backend, batch_, "result: sums");
    } else if (descends()) {
      cotangent_.emplace(backend, batch_ * size_.stamp, "cotangent");
    }
    if (descends()) backward_.emplace(backend, size_, batch_);
    const Precision precision = problem_.precision;
    to_pixels_.emplace(backend,
                       Fft{precision, Fft::Kind::real_backward, size_.n, size_.n, count()});
    if (descends())
      from_pixels_.emplace(backend,
                           Fft{precision, Fft::Kind::real_forward, size_.n, size_.n, count()});
  }

  void step() override {
    if (!problem_.fits()) {
      verbs_.place_truths(model_, truths_->data(), placed_.data(), batch_);
      draw();
      if (problem_.unit != Unit::render_grad) return;
      verbs_.weighted_light(forward_.image.data(), cotangent_->data(), sums_->data(), batch_,
                            size_.stamp);
      go_back(0);
      return;
    }
    if (problem_.unit == Unit::map) restart();
    for (int t = 0; t < problem_.steps; ++t) {
      double* losses = losses_->data() + t * batch_;
      compare(losses);
      if (!descends()) continue;
      go_back(size_.stamp);
      verbs_.adam(model_, placed_.data(), backward_->gradients.data(), losses, states_->data(),
                  batch_);
      // As a progress bar asks for it.
      if (problem_.unit == Unit::map && backend_.device)
        backend_.device->download(now_.data(), losses, batch_ * sizeof(double));
    }
  }

  void start_again(int) override {
    if (states_) restart();
  }
  std::vector<double> result() override {
    if (problem_.unit == Unit::render_grad)
      return summed_up(sums_->to_host(), backward_->gradients.to_host());
    if (problem_.fits()) return told(problem_, states_->to_host(), losses_->to_host());
    const std::vector<T> images = forward_.image.to_host();
    return {images.begin(), images.end()};
  }

 private:
  // F1 to F16: what is drawn, and every array on the way.
  struct Forward {
    Forward(Backend& backend, const Extents& size, std::size_t batch)
        : coordinates(backend, batch * size.half_plane, "coordinates"),
          form(backend, batch * size.half_plane, "form"),
          profile(backend, batch * size.half_plane, "profile"),
          psf(backend, size.half_plane, "psf"),
          convolved(backend, batch * size.half_plane, "convolved"),
          phase(backend, batch * size.half_plane, "phase"),
          shifted(backend, batch * size.half_plane, "shifted"),
          pixel(backend, size.half_plane, "pixel"),
          response(backend, batch * size.half_plane, "response"),
          whole(backend, batch * size.whole, "whole"),
          padded(backend, batch * size.padded, "padded"),
          wrapped(backend, batch * size.square, "wrapped"),
          spectrum(backend, batch * size.spectrum, "spectrum"),
          image(backend, batch * size.stamp, "result: image") {}

    Buffer<Complex> coordinates;
    Buffer<T> form;
    Buffer<Complex> profile, psf, convolved, phase, shifted, pixel, response;
    Buffer<Complex> whole, padded, wrapped, spectrum;
    Buffer<T> image;
  };
  // B1 to B14. Of cotangents that are read no more the memory serves others.
  struct Backward {
    Backward(Backend& backend, const Extents& size, std::size_t batch)
        : spectrum(backend, batch * size.spectrum, "cotangent spectrum"),
          wrapped(backend, batch * size.square, "cotangent wrapped"),
          padded(backend, batch * size.padded, "cotangent padded"),
          whole(backend, batch * size.whole, "cotangent whole"),
          response(backend, batch * size.half_plane, "cotangent response"),
          shifted(backend, batch * size.half_plane, "cotangent shifted"),
          convolved(backend, batch * size.half_plane, "cotangent convolved"),
          coordinates(backend, batch * size.half_plane, "cotangent coordinates"),
          angle(backend, batch * size.half_plane, "cotangent angle"),
          slopes(backend, batch, "slopes"),
          gradients(backend, batch * parameters, "result: gradients") {}

    Buffer<Complex> spectrum, wrapped, padded, whole, response, shifted, convolved, coordinates;
    Buffer<T> angle;
    Buffer<Slopes> slopes;
    Buffer<double> gradients;
  };

  static std::vector<T> cast(const std::vector<double>& values) {
    return {values.begin(), values.end()};
  }
  int count() const { return static_cast<int>(batch_); }
  bool descends() const { return problem_.unit != Unit::render && problem_.unit != Unit::forward; }
  void restart() { states_->upload(first_states(problem_)); }

  void draw() {
    const Scope scope("draw");
    Forward& f = forward_;
    const Extents& e = size_;
    const Placed* placed = placed_.data();
    const double step = model_.step;
    verbs_.coordinates(placed, e.n, step, e.lines, f.coordinates.data(), batch_ * e.lines,
                       e.columns);
    verbs_.form(placed, f.coordinates.data(), f.form.data(), batch_, e.half_plane);
    verbs_.profile(placed, f.form.data(), f.profile.data(), batch_, e.half_plane);
    verbs_.psf(optics_of(problem_.scene.psf), model_.pixel_scale, e.n, step, f.psf.data(), e.lines,
               e.columns);
    verbs_.shared_product(f.profile.data(), f.psf.data(), f.convolved.data(), batch_, e.half_plane);
    verbs_.phase(placed, e.n, step, e.lines, f.phase.data(), batch_ * e.lines, e.columns);
    verbs_.product(f.convolved.data(), f.phase.data(), f.shifted.data(), batch_, e.half_plane);
    verbs_.pixel(e.n, step, f.pixel.data(), e.lines, e.columns);
    verbs_.shared_product(f.shifted.data(), f.pixel.data(), f.response.data(), batch_,
                          e.half_plane);
    verbs_.expand(f.response.data(), e.half_plane, e.lines, e.n, f.whole.data(), batch_ * e.lines,
                  e.lines);
    verbs_.pad(f.whole.data(), e.whole, 2 * e.n, e.n, f.padded.data(), batch_ * 2 * e.n, 2 * e.n);
    verbs_.wrap(f.padded.data(), e.padded, e.n, e.n, f.wrapped.data(), batch_ * e.n, e.n);
    verbs_.contract(f.wrapped.data(), e.square, e.n, e.n, f.spectrum.data(), batch_ * e.n,
                    e.columns);
    // What was wrapped is read no more.
    T* square = reinterpret_cast<T*>(f.wrapped.data());
    (*to_pixels_)(f.spectrum.data(), square);
    verbs_.crop(square, e.n, e.s, static_cast<T>(1 / model_.pixels), f.image.data(), batch_ * e.s,
                e.s);
  }

  void compare(double* losses) {
    if (problem_.sample) verbs_.draw_states(model_, states_->data(), batch_);
    verbs_.place_states(model_, states_->data(), placed_.data(), batch_);
    draw();
    const T inverse_noise = static_cast<T>(model_.inverse_noise);
    verbs_.residual(forward_.image.data(), data_->data(), inverse_noise, residual_->data(), batch_,
                    size_.stamp);
    verbs_.half_square(residual_->data(), sums_->data(), batch_, size_.stamp);
    verbs_.add_prior(model_.constant, placed_.data(), sums_->data(), losses, batch_);
    if (descends())
      verbs_.weigh_residual(residual_->data(), inverse_noise, cotangent_->data(), batch_,
                            size_.stamp);
  }

  // stride: of the cotangents of two galaxies.
  void go_back(long long stride) {
    const Scope scope("go back");
    Forward& f = forward_;
    Backward& b = *backward_;
    const Extents& e = size_;
    const Placed* placed = placed_.data();
    T* square = reinterpret_cast<T*>(f.wrapped.data());
    verbs_.pad_stamp(cotangent_->data(), e.n, e.s, stride, square, batch_ * e.n, e.n);
    (*from_pixels_)(square, f.spectrum.data());
    verbs_.weigh(f.spectrum.data(), e.n, b.spectrum.data(), batch_ * e.n, e.columns);
    verbs_.uncontract(b.spectrum.data(), e.spectrum, e.n, e.n, b.wrapped.data(), batch_ * e.n, e.n);
    verbs_.broadcast(b.wrapped.data(), e.square, 2 * e.n, e.n, b.padded.data(), batch_ * 2 * e.n,
                     2 * e.n);
    verbs_.cut(b.padded.data(), e.padded, e.lines, e.n, b.whole.data(), batch_ * e.lines, e.lines);
    verbs_.fold(b.whole.data(), e.whole, e.lines, e.n, b.response.data(), batch_ * e.lines,
                e.columns);
    verbs_.shared_product_back(b.response.data(), f.pixel.data(), b.shifted.data(), batch_,
                               e.half_plane);
    verbs_.phase_back(b.shifted.data(), f.phase.data(), f.shifted.data(), b.convolved.data(),
                      b.angle.data(), batch_, e.half_plane);
    Complex* profile = b.response.data();
    T* form = reinterpret_cast<T*>(b.shifted.data());
    verbs_.shared_product_back(b.convolved.data(), f.psf.data(), profile, batch_, e.half_plane);
    verbs_.form_back(placed, profile, f.form.data(), form, batch_, e.half_plane);
    verbs_.coordinates_back(placed, form, f.coordinates.data(), b.coordinates.data(), batch_,
                            e.half_plane);
    verbs_.matrix_slopes(b.coordinates.data(), e.n, model_.step, b.slopes.data(), batch_,
                         e.half_plane);
    verbs_.shift_slopes(b.angle.data(), e.n, model_.step, b.slopes.data(), batch_, e.half_plane);
    verbs_.light_slopes(placed, profile, form, f.form.data(), f.coordinates.data(), b.slopes.data(),
                        batch_, e.half_plane);
    verbs_.chain_slopes(model_, placed, b.slopes.data(), b.gradients.data(), batch_);
  }

  Backend& backend_;
  Problem problem_;
  Extents size_;
  std::size_t batch_;
  Model model_;
  Verbs verbs_;
  Buffer<Placed> placed_;
  Forward forward_;
  std::optional<Backward> backward_ = {};
  std::optional<Buffer<double>> truths_ = {}, sums_ = {}, losses_ = {};
  std::optional<Buffer<T>> data_ = {}, residual_ = {}, cotangent_ = {};
  std::optional<Buffer<FitState>> states_ = {};
  std::optional<Transform> to_pixels_ = {}, from_pixels_ = {};
  std::vector<double> now_ = std::vector<double>(problem_.batch);  // losses of the newest step
};

}  // namespace holdfast::galaxy_shear
