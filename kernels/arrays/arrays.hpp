// SPDX-License-Identifier: Apache-2.0
// The verbs of an array library, each one pass over memory that writes a fresh array. `Verbs` does
// them: loops on the host (host_verbs.hpp), one kernel or library call each on a device
// (device_verbs.hpp).
#pragma once

#include <cstdint>
#include <type_traits>

#include "arrays/arena.hpp"
#include "runtime/backend/blas.hpp"

namespace holdfast::arrays {

// [b, p] = a^T c of a[n, b] and c[n, p].
template <class T>
Gemm product_of(std::int64_t n, std::int64_t b, std::int64_t p) {
  return {.precision = precision_of<T>,
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
  using T = Verbs::Value;
  using Row = Array<T>;  // any shape, row-major
  using Mask = Array<unsigned char>;

  Arrays(Verbs& verbs, Arena& arena) : verbs_(&verbs), arena_(&arena) {}

  Row filled(std::int64_t size, double value) { return line(verbs_->fill, size, value); }
  Row add(const Row& a, const Row& b) { return line(verbs_->add, a.size(), a, b); }
  Row subtract(const Row& a, const Row& b) { return line(verbs_->subtract, a.size(), a, b); }
  Row multiply(const Row& a, const Row& b) { return line(verbs_->multiply, a.size(), a, b); }
  Row exp(const Row& a) { return line(verbs_->exponential, a.size(), a); }
  Row log(const Row& a) { return log(a.data(), a.size()); }
  Row log(const T* a, std::int64_t size) { return line(verbs_->logarithm, size, a); }
  Row shift(const Row& a, double by) { return line(verbs_->shift, a.size(), a, by); }
  Row scale(const Row& a, double by) { return line(verbs_->scale, a.size(), a, by); }
  // Division by a count; if it is 0, a itself, which as a sum of nothing is all zeros.
  Row divide(const Row& a, std::int64_t by) {
    return line(verbs_->divide, a.size(), a, static_cast<double>(by > 0 ? by : 1));
  }
  Row clip(const Row& a, double least) { return line(verbs_->clip, a.size(), a, least); }
  // a / b where b > 0, elsewhere `otherwise`.
  Row masked_ratio(const Row& a, const T* b, double otherwise) {
    return line(verbs_->masked_ratio, a.size(), a, b, otherwise);
  }
  Mask below(const Row& a, double least) {
    Mask mask(*arena_, a.size());
    if (!arena_->rehearsing())
      verbs_->below(a.data(), static_cast<T>(least), mask.data(), a.size());
    return mask;
  }
  Row select(const Mask& mask, double value, const Row& otherwise) {
    return line(verbs_->select, otherwise.size(), mask, value, otherwise);
  }
  // A copy of `whole` with `part` written at offset `first`.
  Row place(const Row& whole, const Row& part, std::int64_t first) {
    return made(whole.size(), [&](T* out) {
      verbs_->place(whole.data(), part.data(), first, first + part.size(), out, whole.size());
    });
  }

  // a: [rows, columns]; b: [columns].
  Row divide_columns(const Row& a, const T* b, std::int64_t columns) {
    return plane(verbs_->divide_columns, a.size(), columns, a, b);
  }
  Row subtract_columns(const Row& a, const T* b, std::int64_t columns) {
    return plane(verbs_->subtract_columns, a.size(), columns, a, b);
  }
  // a where its column's b > 0, elsewhere `otherwise`.
  Row keep_columns(const Row& a, const T* b, double otherwise, std::int64_t columns) {
    return plane(verbs_->keep_columns, a.size(), columns, a, b, otherwise);
  }

  // Returns [w]: weighted sums of in[n, w] along n.
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
  // Returns [b, p]: a^T c for a[n, b] and c[n, p].
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

  // A fresh array written by a one-dimensional verb, line(verbs().add, size, a, b), or by a
  // two-dimensional one.
  template <class Verb, class... Arguments>
  Row line(const Verb& verb, std::int64_t size, const Arguments&... arguments) {
    return made(size, [&](T* out) { verb(passed(arguments)..., out, size); });
  }
  template <class Verb, class... Arguments>
  Row plane(const Verb& verb, std::int64_t size, std::int64_t columns,
            const Arguments&... arguments) {
    // Arrays without columns have no rows either.
    const std::int64_t rows = columns > 0 ? size / columns : 0;
    return made(size, [&](T* out) { verb(passed(arguments)..., out, rows, columns); });
  }
  // A fresh array that `write` fills.
  template <class Write>
  Row made(std::int64_t size, const Write& write) {
    Row row(*arena_, size);
    if (!arena_->rehearsing()) write(row.data());
    return row;
  }

 private:
  // An argument in the form a verb takes.
  template <class Value>
  static const Value* passed(const Array<Value>& array) {
    return array.data();
  }
  static const T* passed(const T* values) { return values; }
  static T passed(double number) { return static_cast<T>(number); }

  Verbs* verbs_;
  Arena* arena_;
};

}  // namespace holdfast::arrays
