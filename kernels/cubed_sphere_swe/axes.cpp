// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/axes.hpp"

#include <array>
#include <span>
#include <string>

#include "runtime/error.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

// In the order of the enumerators, from 0 on.
constexpr std::array<std::string_view, 8> starts = {"seed", "face",  "edge",  "vertex",
                                                    "tilt", "mode1", "mode2", "random"};
constexpr std::array<std::string_view, 2> signs = {"correct", "upstream"};
constexpr std::array<std::string_view, 4> launches = {"host", "graph_step", "graph", "persistent"};
constexpr std::array<std::string_view, 3> diagnostic_modes = {"none", "device", "host"};
constexpr std::array<std::string_view, 2> runge_kuttas = {"horner", "classical"};
constexpr std::array<std::string_view, 2> metric_sources = {"table", "on_the_fly"};
constexpr std::array<std::string_view, 2> gemm_sources = {"library", "tile"};
constexpr std::array<std::string_view, 5> operator_names = {"dcv", "dvc", "pcv", "pvc", "adjoint"};
constexpr std::array precisions = {holdfast::name(Precision::f32), holdfast::name(Precision::f64)};
constexpr std::array<std::string_view, 6> kinds = {"operator_apply", "project",    "gradient",
                                                   "contravariant",  "divergence", "sat"};

template <class Enum>
std::string_view name_in(std::span<const std::string_view> names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

template <class Enum>
Enum value_in(std::span<const std::string_view> names, std::string_view axis,
              std::string_view wanted) {
  for (std::size_t k = 0; k < names.size(); ++k)
    if (names[k] == wanted) return static_cast<Enum>(k);
  std::string list;
  for (const std::string_view name : names) list += text(list.empty() ? "" : ", ", name);
  throw Error(Fault::bad_input, text("unknown ", axis, " '", wanted, "'; use one of ", list));
}

}  // namespace

std::string_view name(Start value) {
  return name_in(starts, value);
}
std::string_view name(MetricSign value) {
  return name_in(signs, value);
}
std::string_view name(Launch value) {
  return name_in(launches, value);
}
std::string_view name(Diagnostics value) {
  return name_in(diagnostic_modes, value);
}
std::string_view name(RungeKutta value) {
  return name_in(runge_kuttas, value);
}
std::string_view name(MetricSource value) {
  return name_in(metric_sources, value);
}
std::string_view name(GemmSource value) {
  return name_in(gemm_sources, value);
}
std::string_view name(Operator value) {
  return name_in(operator_names, value);
}
std::string_view name(Component::Kind value) {
  return name_in(kinds, value);
}

Start start(std::string_view name) {
  return value_in<Start>(starts, "start", name);
}
MetricSign metric_sign(std::string_view name) {
  return value_in<MetricSign>(signs, "sign of Q12", name);
}
Launch launch(std::string_view name) {
  return value_in<Launch>(launches, "launch", name);
}
Diagnostics diagnostics(std::string_view name) {
  return value_in<Diagnostics>(diagnostic_modes, "diagnostics", name);
}
RungeKutta runge_kutta(std::string_view name) {
  return value_in<RungeKutta>(runge_kuttas, "Runge-Kutta form", name);
}
MetricSource metric_source(std::string_view name) {
  return value_in<MetricSource>(metric_sources, "metric source", name);
}
GemmSource gemm_source(std::string_view name) {
  return value_in<GemmSource>(gemm_sources, "matrix product", name);
}
Operator operator_of(std::string_view name) {
  return value_in<Operator>(operator_names, "operator", name);
}
Precision precision(std::string_view name) {
  return value_in<Precision>(precisions, "dtype", name);
}
Component::Kind component_kind(std::string_view name) {
  return value_in<Component::Kind>(kinds, "component", name);
}

}  // namespace holdfast::cubed_sphere_swe
