// SPDX-License-Identifier: Apache-2.0
// Shared by all galaxies of one size on the host: the layout of columns in vectors, and the memory
// that a galaxy and a thread need. Compiled per instruction set.
#pragma once

#include <cstddef>

#include "galaxy_shear/host/transform.hpp"
#include "galaxy_shear/problem/problem.hpp"

namespace holdfast::galaxy_shear::HOLDFAST_ISA {

// Read by all threads. Slots are columns 1 .. H - 1; slot 0 holds both 0 and H, which make real
// rows and so share a transform; the last vector is filled up with zero columns.
template <class T>
struct Plan {
  static constexpr int lanes = Lanes<T>::count;

  Plan(const Scene& scene, const T* optics)
      : n(scene.fft),
        half(n / 2),
        s(scene.image),
        slots((half + lanes - 1) / lanes * lanes),
        teams(((s + 1) / 2 + lanes - 1) / lanes),
        table(!separable(scene.psf)),
        attenuation(optics),
        transform(n) {}

  // The size of an array, in numbers, rounded up to whole cache lines.
  static std::size_t padded(std::size_t count) {
    constexpr std::size_t line = 64 / sizeof(T);
    return (count + line - 1) / line * line;
  }
  std::size_t pitch() const { return slots + lanes; }
  std::size_t signal() const { return padded(std::size_t(n + 3) * lanes); }
  std::size_t border() const { return padded(half + 1 + lanes); }
  std::size_t plane() const { return padded(pitch() * 2 * lanes * teams); }

  std::size_t of_shape() const { return 4 * border(); }
  std::size_t of_rows() const { return 2 * plane(); }
  std::size_t of_columns() const { return 4 * signal() + 4 * border(); }

  int n, half, s, slots, teams;  // teams: of one pair of rows per lane of a vector
  bool table;
  const T* attenuation;
  Transform<T> transform;
};

// Columns 0 and H at r >= 0, both Hermitian.
template <class T>
struct Edges {
  T *zero_re, *zero_im, *last_re, *last_im;  // [H + 1]
};

}  // namespace holdfast::galaxy_shear::HOLDFAST_ISA
