// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/axes.hpp"

#include "runtime/words.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

constexpr Words<Start, 8> starts = {
    "start", {"seed", "face", "edge", "vertex", "tilt", "mode1", "mode2", "random"}};
constexpr Words<MetricSign, 2> signs = {"sign of Q12", {"correct", "upstream"}};
constexpr Words<Launch, 4> launches = {"launch", {"host", "graph_step", "graph", "persistent"}};
constexpr Words<Diagnostics, 3> diagnostic_modes = {"diagnostics", {"none", "device", "host"}};
constexpr Words<RungeKutta, 2> runge_kuttas = {"Runge-Kutta form", {"horner", "classical"}};
constexpr Words<MetricSource, 2> metric_sources = {"metric source", {"table", "on_the_fly"}};
constexpr Words<GemmSource, 2> gemm_sources = {"matrix product", {"library", "tile"}};
constexpr Words<Operator, 5> operator_words = {"operator", {"dcv", "dvc", "pcv", "pvc", "adjoint"}};
constexpr Words<Component::Kind, 6> kinds = {
    "component", {"operator_apply", "project", "gradient", "contravariant", "divergence", "sat"}};
constexpr Words<Precision, 2> precisions = {
    "dtype", {holdfast::name(Precision::f32), holdfast::name(Precision::f64)}};

}  // namespace

std::string_view name(Start value) {
  return starts.of(value);
}
std::string_view name(MetricSign value) {
  return signs.of(value);
}
std::string_view name(Launch value) {
  return launches.of(value);
}
std::string_view name(Diagnostics value) {
  return diagnostic_modes.of(value);
}
std::string_view name(RungeKutta value) {
  return runge_kuttas.of(value);
}
std::string_view name(MetricSource value) {
  return metric_sources.of(value);
}
std::string_view name(GemmSource value) {
  return gemm_sources.of(value);
}
std::string_view name(Operator value) {
  return operator_words.of(value);
}
std::string_view name(Component::Kind value) {
  return kinds.of(value);
}

Start start(std::string_view name) {
  return starts.read(name);
}
MetricSign metric_sign(std::string_view name) {
  return signs.read(name);
}
Launch launch(std::string_view name) {
  return launches.read(name);
}
Diagnostics diagnostics(std::string_view name) {
  return diagnostic_modes.read(name);
}
RungeKutta runge_kutta(std::string_view name) {
  return runge_kuttas.read(name);
}
MetricSource metric_source(std::string_view name) {
  return metric_sources.read(name);
}
GemmSource gemm_source(std::string_view name) {
  return gemm_sources.read(name);
}
Operator operator_of(std::string_view name) {
  return operator_words.read(name);
}
Precision precision(std::string_view name) {
  return precisions.read(name);
}
Component::Kind component_kind(std::string_view name) {
  return kinds.read(name);
}

}  // namespace holdfast::cubed_sphere_swe
