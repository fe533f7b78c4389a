// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/cubed_sphere_swe.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "cubed_sphere_swe/problem/stages.hpp"
#include "cubed_sphere_swe/problem/words.hpp"
#include "cubed_sphere_swe/variants.hpp"
#include "host/isa.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/gemm.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

// RK4 is stable up to 2 sqrt 2 on the imaginary axis; the scheme's largest eigenvalue is 4.72 / dx.
constexpr double largest_cfl = 0.60;

// Rejects options that this backend and variant do not support.
void validate(const Backend& backend, Variant variant, const Options& options) {
  const auto refuse = [&](std::string_view axis, std::string_view value, std::string_view instead) {
    throw Error(Fault::bad_input, text(axis, ":", value, " is unsupported on the backend '",
                                       backend.name, "' for this variant; ", instead));
  };
  if (!backend.device) {
    if (options.launch != Launch::host)
      refuse("launch", launch_words.of(options.launch), "the host has launch:host alone");
    if (options.diagnostics == Diagnostics::host)
      refuse("diag", diagnostics_words.of(options.diagnostics),
             "nothing is read back where the host computes: use diag:none or diag:device");
    if (options.metric != MetricSource::table)
      refuse("metric", metric_source_words.of(options.metric), "the host has metric:table alone");
    if (options.gemm != GemmSource::library)
      refuse("gemm", gemm_source_words.of(options.gemm), "the host has gemm:library alone");
    return;
  }
  if (variant == Variant::reference && options.launch == Launch::persistent)
    refuse("launch", launch_words.of(options.launch),
           "only the optimized variant is one kernel: use launch:host, graph_step or graph");
  if (options.diagnostics == Diagnostics::host &&
      (options.launch == Launch::graph || options.launch == Launch::persistent))
    refuse("diag", diagnostics_words.of(options.diagnostics),
           "the host can read between steps that it launches: use launch:host or graph_step");
}

void validate(Variant variant, const Component& component, const Options& options) {
  if (component.op == Operator::adjoint)
    throw Error(Fault::bad_input,
                "unknown operator 'adjoint' for a component; use dvc, dcv, pvc or pcv");
  if (component.direction != 1 && component.direction != 2)
    throw Error(Fault::bad_input, text("unknown direction ", component.direction,
                                       " of an operator; use 1 (along x1) or 2 (along x2)"));
  if (component.components != 1 && component.components != 2)
    throw Error(Fault::bad_input, text("unknown number of gradient components ",
                                       component.components, "; use 1 or 2"));
  if (component.kind == Component::Kind::sat && variant == Variant::optimized &&
      options.q12 == MetricSign::upstream)
    throw Error(Fault::bad_input,
                "the optimized penalty takes F* from identity 3, which the upstream metric does "
                "not obey; use the reference variant or the correct metric");
}

std::int64_t device_peak_bytes(Variant variant, std::int64_t n, const Options& options) {
  const std::int64_t vertices = (n + 1) * (n + 1), centers = n * (n + 1);
  const std::int64_t state = 6 * (vertices + 2 * centers);
  const std::int64_t value = options.precision == Precision::f32 ? 4 : 8;
  if (variant == Variant::reference) {
    const auto work_area = static_cast<std::int64_t>(gemm_work_area_bytes);
    return value * (6 * state + 6 * (4 * vertices + 5 * centers) + 4 * centers + 3 * vertices +
                    4 * centers) +
           (options.gemm == GemmSource::library ? work_area : 0);
  }
  const std::int64_t states = options.runge_kutta == RungeKutta::classical ? 4 : 3;
  const std::int64_t metrics =
      options.metric == MetricSource::table ? 2 * vertices + 2 * centers : 3 * n + 3;
  return value * (states * state + metrics) + 192 * (n + 1);
}

