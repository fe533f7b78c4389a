// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/gemm.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <utility>

namespace holdfast {
namespace {

void* at(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

constexpr Gemm aligned = {.precision = Precision::bf16,
                          .m = 4,
                          .n = 16,
                          .k = 32,
                          .lda = 32,
                          .ldb = 16,
                          .ldc = 16,
                          .stride_a = 128,
                          .stride_b = 512,
                          .stride_c = 64,
                          .batch = 3};

TEST(GemmBytes, AreTwiceThoseOfHalfThePrecisionAndReadWhatIsAddedTo) {
  EXPECT_EQ(moved_bytes(aligned, {}), 2 * 3 * (4 * 32 + 32 * 16 + 4 * 16));
  Gemm other = aligned;
  other.precision = Precision::tf32;
  EXPECT_EQ(moved_bytes(other, {}), 2 * moved_bytes(aligned, {}));
  other = aligned;
  other.result = Precision::f32;
  EXPECT_EQ(moved_bytes(other, {}) - moved_bytes(aligned, {}), 2 * 3 * 4 * 16);
  other.beta = 1;
  EXPECT_EQ(moved_bytes(other, {}) - moved_bytes(aligned, {}), (2 + 4) * 3 * 4 * 16);
}

TEST(GemmBytes, AreWrittenWhereDLiesAndReadWhereCDoes) {
  Gemm added = aligned;
  added.beta = 1;
  // A row of 32 bytes lies in one sector, or in two.
  const std::int64_t across = 3 * 4 * 32;
  EXPECT_EQ(moved_bytes(aligned, {.d = at(272)}) - moved_bytes(aligned, {}), across);
  EXPECT_EQ(moved_bytes(added, {.d = at(272)}) - moved_bytes(added, {}), across);
  EXPECT_EQ(moved_bytes(aligned, {.c = at(272)}) - moved_bytes(aligned, {}), 0);
  EXPECT_EQ(moved_bytes(added, {.c = at(272)}) - moved_bytes(added, {}), across);
}

TEST(GemmBytes, ReadAMatrixThatAllShareOnce) {
  Gemm shared = aligned;
  shared.stride_b = 0;
  EXPECT_EQ(moved_bytes(aligned, {}) - moved_bytes(shared, {}), 2 * 2 * 32 * 16);
}

TEST(GemmBytes, AreMoreWhereRowsLieAcrossSectors) {
  Gemm odd = aligned;
  odd.lda = 33;
  EXPECT_EQ(moved_bytes(odd, {}) - moved_bytes(aligned, {}), 3 * 3 * 32)
      << "all rows but the first";
  EXPECT_EQ(moved_bytes(aligned, {.b = at(258)}) - moved_bytes(aligned, {.b = at(256)}),
            3 * 32 * 32);
}

std::int64_t one_by_one(std::uintptr_t first, int matrices, int stride, int rows, int pitch,
                        int columns, int element) {
  std::int64_t sectors = 0;
  for (int matrix = 0; matrix < matrices; ++matrix)
    for (int row = 0; row < rows; ++row) {
      std::set<std::uintptr_t> touched;
      for (int byte = 0; byte < columns * element; ++byte)
        touched.insert((first + (std::int64_t{stride} * matrix + pitch * row) * element + byte) /
                       32);
      sectors += static_cast<std::int64_t>(touched.size());
    }
  return 32 * sectors;
}

TEST(GemmBytes, AgreeWithSectorsCountedOneByOne) {
  for (const Precision precision : {Precision::bf16, Precision::f32, Precision::f64})
    for (const int pitch : {21, 22, 24, 37})
      for (const int stride : {0, 200, 223, 1000})
        for (const std::uintptr_t shift : {0, 8, 24})
          for (const bool transposed : {false, true}) {
            const int element = stored_bytes(precision), batch = 5;
            const Gemm odd = {.precision = precision,
                              .m = 7,
                              .n = 19,
                              .k = 21,
                              .transpose_a = transposed,
                              .transpose_b = transposed,
                              .lda = pitch,
                              .ldb = pitch,
                              .ldc = 19,
                              .stride_a = stride,
                              .stride_b = stride,
                              .stride_c = 140,
                              .batch = batch};
            const int matrices = stride == 0 ? 1 : batch;
            const auto sectors = [&](int rows, int columns) {
              if (transposed) std::swap(rows, columns);
              return one_by_one(256 + shift, matrices, stride, rows, pitch, columns, element);
            };
            EXPECT_EQ(
                moved_bytes(odd, {.a = at(256 + shift), .b = at(512 + shift)}),
                sectors(7, 21) + sectors(21, 19) + one_by_one(0, batch, 140, 7, 19, 19, element))
                << shown(odd) << ", pitch " << pitch << ", stride " << stride;
          }
}

}  // namespace
}  // namespace holdfast
