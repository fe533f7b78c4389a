// SPDX-License-Identifier: Apache-2.0
// Products in registers, and the floor of a rate, compiled here for the least instruction set.
#define HOLDFAST_ISA isa_test
#include "clusterless_kde/host/product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "clusterless_kde/problem/formulas.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {
namespace {

template <class T>
class VectorFunctions : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(VectorFunctions, Precisions);

TYPED_TEST(VectorFunctions, LogOfOneIsZeroAndThatOfTheFloorIsTheFloor) {
  using T = TypeParam;
  const auto log_of = [](double x) { return log<T>(everywhere(T(x)), Integers<T>{})[0]; };
  EXPECT_EQ(log_of(1), T(0));
  EXPECT_EQ(log_of(rate_floor), T(log_rate_floor));
}

// Every element is the sum over k in order, so the result is the same for any tiling.
TYPED_TEST(VectorFunctions, ProductsInAnyTilesAreBitwiseSumsInOrder) {
  using T = TypeParam;
  constexpr int depth = 37, columns = 112;
  std::vector<T> a(product_rows * depth), b(depth * columns);
  for (std::size_t k = 0; k < a.size(); ++k)
    a[k] = static_cast<T>(std::sin(0.3 + 1.7 * static_cast<double>(k)));
  for (std::size_t k = 0; k < b.size(); ++k)
    b[k] = static_cast<T>(std::cos(0.1 + 2.3 * static_cast<double>(k)));
  for (int rows = 1; rows <= product_rows; ++rows) {
    std::vector<T> c(rows * columns, std::numeric_limits<T>::quiet_NaN());
    T* at[product_rows];
    for (int r = 0; r < rows; ++r) at[r] = c.data() + r * columns;
    constexpr int split = 20;
    multiply<T>({split, a.data(), depth, b.data(), columns, false}, rows, columns, at);
    multiply<T>({depth - split, a.data() + split, depth, b.data() + split * columns, columns, true},
                rows, columns, at);
    for (int r = 0; r < rows; ++r)
      for (int p = 0; p < columns; ++p) {
        T sum = 0;
        for (int k = 0; k < depth; ++k) sum = std::fma(a[r * depth + k], b[k * columns + p], sum);
        ASSERT_EQ(c[r * columns + p], sum) << rows << " rows, element " << r << ", " << p;
      }
  }
}

}  // namespace
}  // namespace holdfast::clusterless_kde::HOLDFAST_ISA
