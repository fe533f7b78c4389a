// SPDX-License-Identifier: Apache-2.0
// A Fourier transform as data, the input of every backend's library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/base/precision.hpp"

namespace holdfast {

// A batch of 1-d or 2-d transforms over contiguous row-major arrays; rows == 1 is 1-d. Real
// transforms keep columns/2 + 1 frequencies along the last axis; backward transforms are not
// normalised.
struct Fft {
  enum class Kind { complex_forward, complex_backward, real_forward, real_backward };
  Precision precision = Precision::f64;
  Kind kind = Kind::real_forward;
  int rows = 1, columns = 0;
  int batch = 1;

  bool real() const { return kind == Kind::real_forward || kind == Kind::real_backward; }

  // 5 N log2(N) for each complex transform of N points, half of it for a real one: the convention
  // of FFTW's benchmarks, whatever algorithm a library chooses.
  std::int64_t flops() const;
  std::int64_t moved_bytes() const;  // read and written once
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
  const void* work_area = nullptr;  // on a device
};

}  // namespace holdfast
