// SPDX-License-Identifier: Apache-2.0
// What all galaxies of one size share on the host: how columns lie in vectors, and how much room a
// galaxy and a thread need. Compiled per instruction set.
#pragma once

#include <cstddef>

#include "galaxy_shear/host/transform.hpp"
#include "galaxy_shear/problem/problem.hpp"

namespace holdfast::galaxy_shear::HOLDFAST_ISA {

// What all threads read. Slots are columns 1 .. H - 1, and in slot 0 both 0 and H, which make real
// rows and so share a transform; up to a whole vector they are filled with columns of nothing.
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

  // Numbers of arrays, each of which begins with a whole line of a cache.
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

  int n, half, s, slots, teams;  // teams: of as many pairs of rows as a vector has lanes
  bool table;
  const T* attenuation;
  Transform<T> transform;
};

// Columns 0 and H by r >= 0, both Hermitian.
template <class T>
struct Edges {
  T *zero_re, *zero_im, *last_re, *last_im;  // [H + 1]
};

}  // namespace holdfast::galaxy_shear::HOLDFAST_ISA
