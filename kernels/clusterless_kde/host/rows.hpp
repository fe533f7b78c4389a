// SPDX-License-Identifier: Apache-2.0
// From sums at nodes or bins to rows of out: each is the floored logarithms of the row's spikes
// minus the ground process. And a filter's summary of such a row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "clusterless_kde/host/hop.hpp"
#include "clusterless_kde/host/model.hpp"
#include "clusterless_kde/host/product.hpp"
#include "clusterless_kde/problem/formulas.hpp"
#include "host/vectors.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {

// A filter's summary of a row of out: ln sum_p exp(out) and where out is largest.
struct RowSummary {
  double log_sum = 0;
  std::int64_t largest = 0;  // the first such bin
};

template <class T>
RowSummary summary_of(const T* out, std::int64_t bins) {
  constexpr int lanes = Lanes<T>::count;
  const std::int64_t largest = std::max_element(out, out + bins) - out;
  const T most = out[largest];
  Vector<T> sum = {};
  for (std::int64_t p = 0; p < bins; p += lanes) {
    Vector<T> x = everywhere(most) - T(2) * Format<T>::bias;  // far below the others: adds 0
    if (bins - p >= lanes)
      x = load(out + p);
    else
      for (int k = 0; k < bins - p; ++k) x[k] = out[p + k];
    sum += exp2<T>((x - most) * T(log2_of_e));
  }
  double total = 0;
  for (int k = 0; k < lanes; ++k) total += sum[k];
  return {most + std::log(total), largest};
}

// The sum of the logarithms of a row's spikes at the bins of a tile, computed as the logarithm of a
// product whose exponents are kept separately: one logarithm per row and bin, and less rounding
// than a sum.
template <class T>
class Products {
 public:
  Products(T* memory, std::int64_t columns)
      : mantissas_(memory),
        exponents_(reinterpret_cast<Integer*>(memory + columns)),
        columns_(columns) {
    clear();
  }

  void clear() {
    count_ = since_ = 0;
    std::fill_n(mantissas_, columns_, T(1));
    std::fill_n(exponents_, columns_, Integer(0));
  }
  std::int64_t count() const { return count_; }

  // values: of each of `spikes` spikes, at all columns.
  void multiply(const T* const* values, int spikes) {
    for (std::int64_t c = 0; c < columns_; c += lanes) {
      Vector<T> mantissa = load(mantissas_ + c);
      Integers<T> exponent = load_exponents(c);
      for (int k = 0; k < spikes; ++k) {
        const Vector<T> value = at_least<T>(load(values[k] + c), T(rate_floor));
        exponent += bits_of<T>(value) >> F::mantissa_bits;
        mantissa *= mantissa_of(value);
      }
      store(mantissas_ + c, mantissa);
      store_exponents(c, exponent);
    }
    count_ += spikes;
    since_ += spikes;
    if (since_ > most_mantissas - product_rows) normalise();
  }

  Vector<T> log(std::int64_t c) const {
    const auto biases = static_cast<Integer>(count_ * F::bias);
    return HOLDFAST_ISA::log<T>(load(mantissas_ + c), load_exponents(c) - biases);
  }

 private:
  using F = Format<T>;
  using Integer = Lanes<T>::Integer;
  static constexpr int lanes = Lanes<T>::count;
  static constexpr int most_mantissas = 64;  // each below 2

  static Vector<T> mantissa_of(Vector<T> x) {  // in [1, 2)
    constexpr Integer mask = (Integer{1} << F::mantissa_bits) - 1;
    return value_of<T>((bits_of<T>(x) & mask) | F::one);
  }
  // Exact: only exponents move.
  void normalise() {
    for (std::int64_t c = 0; c < columns_; c += lanes) {
      const Vector<T> mantissa = load(mantissas_ + c);
      store_exponents(c, load_exponents(c) + (bits_of<T>(mantissa) >> F::mantissa_bits) - F::bias);
      store(mantissas_ + c, mantissa_of(mantissa));
    }
    since_ = 1;
  }
  Integers<T> load_exponents(std::int64_t c) const {
    Integers<T> x;
    __builtin_memcpy(&x, exponents_ + c, sizeof(x));
    return x;
  }
  void store_exponents(std::int64_t c, Integers<T> x) {
    __builtin_memcpy(exponents_ + c, &x, sizeof(x));
  }