std::int64_t host_peak_bytes(Variant variant, std::int64_t n, const Options& options) {
  const std::int64_t vertices = (n + 1) * (n + 1), centers = n * (n + 1);
  const std::int64_t state = 6 * (vertices + 2 * centers);
  const std::int64_t value = options.precision == Precision::f32 ? 4 : 8;
  const int threads = host_limits().threads;
  const bool watched = options.diagnostics != Diagnostics::none;
  if (variant == Variant::reference)
    return value * (6 * state + 6 * (4 * vertices + 5 * centers) + 4 * centers + 2 * vertices +
                    4 * centers + 7 * (n + 1) + 2 * n) +
           (watched ? 8 * (vertices + std::int64_t{options.steps} * 6) : 0);
  const std::int64_t guard = 64 / value;  // guard values beyond either end of a field and of a row
  const std::int64_t row = (n + 1 + 3 * guard - 1) / guard * guard;
  const bool classical = options.runge_kutta == RungeKutta::classical;
  const std::int64_t states = classical ? 4 : 3, rows = classical ? 28 : 27;
  const int parts = 6 * host_blocks_per_panel(static_cast<int>(n), threads);
  return value *
             (states * (state + 2 * guard) + 2 * vertices + 2 * centers + threads * rows * row) +
         192 * (n + 1) + (watched ? 8 * (vertices + std::int64_t{options.steps} * parts) : 0);
}

std::unique_ptr<Computation> make(Problem problem, Backend& backend, Variant variant,
                                  const Options& options, const std::optional<State>& start) {
  const Size size = {problem.n};
  validate(size, options);
  validate(backend, variant, options);
  if (start) validate(size, *start);
  problem.dt = time_step(size, options);
  problem.options = options;
  problem.begin = [=, kind = options.start](int input) {
    State state = start ? *start : initial_state(size, kind);
    if (input == 0) return state;
    for (auto* field : {&state.h, &state.v1, &state.v2})
      for (double& value : *field) value *= 2;
    return state;
  };
  problem.start = problem.begin(0);
  const bool reference = variant == Variant::reference;
  if (backend.device) {
#ifdef HOLDFAST_CUDA
    return reference ? make_cuda_reference(backend, std::move(problem))
                     : make_cuda_optimized(backend, std::move(problem));
#else
    refuse_device_code();
#endif
  }
  using host::choose_isa;
  const auto make_host = reference
                             ? choose_isa(isa_v3::make_host_reference, isa_v4::make_host_reference)
                             : choose_isa(isa_v3::make_host_optimized, isa_v4::make_host_optimized);
  return make_host(backend, std::move(problem));
}

}  // namespace

void validate(Size size, const Options& options) {
  const int n = size.n;
  if (n < 8)
    throw Error(Fault::bad_input,
                text("n must be >= 8, ", n, " given: the boundary closures overlap"));
  if (n > 8192)
    throw Error(Fault::bad_input, text("n too large: ", n, " given, 8192 is the largest"));
  if (!std::isfinite(options.dt) || options.dt < 0)
    throw Error(Fault::bad_input,
                text("dt must be positive, ", options.dt, " given; 0 asks for 1 / (3 n)"));
  if (options.steps < 0)
    throw Error(Fault::bad_input, text("nsteps must be >= 0, ", options.steps, " given"));
  const double cfl = time_step(size, options) * 2 * n / std::numbers::pi;
  if (cfl > largest_cfl && !options.allow_unstable)
    throw Error(Fault::bad_input, text("dt = ", options.dt, " at n = ", n, " makes the CFL number ",
                                       cfl, ", which exceeds the RK4 stability limit ", largest_cfl,
                                       "; use a smaller dt or a coarser grid"));
}

double time_step(Size size, const Options& options) {
  return options.dt > 0 ? options.dt : 1. / (3 * size.n);
}

std::unique_ptr<Computation> make_rhs(Backend& backend, Variant variant, Size size,
                                      const Options& options, const std::optional<State>& start) {
  return make({.unit = Unit::rhs, .n = size.n}, backend, variant, options, start);
}

std::unique_ptr<Computation> make_rk4_step(Backend& backend, Variant variant, Size size,
                                           const Options& options,
                                           const std::optional<State>& start) {
  return make({.unit = Unit::rk4_step, .n = size.n}, backend, variant, options, start);
}

std::unique_ptr<Computation> make_loop(Backend& backend, Variant variant, Size size,
                                       const Options& options, const std::optional<State>& start) {
  return make({.unit = Unit::loop, .n = size.n}, backend, variant, options, start);
}

std::unique_ptr<Computation> make_component(Backend& backend, Variant variant, Size size,
                                            const Component& component, const Options& options,
                                            const std::optional<State>& start) {
  validate(variant, component, options);
  return make({.unit = Unit::component, .n = size.n, .component = component}, backend, variant,
              options, start);
}

std::int64_t formula_peak_bytes(const Backend& backend, Variant variant, Size size,
                                const Options& options) {
  return backend.device ? device_peak_bytes(variant, size.n, options)
                        : host_peak_bytes(variant, size.n, options);
}

}  // namespace holdfast::cubed_sphere_swe
