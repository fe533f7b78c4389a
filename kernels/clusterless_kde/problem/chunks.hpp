// SPDX-License-Identifier: Apache-2.0
// Time chunks of a decode: consecutive rows, divided as evenly as possible.
#pragma once

#include <algorithm>
#include <cstdint>

#include "clusterless_kde/problem/preparation.hpp"

namespace holdfast::clusterless_kde {

// Chunk `number` of `chunks` is rows chunk_begin(number) .. chunk_begin(number + 1).
constexpr std::int64_t chunk_begin(std::int64_t number, std::int64_t chunks, std::int64_t rows) {
  return number * rows / chunks;
}

// Rows of the longest chunk.
constexpr std::int64_t most_chunk_rows(std::int64_t chunks, std::int64_t rows) {
  return (rows + chunks - 1) / chunks;
}

// Spikes of the busiest chunk.
inline std::int64_t most_chunk_spikes(const Order& order, std::int64_t chunks, std::int64_t rows) {
  std::int64_t most = 0;
  for (std::int64_t c = 0; c < chunks; ++c)
    most = std::max(most, order.row_begin[chunk_begin(c + 1, chunks, rows)] -
                              order.row_begin[chunk_begin(c, chunks, rows)]);
  return most;
}

}  // namespace holdfast::clusterless_kde
