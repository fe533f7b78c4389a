// SPDX-License-Identifier: Apache-2.0
// Rows of a field as vectors, and the operators along and across them. Of the optimized host
// variant alone, compiled for each instruction set in a namespace of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {

#ifdef __AVX512F__
constexpr int lanes = 8;
#else
constexpr int lanes = 4;
#endif
typedef double Lanes __attribute__((vector_size(lanes * sizeof(double))));
typedef double Unaligned
    __attribute__((vector_size(lanes * sizeof(double)), aligned(8), may_alias));

inline Lanes load(const double* x) {
  return *reinterpret_cast<const Unaligned*>(x);
}
inline void store(double* x, Lanes value) {
  *reinterpret_cast<Unaligned*>(x) = value;
}

// Rows are read up to three columns beyond either end, against zero coefficients; what lies there
// must be finite.
constexpr int guard = 8;

constexpr int row_pitch(int n) {
  return (n + 1 + 2 * guard + 7) / 8 * 8;
}

// An operator along x2, the vectorised direction. The columns of the first and the last vector have
// coefficients of their own, six taps from `reach` relative to the output column on; all others
// share four.
template <int reach>
struct AlongRow {
  Lanes first[6] = {}, last[6] = {};
  double inside[4] = {};

  AlongRow(const std::vector<double>& matrix, int rows, int columns, const double* interior) {
    for (int tap = 0; tap < 6; ++tap)
      for (int lane = 0; lane < lanes; ++lane) {
        const auto at = [&](int row) {
          const int column = row + reach + tap;
          return column < 0 || column >= columns
                     ? 0
                     : matrix[static_cast<std::size_t>(row) * columns + column];
        };
        first[tap][lane] = at(lane);
        last[tap][lane] = at(rows - lanes + lane);
      }
    std::copy_n(interior, 4, inside);
  }
};
using ToVertices = AlongRow<-3>;
using ToCenters = AlongRow<-2>;

enum class Part { first, inside, last };

template <Part part, int reach>
inline Lanes apply(const AlongRow<reach>& op, const double* x) {
  if constexpr (part == Part::inside) {
    x += reach + 1;
    return op.inside[0] * load(x) + op.inside[1] * load(x + 1) + op.inside[2] * load(x + 2) +
           op.inside[3] * load(x + 3);
  } else {
    const Lanes* taps = part == Part::first ? op.first : op.last;
    x += reach;
    return (taps[0] * load(x) + taps[1] * load(x + 1) + taps[2] * load(x + 2)) +
           (taps[3] * load(x + 3) + taps[4] * load(x + 4) + taps[5] * load(x + 5));
  }
}

template <Part part>
struct PartOf {
  static constexpr Part value = part;
};

// body(column, part) for vectors that cover [0, columns); the last two may overlap, so outputs are
// not inputs.
template <class Body>
inline void for_columns(int columns, Body body) {
  body(0, PartOf<Part::first>());
  for (int j = lanes; j < columns - lanes; j += lanes) body(j, PartOf<Part::inside>());
  body(columns - lanes, PartOf<Part::last>());
}

// One row of an operator along x1: up to five whole rows, weighted.
struct AcrossRows {
  const double* row[5] = {};
  double tap[5] = {};
};

inline Lanes apply(const AcrossRows& op, int j) {
  Lanes sum = op.tap[0] * load(op.row[0] + j);
  for (int k = 1; k < 5; ++k) sum += op.tap[k] * load(op.row[k] + j);
  return sum;
}

}  // namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA
