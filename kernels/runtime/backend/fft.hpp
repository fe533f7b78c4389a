// SPDX-License-Identifier: Apache-2.0
// Fourier transforms behind the backend: FFTW on host, cuFFT on cuda, counted on cuda-dry.
#pragma once

#include <memory>

#include "runtime/base/fourier.hpp"

namespace holdfast {

struct Backend;

class Transform {
 public:
  Transform(Backend& backend, const Fft& problem);
  ~Transform();
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;

  // in, out are in the backend's memory; in place if equal. Counts one library call. A
  // real_backward transform leaves anything in `in`: libraries use it as a work area, or not.
  void operator()(const void* in, void* out);

 private:
  Backend* backend_;
  Fft problem_;
  void* work_area_ = nullptr;
  std::unique_ptr<FftPlan> plan_;
};

}  // namespace holdfast
