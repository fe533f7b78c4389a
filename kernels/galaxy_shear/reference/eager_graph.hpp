// SPDX-License-Identifier: Apache-2.0
// The published program's graph of operations, from placed galaxies to images and from a cotangent
// of the images to gradients. Each operation is a pass over whole arrays, and forward arrays are
// kept for the way back (README.md, F2 to F16 and B2 to B14). Shared by host and device, which
// differ in Verbs.
#pragma once

#include <cstddef>
#include <optional>

#include "galaxy_shear/problem/problem.hpp"
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
class EagerGraph {
  using T = Verbs::Value;
  using Complex = Value<T>;

 public:
  // A graph of `batch` galaxies, with the way back if it `descends`.
  EagerGraph(Backend& backend, const Scene& scene, Precision precision, std::size_t batch,
             bool descends)
      : verbs(backend),
        size(scene),
        placed(backend, batch, "placed"),
        optics_(optics_of(scene.psf)),
        model_(model_of(scene)),
        batch_(batch),
        forward_(backend, size, batch) {
    const int count = static_cast<int>(batch);
    if (descends) backward_.emplace(backend, size, batch);
    to_pixels_.emplace(backend, Fft{precision, Fft::Kind::real_backward, size.n, size.n, count});
    if (descends)
      from_pixels_.emplace(backend, Fft{precision, Fft::Kind::real_forward, size.n, size.n, count});
  }

  // From the placed galaxies to images.
  void draw() {
    const Scope scope("draw");
    Forward& f = forward_;
    const Extents& e = size;
    const Placed* galaxies = placed.data();
    const double step = model_.step;
    verbs.coordinates(galaxies, e.n, step, e.lines, f.coordinates.data(), batch_ * e.lines,
                      e.columns);
    verbs.form(galaxies, f.coordinates.data(), f.form.data(), batch_, e.half_plane);
    verbs.profile(galaxies, f.form.data(), f.profile.data(), batch_, e.half_plane);
    verbs.psf(optics_, model_.pixel_scale, e.n, step, f.psf.data(), e.lines, e.columns);
    verbs.shared_product(f.profile.data(), f.psf.data(), f.convolved.data(), batch_, e.half_plane);
    verbs.phase(galaxies, e.n, step, e.lines, f.phase.data(), batch_ * e.lines, e.columns);
    verbs.product(f.convolved.data(), f.phase.data(), f.shifted.data(), batch_, e.half_plane);
    verbs.pixel(e.n, step, f.pixel.data(), e.lines, e.columns);
    verbs.shared_product(f.shifted.data(), f.pixel.data(), f.response.data(), batch_, e.half_plane);
    verbs.expand(f.response.data(), e.half_plane, e.lines, e.n, f.whole.data(), batch_ * e.lines,
                 e.lines);
    verbs.pad(f.whole.data(), e.whole, 2 * e.n, e.n, f.padded.data(), batch_ * 2 * e.n, 2 * e.n);
    verbs.wrap(f.padded.data(), e.padded, e.n, e.n, f.wrapped.data(), batch_ * e.n, e.n);
    verbs.contract(f.wrapped.data(), e.square, e.n, e.n, f.spectrum.data(), batch_ * e.n,
                   e.columns);
    // f.wrapped is not read again: its memory is reused.
    T* square = reinterpret_cast<T*>(f.wrapped.data());
    (*to_pixels_)(f.spectrum.data(), square);
    verbs.crop(square, e.n, e.s, static_cast<T>(1 / model_.pixels), f.image.data(), batch_ * e.s,
               e.s);
  }

  // From a cotangent [S, S] of each galaxy's image, `stride` apart, to gradients.
  void go_back(const T* cotangent, long long stride) {
    const Scope scope("go back");
    Forward& f = forward_;
    Backward& b = *backward_;
    const Extents& e = size;
    const Placed* galaxies = placed.data();
    T* square = reinterpret_cast<T*>(f.wrapped.data());
    verbs.pad_stamp(cotangent, e.n, e.s, stride, square, batch_ * e.n, e.n);
    (*from_pixels_)(square, f.spectrum.data());
    verbs.weigh(f.spectrum.data(), e.n, b.spectrum.data(), batch_ * e.n, e.columns);
    verbs.uncontract(b.spectrum.data(), e.spectrum, e.n, e.n, b.wrapped.data(), batch_ * e.n, e.n);
    verbs.broadcast(b.wrapped.data(), e.square, 2 * e.n, e.n, b.padded.data(), batch_ * 2 * e.n,
                    2 * e.n);
    verbs.cut(b.padded.data(), e.padded, e.lines, e.n, b.whole.data(), batch_ * e.lines, e.lines);
    verbs.fold(b.whole.data(), e.whole, e.lines, e.n, b.response.data(), batch_ * e.lines,
               e.columns);
    verbs.shared_product_back(b.response.data(), f.pixel.data(), b.shifted.data(), batch_,
                              e.half_plane);
    verbs.phase_back(b.shifted.data(), f.phase.data(), f.shifted.data(), b.convolved.data(),
                     b.angle.data(), batch_, e.half_plane);
    Complex* profile = b.response.data();
    T* form = reinterpret_cast<T*>(b.shifted.data());
    verbs.shared_product_back(b.convolved.data(), f.psf.data(), profile, batch_, e.half_plane);
    verbs.form_back(galaxies, profile, f.form.data(), form, batch_, e.half_plane);
    verbs.coordinates_back(galaxies, form, f.coordinates.data(), b.coordinates.data(), batch_,
                           e.half_plane);
    verbs.matrix_slopes(b.coordinates.data(), e.n, model_.step, b.slopes.data(), batch_,
                        e.half_plane);
    verbs.shift_slopes(b.angle.data(), e.n, model_.step, b.slopes.data(), batch_, e.half_plane);
    verbs.light_slopes(galaxies, profile, form, f.form.data(), f.coordinates.data(),
                       b.slopes.data(), batch_, e.half_plane);
    verbs.chain_slopes(model_, galaxies, b.slopes.data(), b.gradients.data(), batch_);
  }

  Buffer<T>& images() { return forward_.image; }
  // [batch, 8], by z.
  Buffer<double>& gradients() { return backward_->gradients; }

  Verbs verbs;
  Extents size;
  Buffer<Placed> placed;

 private:
  // F1 to F16: the images and every array before them.
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
  // B1 to B14. The memory of cotangents that are not read again is reused.
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

  Optics optics_;
  Model model_;
  std::size_t batch_;
  Forward forward_;
  std::optional<Backward> backward_ = {};
  std::optional<Transform> to_pixels_ = {}, from_pixels_ = {};
};

}  // namespace holdfast::galaxy_shear
