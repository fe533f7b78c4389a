// SPDX-License-Identifier: Apache-2.0
// Fields of either precision in host memory. Of the host variants alone, compiled for each
// instruction set in a namespace of its own.
#pragma once

#include <xmmintrin.h>

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "cubed_sphere_swe/sphere.hpp"
#include "runtime/buffer.hpp"

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {

// While one lives, this thread takes denormal numbers of single precision for zero: the front of a
// bump is full of them, and each costs some CPUs a hundred cycles. Double precision stays exact.
// Threads that are started meanwhile would inherit the mode: it never spans a parallel region.
template <class T>
class FlushToZero {
 public:
  FlushToZero() {
    if constexpr (flushes) _mm_setcsr(before_ | flush_to_zero | denormals_are_zero);
  }
  ~FlushToZero() {
    if constexpr (flushes) _mm_setcsr(before_);
  }
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
  static constexpr bool flushes = std::is_same_v<T, float>;
  static constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
  unsigned before_ = flushes ? _mm_getcsr() : 0;
};

// Rows are read in whole vectors up to three columns beyond either end, against zero coefficients;
// what lies there must be finite. One cache line.
template <class T>
constexpr int guard = 64 / sizeof(T);

template <class T>
constexpr int row_pitch(int n) {
  return (n + 1 + 3 * guard<T> - 1) / guard<T> * guard<T>;
}

// Zeros with a guard at either end.
template <class T>
class Field {
 public:
  Field(Backend& backend, std::size_t size, const char* site)
      : buffer_(backend, size + 2 * guard<T>, site) {
    std::fill_n(buffer_.data(), buffer_.size(), T(0));
  }
  Field(Backend& backend, std::span<const double> values, const char* site)
      : Field(backend, values.size(), site) {
    std::transform(values.begin(), values.end(), data(),
                   [](double x) { return static_cast<T>(x); });
  }
  T* data() const { return buffer_.data() + guard<T>; }
  std::size_t size() const { return buffer_.size() - 2 * guard<T>; }

 private:
  Buffer<T> buffer_;
};

// A table as T.
template <class T>
Buffer<T> table(Backend& backend, std::span<const double> values, const char* site) {
  Buffer<T> buffer(backend, values.size(), site);
  std::transform(values.begin(), values.end(), buffer.data(),
                 [](double x) { return static_cast<T>(x); });
  return buffer;
}

template <class T>
void append(std::vector<double>& all, const T* field, std::size_t size) {
  all.insert(all.end(), field, field + size);
}

}  // namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA
