// SPDX-License-Identifier: Apache-2.0
// The part of a result in memory that stages share. Until a step writes it, it may belong to
// another stage, so it is spoilt before the first step.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/backend/spoil.hpp"

namespace holdfast::gpt_train {

// `width` columns, from `first` on, of rows of `pitch` numbers.
template <class T>
struct Columns {
  T* rows;
  int pitch, first, width;
};
template <class T>
Columns<T> whole_rows(T* rows, int width) {
  return {rows, width, 0, width};
}

// In the order of the result.
template <class T>
using SharedResult = std::vector<Columns<T>>;

template <class T>
void spoil(Backend& backend, const SharedResult<T>& result, std::int64_t n) {
  for (const Columns<T>& part : result)
    holdfast::spoil(backend, part.rows, static_cast<std::size_t>(n * part.pitch) * sizeof(T));
}

// Appends a result of n rows from a host's memory.
template <class T>
void tell(const SharedResult<T>& result, std::int64_t n, std::vector<double>& to) {
  for (const auto& [rows, pitch, first, width] : result)
    for (std::int64_t row = 0; row < n; ++row) {
      const T* const from = rows + row * pitch + first;
      to.insert(to.end(), from, from + width);
    }
}

}  // namespace holdfast::gpt_train
