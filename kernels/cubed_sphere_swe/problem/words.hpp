// SPDX-License-Identifier: Apache-2.0
// Names of the enumerators on the axes of a case id and in the suite's options, in both directions.
#pragma once

#include "cubed_sphere_swe/problem/options.hpp"
#include "runtime/base/words.hpp"

namespace holdfast::cubed_sphere_swe {

inline constexpr Words<Start, 8> start_words = {
    "start", {"seed", "face", "edge", "vertex", "tilt", "mode1", "mode2", "random"}};
inline constexpr Words<MetricSign, 2> metric_sign_words = {"sign of Q12", {"correct", "upstream"}};
inline constexpr Words<Launch, 4> launch_words = {"launch",
                                                  {"host", "graph_step", "graph", "persistent"}};
inline constexpr Words<Diagnostics, 3> diagnostics_words = {"diagnostics",
                                                            {"none", "device", "host"}};
inline constexpr Words<RungeKutta, 2> runge_kutta_words = {"Runge-Kutta form",
                                                           {"horner", "classical"}};
inline constexpr Words<MetricSource, 2> metric_source_words = {"metric source",
                                                               {"table", "on_the_fly"}};
inline constexpr Words<GemmSource, 2> gemm_source_words = {"matrix product", {"library", "tile"}};
inline constexpr Words<Operator, 5> operator_words = {"operator",
                                                      {"dcv", "dvc", "pcv", "pvc", "adjoint"}};
inline constexpr Words<Component::Kind, 6> component_words = {
    "component", {"operator_apply", "project", "gradient", "contravariant", "divergence", "sat"}};
inline constexpr Words<Precision, 2> precision_words = {
    "dtype", {holdfast::name(Precision::f32), holdfast::name(Precision::f64)}};

}  // namespace holdfast::cubed_sphere_swe
