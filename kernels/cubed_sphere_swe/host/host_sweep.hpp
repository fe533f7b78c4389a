// SPDX-License-Identifier: Apache-2.0
// A whole stage of a step in one sweep over the rows of a panel. Of the optimized host variant
// alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cubed_sphere_swe/host/host_panels.hpp"

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {

// One state: h [6, n+1, n+1], v1 [6, n, n+1], v2 [6, n+1, n].
template <class T>
struct StateView {
  T *h = nullptr, *v1 = nullptr, *v2 = nullptr;
  StateView() = default;
  StateView(T* memory, int n) : h(memory), v1(h + height_count(n)), v2(v1 + velocity_count(n)) {}
};

// The output of a pass over the panels: out = factor L(z); out = A base + factor L(z); or that and
// also sum += share factor L(z), where a pass with z == base starts the sum.
enum class Makes { tendency, state, state_and_sum };
template <class T>
struct Pass {
  Makes makes = Makes::state;
  StateView<T> z, base, out, sum = {};
  double factor = 0, share = 0;
};

// Everything that passes only read.
template <class P>
struct Tables {
  using T = P::Value;
  Tables(Backend& backend, int size, const MetricTables& metrics)
      : n(size),
        dx(axis(n).dx),
        jq11(table<T>(backend, metrics.jq11, "metric")),
        jq22(table<T>(backend, metrics.jq22, "metric")),
        jq12(table<T>(backend, metrics.jq12, "metric")),
        inverse_j(table<T>(backend, metrics.inverse_j, "metric")),
        neighbour(backend, neighbours(n), "neighbours"),
        adjoint(to_vertices<P>(Operator::adjoint, operators.adjoint, n)),
        pcv(to_vertices<P>(Operator::pcv, operators.pcv, n)),
        dvc(to_centers<P>(Operator::dvc, operators.dvc, n)),
        pvc(to_centers<P>(Operator::pvc, operators.pvc, n)) {}

  int n;
  double dx;
  Buffer<T> jq11, jq22, jq12, inverse_j;
  Buffer<std::int32_t> neighbour;
  ToVertices<P> adjoint, pcv;
  ToCenters<P> dvc, pvc;
};

// One thread's sweep through a block of rows of one panel, all fields at once.
template <class P, Makes makes>
class Sweep {
 public:
  using T = P::Value;
  static constexpr int scratch_rows = 3 * Ring<T>::rows + (makes == Makes::state_and_sum ? 4 : 3);

  Sweep(const Tables<P>& tables, const Pass<T>& pass, int panel, T* scratch)
      : tables_(tables),
        pass_(pass),
        n_(tables.n),
        panel_(panel),
        pitch_(row_pitch<T>(n_)),
        w2_(scratch, pitch_),
        u1_(scratch + 8 * pitch_, pitch_),
        hp_(scratch + 16 * pitch_, pitch_),
        w1_(scratch + 24 * pitch_ + guard<T>),
        u2_(w1_ + pitch_),
        base_h_(u2_ + pitch_),
        change_(base_h_ + pitch_) {}

  // Rows [begin, end) of h and v2, and of v1 where they exist.
  void operator()(int begin, int end) {
    w2_done_ = u1_done_ = hp_done_ = -1;
    for (int i = begin; i < end; ++i) {
      if (i < n_) gradient1(i);
      gradient2(i);
      flux2(i);
      divergence(i);
    }
  }

 private:
  using Lanes = P::Lanes;
  static Lanes load(const T* x) { return P::load(x); }
  static void store(T* x, Lanes value) { P::store(x, value); }

  std::size_t at_h(int i) const { return RowOf{n_ + 1, n_ + 1}(panel_, i); }
  std::size_t at_v1(int i) const { return RowOf{n_, n_ + 1}(panel_, i); }
  std::size_t at_v2(int i) const { return RowOf{n_ + 1, n_}(panel_, i); }
  std::size_t vertices(int i) const { return static_cast<std::size_t>(i) * (n_ + 1); }
  std::size_t centers(int i) const { return static_cast<std::size_t>(i) * n_; }

  // Makes rows up to `last` available; `first` is the first row needed by the block.
  void need_hp(int first, int last) {
    for (int k = hp_done_ < 0 ? first : hp_done_ + 1; k <= last; ++k)
      load_projected<P>(pass_.z.h, tables_.neighbour.data(), n_, panel_, k, hp_[k]);
    hp_done_ = std::max(hp_done_, last);
  }
  void need_w2(int first, int last) {
    for (int k = w2_done_ < 0 ? first : w2_done_ + 1; k <= last; ++k) cross2(k);
    w2_done_ = std::max(w2_done_, last);
  }
  void need_u1(int first, int last) {
    for (int k = u1_done_ < 0 ? first : u1_done_ + 1; k <= last; ++k) flux1(k);
    u1_done_ = std::max(u1_done_, last);
  }

  // w2 = J Q12 (Pcv v2 along x2)
  void cross2(int i) {
    const T* v2 = pass_.z.v2 + at_v2(i);
    const T* jq12 = tables_.jq12.data() + vertices(i);
    T* w2 = w2_[i];
    for_columns<P>(n_ + 1, [&](int j, auto part) {
      store(w2 + j, load(jq12 + j) * apply<part.value>(tables_.pcv, v2 + j));
    });
  }

  // u1 = J Q11 v1 + Pvc w2 along x1
  void flux1(int i) {
    need_w2(vc_start(i, n_), vc_start(i, n_) + 4);
    const T* v1 = pass_.z.v1 + at_v1(i);
    const T* jq11 = tables_.jq11.data() + vertices(i);
    T* u1 = u1_[i];
    const auto rows = center_row<T>(operators.pvc, i, n_, [&](int k) { return w2_[k]; });
    for_columns<P>(n_ + 1, [&](int j, auto) {
      store(u1 + j, load(jq11 + j) * load(v1 + j) + apply<P>(rows, j));
    });
  }

  // w1 = J Q12 (Pcv v1 along x1); u2 = J Q22 v2 + Pvc w1 along x2
  void flux2(int i) {
    const T* jq12 = tables_.jq12.data() + vertices(i);
    const auto rows =
        vertex_row<T>(operators.pcv, i, n_, [&](int k) { return pass_.z.v1 + at_v1(k); });
    for_columns<P>(n_ + 1,
                   [&](int j, auto) { store(w1_ + j, load(jq12 + j) * apply<P>(rows, j)); });
    const T* v2 = pass_.z.v2 + at_v2(i);
    const T* jq22 = tables_.jq22.data() + centers(i);
    for_columns<P>(n_, [&](int j, auto part) {
      store(u2_ + j, load(jq22 + j) * load(v2 + j) + apply<part.value>(tables_.pvc, w1_ + j));
    });
  }

  // h: A base - factor (H0 / J) (D~ u1 along x1 + D~ u2 along x2)
  void divergence(int i) {
    need_u1(cv_start(i, n_), cv_start(i, n_) + 4);
    const T* inverse_j = tables_.inverse_j.data() + vertices(i);
    const auto scale = static_cast<T>(-mean_depth * pass_.factor / tables_.dx);
    const auto rows = vertex_row<T>(operators.adjoint, i, n_, [&](int k) { return u1_[k]; });
    const T* base = hp_[i];
    if (makes != Makes::tendency && pass_.base.h != pass_.z.h) {
      load_projected<P>(pass_.base.h, tables_.neighbour.data(), n_, panel_, i, base_h_);
      base = base_h_;
    }
    write(base, &StateView<T>::h, at_h(i), n_ + 1, [&](int j, auto part) {
      return (scale * load(inverse_j + j)) *
             (apply<P>(rows, j) + apply<part.value>(tables_.adjoint, u2_ + j));
    });
  }

  // v1: base - factor g Dvc (A h) along x1
  void gradient1(int i) {
    need_hp(vc_start(i, n_), vc_start(i, n_) + 4);
    const auto scale = static_cast<T>(-gravity * pass_.factor / tables_.dx);
    const auto rows = center_row<T>(operators.dvc, i, n_, [&](int k) { return hp_[k]; });
    write(pass_.base.v1 + at_v1(i), &StateView<T>::v1, at_v1(i), n_ + 1,
          [&](int j, auto) { return scale * apply<P>(rows, j); });
  }

  // v2: base - factor g Dvc (A h) along x2
  void gradient2(int i) {
    const auto scale = static_cast<T>(-gravity * pass_.factor / tables_.dx);
    const T* hp = hp_[i];
    write(pass_.base.v2 + at_v2(i), &StateView<T>::v2, at_v2(i), n_,
          [&](int j, auto part) { return scale * apply<part.value>(tables_.dvc, hp + j); });
  }

  // Writes a row of `columns` values at offset `at` of a field.
  template <class Change>
  void write(const T* base, T* StateView<T>::*field, std::size_t at, int columns,
             Change change) const {
    T* out = pass_.out.*field + at;
    if constexpr (makes == Makes::state_and_sum)
      write_both(base, out, pass_.sum.*field + at, columns, change);
    else
      for_columns<P>(columns, [&](int j, auto part) {
        if constexpr (makes == Makes::state)
          store(out + j, load(base + j) + change(j, part));
        else
          store(out + j, change(j, part));
      });
  }

  // The sum is updated in place, which the overlap of for_columns forbids, so the change is
  // buffered in a row.
  template <class Change>
  void write_both(const T* base, T* out, T* sum, int columns, Change change) const {
    for_columns<P>(columns, [&](int j, auto part) { store(change_ + j, change(j, part)); });
    const T* before = pass_.base.h == pass_.z.h ? base : sum;
    const auto share = static_cast<T>(pass_.share);
#pragma omp simd
    for (int j = 0; j < columns; ++j) {
      out[j] = base[j] + change_[j];
      sum[j] = before[j] + share * change_[j];
    }
  }

  const Tables<P>& tables_;
  const Pass<T>& pass_;
  int n_, panel_, pitch_;
  Ring<T> w2_, u1_, hp_;
  T *w1_, *u2_, *base_h_, *change_;
  int w2_done_ = -1, u1_done_ = -1, hp_done_ = -1;  // last computed row
};

}  // namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA
