// SPDX-License-Identifier: Apache-2.0
// Fields of either precision in host memory. Used only by the host variants, compiled for each
// instruction set in a namespace of its own.
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include "cubed_sphere_swe/problem/sphere.hpp"
#include "host/flush_to_zero.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {

// Rows are read in whole vectors, up to three columns beyond either end; zero coefficients multiply
// those values, which must be finite. One cache line.
template <class T>
constexpr int guard = 64 / sizeof(T);

template <class T>
constexpr int row_pitch(int n) {
  return (n + 1 + 3 * guard<T> - 1) / guard<T> * guard<T>;
}

// A zero-initialised field with a guard at either end.
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

// Converts values to T and overwrites `into`, a Buffer or a Field of the same size.
template <class Values>
void put(const std::vector<double>& values, const Values& into) {
  using T = std::remove_reference_t<decltype(*into.data())>;
  std::transform(values.begin(), values.end(), into.data(),
                 [](double x) { return static_cast<T>(x); });
}

// A table converted to T.
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
