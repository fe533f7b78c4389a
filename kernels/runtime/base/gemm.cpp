// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/gemm.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace holdfast {
namespace {

// A batch of matrices in memory: rows of `columns` elements, `pitch` apart.
struct Rows {
  const void* first = nullptr;
  std::int64_t matrices = 1, stride = 0, rows = 0, pitch = 0, columns = 0;
};

// Bytes of the 32-byte sectors that hold these rows, each row for itself: rows that a pitch or an
// address puts across sectors are moved, and counted, as more.
std::int64_t sector_bytes(const Rows& all, int element_bytes) {
  constexpr std::int64_t sector = 32;
  // After how many of `most` their places in sectors recur, and how many lie as the one at `place`.
  const auto period = [](std::int64_t bytes, std::int64_t most) {
    return std::min(most, sector / std::gcd(bytes, sector));
  };
  const auto alike = [](std::int64_t place, std::int64_t every, std::int64_t most) {
    return (most - place + every - 1) / every;
  };
  const auto start =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(all.first) % sector);
  const std::int64_t across = all.stride * element_bytes, down = all.pitch * element_bytes;
  const std::int64_t matrices = period(across, all.matrices), rows = period(down, all.rows);
  std::int64_t sectors = 0;
  for (std::int64_t matrix = 0; matrix < matrices; ++matrix)
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t begin = (start + matrix * across + row * down) % sector;
      const std::int64_t touched = (begin + all.columns * element_bytes + sector - 1) / sector;
      sectors += touched * alike(matrix, matrices, all.matrices) * alike(row, rows, all.rows);
    }
  return sectors * sector;
}

}  // namespace

std::int64_t moved_bytes(const Gemm& problem, const GemmOperands& operands) {
  const int m = problem.m, n = problem.n, k = problem.k;
  const auto batch = [&](const void* first, std::int64_t stride, int pitch, int rows, int columns) {
    return Rows{first, stride == 0 ? 1 : problem.batch, stride, rows, pitch, columns};
  };
  const auto transposed = [](Rows rows) {
    std::swap(rows.rows, rows.columns);
    return rows;
  };
  const Rows a = batch(operands.a, problem.stride_a, problem.lda, m, k);
  const Rows b = batch(operands.b, problem.stride_b, problem.ldb, k, n);
  const Rows c = batch(operands.c, problem.stride_c, problem.ldc, m, n);
  const Rows d = batch(operands.d, problem.stride_c, problem.ldc, m, n);
  const int operand = stored_bytes(problem.precision),
            result = stored_bytes(stored_result(problem));
  return sector_bytes(problem.transpose_a ? transposed(a) : a, operand) +
         sector_bytes(problem.transpose_b ? transposed(b) : b, operand) +
         (problem.beta == 0 ? 0 : sector_bytes(c, result)) + sector_bytes(d, result);
}

}  // namespace holdfast
