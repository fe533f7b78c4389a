// SPDX-License-Identifier: Apache-2.0
// Rows of a field as vectors, and the operators along and across them. Used only by the optimized
// host variant, compiled for each instruction set in a namespace of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "cubed_sphere_swe/problem/host_values.hpp"
#include "host/vectors.hpp"

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {

// A vector of `count` values. Code templated on a Pack is vectorised with it.
template <class T, int count>
struct Pack {
  using Value = T;
  static constexpr int lanes = count;
  typedef T Lanes __attribute__((vector_size(count * sizeof(T))));
  typedef T Unaligned
      __attribute__((vector_size(count * sizeof(T)), aligned(sizeof(T)), may_alias));

  static Lanes load(const T* x) { return *reinterpret_cast<const Unaligned*>(x); }
  static void store(T* x, Lanes value) { *reinterpret_cast<Unaligned*>(x) = value; }
};
using Doubles = Pack<double, host::HOLDFAST_ISA::Lanes<double>::count>;
using Floats = Pack<float, host::HOLDFAST_ISA::Lanes<float>::count>;
using FewFloats = Pack<float, 8>;  // for rows that are shorter than Floats

// make(pack) with the pack for rows of n values.
template <class Make>
auto with_pack(Precision precision, int n, Make make) {
  if (precision == Precision::f64) return make(Doubles());
  // NOLINTNEXTLINE(bugprone-branch-clone): they are one type with 8 lanes, two with 16
  return n < Floats::lanes ? make(FewFloats()) : make(Floats());
}

// An operator along x2, the vectorised direction. The columns of the first and the last vector have
// their own coefficients, six taps starting `reach` from the output column; all others share four.
template <class P, int reach>
struct AlongRow {
  using T = P::Value;
  P::Lanes first[6] = {}, last[6] = {};
  T inside[4] = {};

  AlongRow(const std::vector<double>& matrix, int rows, int columns, const double* interior) {
    for (int tap = 0; tap < 6; ++tap)
      for (int lane = 0; lane < P::lanes; ++lane) {
        const auto at = [&](int row) {
          const int column = row + reach + tap;
          return static_cast<T>(column < 0 || column >= columns
                                    ? 0
                                    : matrix[static_cast<std::size_t>(row) * columns + column]);
        };
        first[tap][lane] = at(lane);
        last[tap][lane] = at(rows - P::lanes + lane);
      }
    std::transform(interior, interior + 4, inside, [](double x) { return static_cast<T>(x); });
  }
};
template <class P>
using ToVertices = AlongRow<P, -3>;
template <class P>
using ToCenters = AlongRow<P, -2>;

enum class Part { first, inside, last };

template <Part part, class P, int reach>
inline P::Lanes apply(const AlongRow<P, reach>& op, const typename P::Value* x) {
  if constexpr (part == Part::inside) {
    x += reach + 1;
    return op.inside[0] * P::load(x) + op.inside[1] * P::load(x + 1) +
           op.inside[2] * P::load(x + 2) + op.inside[3] * P::load(x + 3);
  } else {
    const auto* taps = part == Part::first ? op.first : op.last;
    x += reach;
    return (taps[0] * P::load(x) + taps[1] * P::load(x + 1) + taps[2] * P::load(x + 2)) +
           (taps[3] * P::load(x + 3) + taps[4] * P::load(x + 4) + taps[5] * P::load(x + 5));
  }
}

template <Part part>
struct PartOf {
  static constexpr Part value = part;
};

// body(column, part) for vectors that cover [0, columns); the last two may overlap, so outputs are
// not inputs.
template <class P, class Body>
inline void for_columns(int columns, Body body) {
  body(0, PartOf<Part::first>());
  for (int j = P::lanes; j < columns - P::lanes; j += P::lanes) body(j, PartOf<Part::inside>());
  body(columns - P::lanes, PartOf<Part::last>());
}

// One row of an operator along x1: up to five whole rows, weighted.
template <class T>
struct AcrossRows {
  const T* row[5] = {};
  T tap[5] = {};

  template <class RowAt>
  AcrossRows(const double (&taps)[5], int start, RowAt row_at) {
    for (int k = 0; k < 5; ++k) {
      tap[k] = static_cast<T>(taps[k]);
      row[k] = row_at(start + k);
    }
  }
};
// Row i of an operator onto vertices or onto centres; row_at(k) is row k of its operand.
template <class T, class RowAt>
AcrossRows<T> vertex_row(const double (&op)[cv_classes][5], int i, int n, RowAt row_at) {
  return {op[cv_class(i, n)], cv_start(i, n), row_at};
}
template <class T, class RowAt>
AcrossRows<T> center_row(const double (&op)[vc_classes][5], int i, int n, RowAt row_at) {
  return {op[vc_class(i, n)], vc_start(i, n), row_at};
}

template <class P>
inline P::Lanes apply(const AcrossRows<typename P::Value>& op, int j) {
  typename P::Lanes sum = op.tap[0] * P::load(op.row[0] + j);
  for (int k = 1; k < 5; ++k) sum += op.tap[k] * P::load(op.row[k] + j);
  return sum;
}

}  // namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA
