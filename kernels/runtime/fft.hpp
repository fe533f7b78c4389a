// SPDX-License-Identifier: Apache-2.0
// Fourier transforms behind the backend: FFTW on host, cuFFT on cuda, counted on cuda-dry.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "runtime/blas.hpp"

namespace holdfast {

struct Backend;

// A batch of 1-d or 2-d transforms over contiguous row-major arrays; rows == 1 is 1-d. Real
// transforms keep columns/2 + 1 frequencies along the last axis; backward transforms are not
// normalised.
struct Fft {
  enum class Kind { complex_forward, complex_backward, real_forward, real_backward };
  Precision precision = Precision::f64;
  Kind kind = Kind::real_forward;
  int rows = 1, columns = 0;
  int batch = 1;

  // Upper bound of the work area, by formula: twice the batch's complex elements. The real device
  // fails if its library asks for more.
  std::size_t work_area_bytes() const;
};

std::string shown(const Fft& problem);  // "fft real_forward [2, 64, 64] f64"

// A backend's own plan; destroyed with the Transform that made it.
struct FftPlan {
  explicit FftPlan(const Fft& what) : problem(what) {}
  virtual ~FftPlan() = default;

  const Fft problem;
};

class Transform {
 public:
  Transform(Backend& backend, const Fft& problem);
  ~Transform();
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;

  // in, out live where the backend's buffers live; in place where they are equal. Counts one
  // library call.
  void operator()(const void* in, void* out);

 private:
  Backend* backend_;
  Fft problem_;
  void* work_area_ = nullptr;
  std::unique_ptr<FftPlan> plan_;
};

}  // namespace holdfast
