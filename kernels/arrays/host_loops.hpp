// SPDX-License-Identifier: Apache-2.0
// Multithreaded loops over arrays in host memory. Compiled for each instruction set in a namespace
// of its own.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "host/flush_to_zero.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast::arrays::HOLDFAST_ISA {

// Smallest loop, in elements, that threads share: below it, waking a thread costs more than it
// saves (measured on two cores: a medium decode is a fifth slower when its arrays of 10^5 elements
// are shared).
inline constexpr std::int64_t worth_sharing = 1 << 18;

// FlushToZero around work that a library distributes over threads itself: on all of them, or on the
// calling thread alone where waking the others costs more than it saves. Teams of more than two
// always flush on all: a team that shrinks loses threads, and their replacements inherit the
// caller's mode.
template <class T>
class FlushTeamToZero {
 public:
  explicit FlushTeamToZero(bool all)
      : threads_(std::is_same_v<T, float> && (all || host_limits().threads > 2)
                     ? host_limits().threads
                     : 1) {
#pragma omp parallel num_threads(team()) if (team() > 1)
    threads_[omp_get_thread_num()].emplace();
  }
  ~FlushTeamToZero() {
#pragma omp parallel num_threads(team()) if (team() > 1)
    threads_[omp_get_thread_num()].reset();
  }
  FlushTeamToZero(const FlushTeamToZero&) = delete;
  FlushTeamToZero& operator=(const FlushTeamToZero&) = delete;

 private:
  int team() const {
    return static_cast<int>(threads_.size());
  }

  std::vector<std::optional<FlushToZero<T>>> threads_;
};

inline constexpr std::int64_t tile_columns = 64;

// body(i) for every element.
template <class T, class Body>
void each(std::int64_t count, Body body) {
#pragma omp parallel num_threads(host_limits().threads) if (count >= worth_sharing)
  {
    const FlushToZero<T> flush;
#pragma omp for simd schedule(static) nowait
    for (std::int64_t i = 0; i < count; ++i) body(i);
  }
}
// body(row, column) for every element.
template <class T, class Body>
void each_row(std::int64_t rows, std::int64_t columns, Body body) {
#pragma omp parallel num_threads(host_limits().threads) if (rows * columns >= worth_sharing)
  {
    const FlushToZero<T> flush;
#pragma omp for schedule(static) nowait
    for (std::int64_t r = 0; r < rows; ++r)
#pragma omp simd
      for (std::int64_t c = 0; c < columns; ++c) body(r, c);
  }
}
// body(first, count) for tiles of the columns of [n, w].
template <class T, class Body>
void by_column_tile(std::int64_t n, std::int64_t w, Body body) {
#pragma omp parallel num_threads(host_limits().threads) if (n * w >= worth_sharing)
  {
    const FlushToZero<T> flush;
#pragma omp for schedule(static) nowait
    for (std::int64_t first = 0; first < w; first += tile_columns)
      body(first, std::min(tile_columns, w - first));
  }
}
// body(j) for every j < count; each call processes `elements` elements.
template <class T, class Body>
void each_long(std::int64_t count, std::int64_t elements, Body body) {
#pragma omp parallel num_threads(host_limits().threads) if (count * elements >= worth_sharing)
  {
    const FlushToZero<T> flush;
#pragma omp for schedule(static) nowait
    for (std::int64_t j = 0; j < count; ++j) body(j);
  }
}

}  // namespace holdfast::arrays::HOLDFAST_ISA
