// SPDX-License-Identifier: Apache-2.0
// The mass of a state on a device, and the drift of a history of masses.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cubed_sphere_swe/device/optimized_kernels.hpp"
#include "cubed_sphere_swe/problem/device_code.hpp"
#include "cubed_sphere_swe/problem/diagnostics.hpp"
#include "cubed_sphere_swe/problem/formulas.hpp"
#include "cubed_sphere_swe/problem/mass_log.hpp"
#include "cubed_sphere_swe/problem/operators.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"
#include "cubed_sphere_swe/reference/reference_kernels.hpp"
#include "cubed_sphere_swe/testing/support.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

TEST(MassLog, TellsTheLargestDriftFromTheStart) {
  EXPECT_EQ(mass_drift({2, 2.5, 1, 2.25}), 0.5);
  EXPECT_EQ(mass_drift({0, 3, -4}), 4);
  EXPECT_TRUE(std::isnan(mass_drift({1, std::nan(""), 1})));
}

// A history of two states, the second of which has drifted from the first.
class DeviceMass : public testing::Test {
 protected:
  explicit DeviceMass(int size = 13) : n(size) {}

  int n;
  std::vector<double> first = initial_state({n}, Start::random).h,
                      second = initial_state({n}, Start::face).h;
  double expected = mass_drift({mass({n}, first), mass({n}, second)});
  MetricTables tables = metric_tables(n, MetricSign::correct);

  std::vector<double> metric() const {
    std::vector<double> row;
    for (const auto* table : {&tables.jq11, &tables.jq22, &tables.jq12, &tables.inverse_j})
      row.insert(row.end(), table->begin(), table->end());
    return row;
  }
  template <class Kernel>
  double drift(Backend& backend, const Kernel& kernel, const std::vector<double>& metric) {
    return drift(backend, kernel, metric, mass_shape(*backend.device, n));
  }
  template <class Kernel>
  double drift(Backend& backend, const Kernel& kernel, const std::vector<double>& metric,
               const LaunchShape& shape) {
    const Buffer<double> a(backend, first, "h"), b(backend, second, "h"),
        row(backend, metric, "metric");
    MassLog log(backend, n, 1, shape.grid.x);
    for (const auto* h : {&a, &b}) kernel(shape, h->data(), row.data(), log.history(), n);
    log.recorded(2);
    return log.drift();
  }
};

TEST_F(DeviceMass, OfTheReferenceIsTheHostsMass) {
  const auto backend = emulated(Variant::reference);
  const Kernels<double> kernels(*backend->compiler);
  EXPECT_NEAR(drift(*backend, kernels.mass, tables.j), expected, 1e-14 * expected);
}

TEST_F(DeviceMass, OfTheOptimizedVariantIsTheHostsMass) {
  const auto backend = emulated(Variant::optimized);
  const OptimizedKernels<double> kernels(*backend->compiler, {});
  EXPECT_NEAR(drift(*backend, kernels.mass, metric()), expected, 1e-14 * expected);
}

TEST_F(DeviceMass, IsTheSameByFewerThreadsThanPoints) {
  const auto ours = emulated(Variant::optimized), theirs = emulated(Variant::reference);
  const OptimizedKernels<double> optimized(*ours->compiler, {});
  const Kernels<double> reference(*theirs->compiler);
  for (const unsigned grid : {1u, 2u}) {
    SCOPED_TRACE(grid);
    const LaunchShape shape = {.grid = {grid}, .block = {mass_threads}};
    EXPECT_NEAR(drift(*ours, optimized.mass, metric(), shape), expected, 1e-14 * expected);
    EXPECT_NEAR(drift(*theirs, reference.mass, tables.j, shape), expected, 1e-14 * expected);
  }
}

struct DeviceMassOfALargeGrid : DeviceMass {
  DeviceMassOfALargeGrid() : DeviceMass(106) {}
};

TEST_F(DeviceMassOfALargeGrid, IsTheSumOfMoreBlocksThanTheLastOneHasThreads) {
  const auto backend = emulated(Variant::reference);
  const Kernels<double> kernels(*backend->compiler);
  const LaunchShape shape = {.grid = {blocks(height_count(n), mass_threads)},
                             .block = {mass_threads}};
  ASSERT_GT(shape.grid.x, mass_threads + 1);
  EXPECT_NEAR(drift(*backend, kernels.mass, tables.j, shape), expected, 1e-14 * expected);
}

TEST(VertexWeights, OfTheFormulaAreThoseOfTheQuadrature) {
  for (const int n : {8, 13}) {
    const auto weights = vertex_weights(n);
    for (int i = 0; i <= n; ++i)
      EXPECT_DOUBLE_EQ(vertex_weight<double>(i, n) * std::acos(-1) / (2 * n), weights[i]);
  }
}

}  // namespace
}  // namespace holdfast::cubed_sphere_swe
