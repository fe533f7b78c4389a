// SPDX-License-Identifier: Apache-2.0
// The verbs of an array library, each one pass over memory that writes a fresh array. `Verbs` does
// them: loops on the host, one kernel (or one library call) each on a device.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "clusterless_kde/problem/formulas.hpp"
#include "clusterless_kde/reference/eager_arena.hpp"
#include "runtime/backend/blas.hpp"

namespace holdfast::clusterless_kde {

// One axis of a Gaussian kernel between samples [n] and points [w]: a position or a feature.
template <class T>
struct Axis {
  const T* samples = nullptr;
  const T* points = nullptr;
  double width = 1;  // standard deviation

  T inverse_width() const { return static_cast<T>(1 / width); }
  T scale() const { return static_cast<T>(1 / (width * sqrt_two_pi)); }
  T log_scale() const { return static_cast<T>(-std::log(width * sqrt_two_pi)); }
  Axis from(std::int64_t point) const { return {samples, points + point, width}; }
};

// [b, p] = a^T c of a[n, b] and c[n, p].
template <class T>
Gemm product_of(std::int64_t n, std::int64_t b, std::int64_t p) {
  return {.precision = std::is_same_v<T, float> ? Precision::f32 : Precision::f64,
          .m = static_cast<int>(b),
          .n = static_cast<int>(p),
          .k = static_cast<int>(n),
          .transpose_a = true,
          .lda = static_cast<int>(b),
          .ldb = static_cast<int>(p),
          .ldc = static_cast<int>(p)};
}

template <class Verbs>
class Arrays {
 public:
  using T = typename Verbs::Value;
  using Row = Array<T>;  // of any shape, row-major
  using Mask = Array<unsigned char>;

  Arrays(Verbs& verbs, Arena& arena) : verbs_(&verbs), arena_(&arena) {}

  Row filled(std::int64_t size, double value) {
    return made(size, [&](T* out) { verbs_->fill(static_cast<T>(value), out, size); });
  }
  // [n, w]: of each sample at each point.
  Row pdf(const Axis<T>& axis, std::int64_t n, std::int64_t w) {
    return made(n * w, [&](T* out) { verbs_->pdf(axis, out, n, w); });
  }
  Row log_pdf(const Axis<T>& axis, std::int64_t n, std::int64_t w) {
    return made(n * w, [&](T* out) { verbs_->log_pdf(axis, out, n, w); });
  }

  Row add(const Row& a, const Row& b) {
    return made(a.size(), [&](T* out) { verbs_->add(a.data(), b.data(), out, a.size()); });
  }
  Row subtract(const Row& a, const Row& b) {
    return made(a.size(), [&](T* out) { verbs_->subtract(a.data(), b.data(), out, a.size()); });
  }
  Row multiply(const Row& a, const Row& b) {
    return made(a.size(), [&](T* out) { verbs_->multiply(a.data(), b.data(), out, a.size()); });
  }
  Row exp(const Row& a) {
    return made(a.size(), [&](T* out) { verbs_->exp(a.data(), out, a.size()); });
  }
  Row log(const Row& a) { return log(a.data(), a.size()); }
  Row log(const T* a, std::int64_t size) {
    return made(size, [&](T* out) { verbs_->log(a, out, size); });
  }
  Row shift(const Row& a, double by) {
    return made(a.size(),
                [&](T* out) { verbs_->shift(a.data(), static_cast<T>(by), out, a.size()); });
  }
  Row scale(const Row& a, double by) {
    return made(a.size(),
                [&](T* out) { verbs_->scale(a.data(), static_cast<T>(by), out, a.size()); });
  }
  // Over a count; all zeros for a count of 0.
  Row divide(const Row& a, std::int64_t by) {
    return made(a.size(), [&](T* out) {
      verbs_->divide(a.data(), static_cast<T>(by > 0 ? by : 1), out, a.size());
    });
  }
  Row clip(const Row& a, double least) {
    return made(a.size(),
                [&](T* out) { verbs_->clip(a.data(), static_cast<T>(least), out, a.size()); });
  }
  // a / b where b > 0.
  Row masked_ratio(const Row& a, const T* b, double otherwise) {
    return made(a.size(), [&](T* out) {
      verbs_->masked_ratio(a.data(), b, static_cast<T>(otherwise), out, a.size());
    });
  }
  Mask below(const Row& a, double least) {
    Mask mask(*arena_, a.size());
    if (!arena_->rehearsing())
      verbs_->below(a.data(), static_cast<T>(least), mask.data(), a.size());
    return mask;
  }
  Row select(const Mask& mask, double value, const Row& otherwise) {
    return made(otherwise.size(), [&](T* out) {
      verbs_->select(mask.data(), static_cast<T>(value), otherwise.data(), out, otherwise.size());
    });
  }
  // A copy of `whole` in which `part` lies at `first`.
  Row place(const Row& whole, const Row& part, std::int64_t first) {
    return made(whole.size(), [&](T* out) {
      verbs_->place(whole.data(), part.data(), first, part.size(), out, whole.size());
    });
  }

  // a: [rows, columns]; b: [columns].
  Row divide_columns(const Row& a, const T* b, std::int64_t columns) {
    return made(a.size(), [&](T* out) {
      verbs_->divide_columns(a.data(), b, out, rows_of(a, columns), columns);
    });
  }
  Row subtract_columns(const Row& a, const T* b, std::int64_t columns) {
    return made(a.size(), [&](T* out) {
      verbs_->subtract_columns(a.data(), b, out, rows_of(a, columns), columns);
    });
  }
  // a where its column's b > 0.
  Row keep_columns(const Row& a, const T* b, double otherwise, std::int64_t columns) {
    return made(a.size(), [&](T* out) {
      verbs_->keep_columns(a.data(), b, static_cast<T>(otherwise), out, rows_of(a, columns),
                           columns);
    });
  }

  // [w]: of in[n, w] along n.
  Row weighted_sum(const T* weights, const Row& in, std::int64_t n, std::int64_t w) {
    return made(w, [&](T* out) { verbs_->weighted_sum(weights, in.data(), out, n, w); });
  }
  Row log_sum(const Row& in, std::int64_t n, std::int64_t w) {
    return made(w, [&](T* out) { verbs_->log_sum(in.data(), out, n, w); });
  }
  // [rows]: of in[rows, columns] along the columns.
  Row row_maximum(const Row& in, std::int64_t rows) {
    return made(rows, [&](T* out) {
      verbs_->row_maximum(in.data(), out, rows, rows > 0 ? in.size() / rows : 0);
    });
  }
  // [b, P]: a^T c of a[n, b] and c[n, P].
  Row product(const Row& a, const Row& c, std::int64_t n, std::int64_t b, std::int64_t p) {
    return made(b * p, [&](T* out) {
      if (n > 0)
        verbs_->product(a.data(), c.data(), out, n, b, p);
      else
        verbs_->fill(T(0), out, b * p);
    });
  }

  Verbs& verbs() { return *verbs_; }
  Arena& arena() { return *arena_; }

  // A fresh array that `write` fills.
  template <class Write>
  Row made(std::int64_t size, const Write& write) {
    Row row(*arena_, size);
    if (!arena_->rehearsing()) write(row.data());
    return row;
  }

 private:
  // Arrays without a column have no row either.
  static std::int64_t rows_of(const Row& a, std::int64_t columns) {
    return columns > 0 ? a.size() / columns : 0;
  }

  Verbs* verbs_;
  Arena* arena_;
};

}  // namespace holdfast::clusterless_kde