  T* mantissas_;
  Integer* exponents_;
  std::int64_t columns_, count_ = 0, since_ = 0;
};

static_assert(product_rows <= strip_rows);

// Used by one thread; `memory` is sizes.tiles() long.
template <class T>
class Rows {
 public:
  Rows(const HostSizes& sizes, const Model<T>& model, const std::int64_t* row_begin,
       const Sums<T>& sums, T* memory)
      : sizes_(sizes), model_(model), row_begin_(row_begin), sums_(sums), memory_(memory) {}

  // Rows begin .. end - 1 into out [end - begin, P].
  void operator()(std::int64_t begin, std::int64_t end, T* out) {
    for (std::int64_t p = 0; p < sizes_.pitch; p += sizes_.position_tile)
      tile(begin, end, p, std::min(sizes_.position_tile, sizes_.pitch - p), out);
  }

 private:
  static constexpr int lanes = Lanes<T>::count;

  // Bins p .. p + columns - 1.
  void tile(std::int64_t begin, std::int64_t end, std::int64_t p, std::int64_t columns, T* out) {
    Products<T> products(memory_, columns);
    std::int64_t row = begin;
    const auto finish = [&] {
      write(products, row, p, columns, out + (row - begin) * sizes_.bins + p);
      if (products.count() > 0) products.clear();
      ++row;
    };
    const std::int64_t last = row_begin_[end];
    for (std::int64_t s = row_begin_[begin]; s < last; s += product_rows) {
      const int spikes = static_cast<int>(std::min<std::int64_t>(product_rows, last - s));
      const T* values[product_rows];
      sums_at_bins(s, spikes, p, columns, values);
      for (int k = 0, run = 0; k < spikes; k += run) {
        while (row_begin_[row + 1] <= s + k) finish();
        run = static_cast<int>(std::min<std::int64_t>(spikes - k, row_begin_[row + 1] - s - k));
        products.multiply(values + k, run);
      }
    }
    while (row < end) finish();  // NOLINT(bugprone-infinite-loop): finish() takes the next row
  }

  // values: of each spike, at the bins of a tile.
  void sums_at_bins(std::int64_t spike, int spikes, std::int64_t p, std::int64_t columns,
                    const T** values) {
    if (!sizes_.two_hop) {
      for (int r = 0; r < spikes; ++r) values[r] = sums_.of(spike + r, sizes_.pitch) + p;
      return;
    }
    T* strip = memory_ + 2 * sizes_.position_tile;
    for (std::int64_t c = 0; c < columns; c += panel_columns) {
      T* to[product_rows];
      for (int r = 0; r < spikes; ++r) to[r] = strip + r * columns + c;
      const Band& band = model_.bands[(p + c) / panel_columns];
      HOLDFAST_ISA::multiply<T>(
          {.depth = band.end - band.begin,
           .a = sums_.of(spike, sizes_.nodes) + band.begin,
           .a_pitch = sizes_.nodes,
           .b = model_.phi.data() + (p + c) * sizes_.nodes + band.begin * panel_columns,
           .b_pitch = panel_columns},
          spikes, panel_columns, to);
    }
    for (int r = 0; r < spikes; ++r) values[r] = strip + r * columns;
  }

  void write(const Products<T>& products, std::int64_t row, std::int64_t p, std::int64_t columns,
             T* out) const {
    const bool spikes = row_begin_[row] < row_begin_[row + 1];
    const T* minus_ground = model_.minus_ground.data() + p;
    const std::int64_t real = std::min(columns, sizes_.bins - p);
    for (std::int64_t c = 0; c < real; c += lanes) {
      Vector<T> value = load(minus_ground + c);
      if (spikes) value += products.log(c);
      if (real - c >= lanes)
        store(out + c, value);
      else
        for (int k = 0; k < real - c; ++k) out[c + k] = value[k];
    }
  }

  const HostSizes& sizes_;
  const Model<T>& model_;
  const std::int64_t* row_begin_;
  Sums<T> sums_;
  T* memory_;
};

}  // namespace holdfast::clusterless_kde::HOLDFAST_ISA
