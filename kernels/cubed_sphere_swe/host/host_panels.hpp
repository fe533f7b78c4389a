// SPDX-License-Identifier: Apache-2.0
// Rows of a panel's fields, and the operators that apply to them. Of the optimized host variant
// alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cubed_sphere_swe/problem/host_rows.hpp"
#include "cubed_sphere_swe/problem/operators.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {

// Eight scratch rows: a ring that holds the latest eight rows k of a field.
template <class T>
class Ring {
 public:
  static constexpr int rows = 8;
  Ring(T* memory, int pitch) : memory_(memory + guard<T>), pitch_(pitch) {}
  T* operator[](int k) const { return memory_ + (k & (rows - 1)) * pitch_; }

 private:
  T* memory_;
  int pitch_;
};

// Row `row` of a field [6, rows, columns].
struct RowOf {
  int rows = 0, columns = 0;
  std::size_t operator()(int panel, int row) const {
    return (static_cast<std::size_t>(panel) * rows + row) * columns;
  }
};

// Derivatives for unit spacing, interpolations as they are: each pass divides by dx in its factor.
inline std::vector<double> per_spacing(Operator which, int n) {
  std::vector<double> matrix = dense(which, n);
  if (which != Operator::pcv && which != Operator::pvc)
    for (double& value : matrix) value *= axis(n).dx;
  return matrix;
}
template <class P>
ToVertices<P> to_vertices(Operator which, const double (&rows)[cv_classes][5], int n) {
  return {per_spacing(which, n), n + 1, n, rows[cv_classes / 2]};
}
template <class P>
ToCenters<P> to_centers(Operator which, const double (&rows)[vc_classes][5], int n) {
  return {per_spacing(which, n), n, n + 1, rows[vc_classes / 2]};
}

// Row i of A h of a panel. h: [6, n+1, n+1].
template <class P, class T = P::Value>
void load_projected(const T* h, const std::int32_t* neighbour, int n, int panel, int i, T* to) {
  const int own = height_index(n, panel, i, 0);
  const auto border = [&](Side side, int k, int j) {
    const std::size_t row = neighbour_row(n, panel, side, k);
    to[j] = projected(h, own + j, neighbour[row], neighbour[row + 1]);
  };
  if (i == 0 || i == n) {
    for (int j = 0; j <= n; ++j) border(i == 0 ? Side::west : Side::east, j, j);
    return;
  }
  for_columns<P>(n + 1, [&](int j, auto) { P::store(to + j, P::load(h + own + j)); });
  border(Side::south, i, 0);
  border(Side::north, i, n);
}

}  // namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA
