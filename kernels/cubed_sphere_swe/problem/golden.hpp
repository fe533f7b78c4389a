// SPDX-License-Identifier: Apache-2.0
// Golden values for n = 8, start `random`, dt = 1/24, from an independent prototype, paired with a
// state's values.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "cubed_sphere_swe/problem/diagnostics.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"

namespace holdfast::cubed_sphere_swe {

struct GoldenValue {
  const char* what = "";
  double value = 0, golden = 0;
  double scale = 0;  // errors are relative to this

  double error() const { return std::abs(value - golden) / scale; }
};

// Errors relative to the field's largest entry, or to a norm or sum over the field if that is
// larger.
inline GoldenValue golden_value(const char* what, double value, double golden,
                                std::span<const double> field) {
  return {what, value, golden, std::max(largest(field), std::abs(golden))};
}

// Position of a v1 point [6, 8, 9] or a v2 point [6, 9, 8].
constexpr int v1_golden_index(int panel, int i, int j) {
  return (panel * 8 + i) * 9 + j;
}
constexpr int v2_golden_index(int panel, int i, int j) {
  return (panel * 9 + i) * 8 + j;
}

inline std::vector<GoldenValue> golden_tendency(const State& t) {
  return {golden_value("norm(dh)", norm(t.h), 212.20684712496703, t.h),
          golden_value("sum(dh)", sum(t.h), 79.029681749251878, t.h),
          golden_value("dh[0,0,0]", t.h[height_index(8, 0, 0, 0)], 1.2850960405669329, t.h),
          golden_value("dh[3,2,8]", t.h[height_index(8, 3, 2, 8)], 7.2445226233424247, t.h),
          golden_value("dh[4,4,4]", t.h[height_index(8, 4, 4, 4)], -2.5478879354388209, t.h),
          golden_value("norm(dv1)", norm(t.v1), 87.352110396261011, t.v1),
          golden_value("norm(dv2)", norm(t.v2), 85.518550312357647, t.v2),
          golden_value("dv1[0,0,0]", t.v1[v1_golden_index(0, 0, 0)], 0.95987113834055848, t.v1),
          golden_value("dv1[3,4,5]", t.v1[v1_golden_index(3, 4, 5)], 4.3465454219398225, t.v1)};
}

inline std::vector<GoldenValue> golden_step(const State& s) {
  return {golden_value("norm(h)", norm(s.h), 14.173292236547905, s.h),
          golden_value("h[0,0,0]", s.h[height_index(8, 0, 0, 0)], -0.71127023537898049, s.h),
          golden_value("h[2,3,4]", s.h[height_index(8, 2, 3, 4)], 0.22242473994310058, s.h),
          golden_value("v1[1,2,3]", s.v1[v1_golden_index(1, 2, 3)], 0.58863830041436671, s.v1),
          golden_value("v2[4,5,6]", s.v2[v2_golden_index(4, 5, 6)], -0.79299091045571857, s.v2),
          {"energy", energy({8}, s), 7.3059453477159728, 7.3059453477159728}};
}

inline std::vector<GoldenValue> golden_ten_steps(const State& s) {
  return {golden_value("norm(h)", norm(s.h), 15.360266894103505, s.h),
          golden_value("norm(v1)", norm(s.v1), 12.333996895244846, s.v1),
          golden_value("norm(v2)", norm(s.v2), 12.095843332995525, s.v2),
          golden_value("h[0,0,0]", s.h[height_index(8, 0, 0, 0)], -1.8409836454625732, s.h),
          {"energy", energy({8}, s), 7.2725675444157805, 7.2725675444157805}};
}

// Values after one step() of a component; empty if none are known.
inline std::vector<GoldenValue> golden_component(const Component& part,
                                                 const std::vector<double>& result) {
  const std::size_t half = result.size() / 2;
  const std::vector<double> first(result.begin(), result.begin() + static_cast<long>(half)),
      second(result.begin() + static_cast<long>(half), result.end());
  const auto at = [&](const char* what, int panel, int i, int j, double golden) {
    return golden_value(what, result[height_index(8, panel, i, j)], golden, result);
  };
  const auto norms = [&](double golden_first, double golden_second) {
    return std::vector<GoldenValue>{
        golden_value("norm(first)", norm(first), golden_first, first),
        golden_value("norm(second)", norm(second), golden_second, second)};
  };
  std::vector<GoldenValue> all;
  switch (part.kind) {
    case Component::Kind::operator_apply:
      return {};
    case Component::Kind::project:
      return {golden_value("sum(hp)", sum(result), 6.5938016787464653, result),
              at("hp[0,0,0]", 0, 0, 0, -0.11306092794931044),
              at("hp[0,0,3]", 0, 0, 3, -0.14500880271374084),
              at("hp[1,3,8]", 1, 3, 8, -0.38179167656033686)};
    case Component::Kind::gradient:
      if (part.components == 1)
        return {golden_value("norm(dv1)", norm(result), 87.352110396261011, result)};
      all = norms(87.352110396261011, 85.518550312357647);
      all.push_back(
          golden_value("dv1[0,0,0]", first[v1_golden_index(0, 0, 0)], 0.95987113834055848, first));
      all.push_back(
          golden_value("dv1[3,4,5]", first[v1_golden_index(3, 4, 5)], 4.3465454219398225, first));
      return all;
    case Component::Kind::contravariant:
      all = norms(16.968878224763166, 17.168236305876164);
      all.push_back(
          golden_value("v^1[0,0,0]", first[v1_golden_index(0, 0, 0)], -0.47715653951607589, first));
      all.push_back(golden_value("v^2[1,8,7]", second[v2_golden_index(1, 8, 7)],
                                 -0.45012644327329865, second));
      return all;
    case Component::Kind::divergence:
      return {golden_value("norm(div)", norm(result), 248.86911255979186, result),
              {"sum(div)", sum(result), 15.659106387906107, 248.86911255979186},
              at("div[0,0,0]", 0, 0, 0, -4.9546136615282617),
              at("div[2,4,4]", 2, 4, 4, -1.2785612479128039)};
    case Component::Kind::sat:
      return {
          golden_value("norm", norm(result), 203.22540034099487, result),
          at("[0,0,0]", 0, 0, 0, -18.943886484837392), at("[0,3,8]", 0, 3, 8, 29.811418640920454),
          at("[1,5,8]", 1, 5, 8, -20.032257353334128), at("[4,8,2]", 4, 8, 2, 2.9697710430040729)};
  }
  return all;
}

}  // namespace holdfast::cubed_sphere_swe
