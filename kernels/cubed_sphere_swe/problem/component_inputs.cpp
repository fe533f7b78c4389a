// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/problem/component_inputs.hpp"

#include <cstddef>

#include "cubed_sphere_swe/problem/operators.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

// x *= table, the same table for every panel
void scale(std::vector<double>& x, const std::vector<double>& table) {
  for (std::size_t k = 0; k < x.size(); ++k) x[k] *= table[k % table.size()];
}

// J Q^ii v_i + P w
std::vector<double> flux(const std::vector<double>& jq, const std::vector<double>& v,
                         std::vector<double> u) {
  for (std::size_t k = 0; k < u.size(); ++k) u[k] += jq[k % jq.size()] * v[k];
  return u;
}

}  // namespace

ComponentInputs component_inputs(int n, MetricSign q12, const State& state) {
  const MetricTables tables = metric_tables(n, q12);
  ComponentInputs all;
  all.projected = project(n, state.h);
  std::vector<double> w2 = apply(Operator::pcv, 2, n, state.v2);
  scale(w2, tables.jq12);
  all.u1 = flux(tables.jq11, state.v1, apply(Operator::pvc, 1, n, w2));
  std::vector<double> w1 = apply(Operator::pcv, 1, n, state.v1);
  scale(w1, tables.jq12);
  all.u2 = flux(tables.jq22, state.v2, apply(Operator::pvc, 2, n, w1));
  all.divergence = apply(Operator::dcv, 1, n, all.u1);
  const std::vector<double> second = apply(Operator::dcv, 2, n, all.u2);
  for (std::size_t k = 0; k < second.size(); ++k) all.divergence[k] += second[k];
  return all;
}

}  // namespace holdfast::cubed_sphere_swe
