// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/row.hpp"

#include <algorithm>

#include "cubed_sphere_swe/problem/words.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

const std::string suite_name = "cubed_sphere_swe/";

std::string_view unit_name(Family family) {
  return family == Family::rhs ? "rhs" : family == Family::loop ? "loop" : "step";
}

// Stages of rk4_step, in its id; the default ones go without saying.
std::string stages(const Options& options) {
  std::string all;
  if (options.runge_kutta == RungeKutta::classical) all += "/classical";
  if (options.metric == MetricSource::on_the_fly) all += "/on_the_fly";
  return all;
}

std::vector<Axis> component_axes(const Component& component) {
  if (component.kind == Component::Kind::operator_apply)
    return {{"op", operator_words.of(component.op)}, {"dir", component.direction}};
  if (component.kind == Component::Kind::gradient)
    return {{"comp", component.components == 1 ? "1" : "both"}};
  return {};
}

}  // namespace

std::string id_of(const Row& row) {
  const std::string_view dtype = holdfast::name(row.options.precision);
  std::vector<Axis> axes = {{"n", row.n}};
  switch (row.family) {
    case Family::rhs:
      return id(suite_name + "rhs", axes, dtype);
    case Family::rk4_step:
      return id(suite_name + "rk4_step" + stages(row.options), axes, dtype);
    case Family::loop:
      axes.insert(axes.end(), {{"steps", row.options.steps},
                               {"launch", launch_words.of(row.options.launch)},
                               {"diag", diagnostics_words.of(row.options.diagnostics)}});
      return id(suite_name + "loop", axes, dtype);
    case Family::component:
      for (const Axis& axis : component_axes(row.component)) axes.push_back(axis);
      return id(suite_name + std::string(component_words.of(row.component.kind)), axes, dtype);
    case Family::compile:
      return id(suite_name + "compile", {{"unit", unit_name(row.compiled)}}, dtype);
    case Family::memory:
      return id(suite_name + "memory", axes, dtype);
    case Family::setup:
      return id(suite_name + "setup", axes, dtype);
  }
  return {};
}

// The host has neither graphs nor a compiler, and of large grids only what tells how fast it is.
std::vector<std::string> devices_of(const Row& row) {
  const Options& options = row.options;
  const bool device_only = row.family == Family::compile || options.launch != Launch::host ||
                           options.diagnostics == Diagnostics::host ||
                           options.metric == MetricSource::on_the_fly ||
                           options.gemm == GemmSource::tile;
  const bool told = row.family == Family::rhs || row.family == Family::rk4_step;
  const bool too_large = row.n > large_n || (row.n == large_n && !told);
  std::vector<std::string> devices = {"host", "cuda", "cuda-dry"};
  if (device_only || (too_large && !row.large)) devices.erase(devices.begin());
  if (!row.only.empty())
    std::erase_if(devices, [&](const std::string& device) {
      return std::find(row.only.begin(), row.only.end(), device) == row.only.end();
    });
  return devices;
}

// A loop of the reference is its rk4_step, over and over, but for graph_step, which tells fewer
// launches from a better algorithm. Forms of the optimized variant are put beside its default form.
bool has_reference(const Row& row) {
  switch (row.family) {
    case Family::rhs:
    case Family::component:
    case Family::memory:
      return true;
    case Family::rk4_step:
      return stages(row.options).empty();
    case Family::loop:
      return row.options.launch == Launch::graph_step;
    case Family::compile:
    case Family::setup:
      return false;
  }
  return false;
}

std::vector<std::string> unreferenced(const Row& row) {
  const auto devices = devices_of(row);
  const bool on_host = std::find(devices.begin(), devices.end(), "host") != devices.end();
  if (row.n < large_n || row.large || !on_host) return {};
  return {"host"};
}

std::unique_ptr<Computation> make(const Row& row, Backend& backend, Variant variant) {
  const Size size = {row.n};
  if (row.family == Family::rhs) return make_rhs(backend, variant, size, row.options, {});
  if (row.family == Family::loop) return make_loop(backend, variant, size, row.options, {});
  if (row.family == Family::component)
    return make_component(backend, variant, size, row.component, row.options, {});
  return make_rk4_step(backend, variant, size, row.options, {});
}

}  // namespace holdfast::cubed_sphere_swe
