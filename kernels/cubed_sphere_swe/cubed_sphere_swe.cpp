// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/cubed_sphere_swe.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "cubed_sphere_swe/sphere.hpp"
#include "cubed_sphere_swe/variants.hpp"
#include "runtime/blas.hpp"
#include "runtime/error.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

// RK4 reaches 2 sqrt 2 on the imaginary axis; the largest eigenvalue of the scheme is 4.72 / dx.
constexpr double largest_cfl = 0.60;

// 69 floating-point operations per grid point and evaluation of the tendency, in the banded form.
constexpr double flops_per_point = 69;

double state_bytes(Size size) {
  return 8. * static_cast<double>(state_count(size.n));
}
double rhs_flops(Size size) {
  return flops_per_point * 6 * size.n * size.n;
}

std::unique_ptr<Computation> make(Unit unit, Backend& backend, Variant variant, Size size,
                                  const Options& options, const std::optional<State>& start) {
  validate(size, options);
  if (start) validate(size, *start);
  Problem problem = {.unit = unit,
                     .n = size.n,
                     .dt = time_step(size, options),
                     .steps = options.steps,
                     .q12 = options.q12,
                     .launch = options.launch,
                     .start = start ? *start : initial_state(size, options.start)};
  const bool reference = variant == Variant::reference;
  if (backend.device) {
#ifdef HOLDFAST_CUDA
    return reference ? make_cuda_reference(backend, std::move(problem))
                     : make_cuda_optimized(backend, std::move(problem));
#else
    throw Error(Fault::no_device, "this build has no device code; open the backend \"host\"");
#endif
  }
  if (host_limits().isa == "x86-64-v4")
    return reference ? isa_v4::make_host_reference(backend, std::move(problem))
                     : isa_v4::make_host_optimized(backend, std::move(problem));
  return reference ? isa_v3::make_host_reference(backend, std::move(problem))
                   : isa_v3::make_host_optimized(backend, std::move(problem));
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
                                       "; use a smaller dt, or allow_unstable to see it blow up"));
}

double time_step(Size size, const Options& options) {
  return options.dt > 0 ? options.dt : 1. / (3 * size.n);
}

Work rhs_work(Size size) {
  return {.flops = rhs_flops(size), .bytes = 2 * state_bytes(size)};
}

// Four tendencies; the first stage reads one state and writes one, the other three read two and
// write one.
Work rk4_step_work(Size size) {
  return {.flops = 4 * rhs_flops(size), .bytes = 11 * state_bytes(size)};
}

Work loop_work(Size size, const Options& options) {
  const Work step = rk4_step_work(size);
  return {.flops = options.steps * step.flops, .bytes = options.steps * step.bytes};
}

std::unique_ptr<Computation> make_rhs(Backend& backend, Variant variant, Size size,
                                      const Options& options, const std::optional<State>& start) {
  return make(Unit::rhs, backend, variant, size, options, start);
}

std::unique_ptr<Computation> make_rk4_step(Backend& backend, Variant variant, Size size,
                                           const Options& options,
                                           const std::optional<State>& start) {
  return make(Unit::rk4_step, backend, variant, size, options, start);
}

std::unique_ptr<Computation> make_loop(Backend& backend, Variant variant, Size size,
                                       const Options& options, const std::optional<State>& start) {
  return make(Unit::loop, backend, variant, size, options, start);
}

std::int64_t formula_peak_bytes(const Backend& backend, Variant variant, Size size) {
  const std::int64_t n = size.n, vertices = (n + 1) * (n + 1), centers = n * (n + 1);
  const std::int64_t state = 6 * (vertices + 2 * centers);
  const bool host = backend.device == nullptr;
  if (variant == Variant::reference) {
    const std::int64_t work = 6 * (4 * vertices + 5 * centers), operator_tables = 4 * centers;
    const std::int64_t metrics = (host ? 2 : 3) * vertices + 4 * centers;
    const std::int64_t lines = host ? 7 * (n + 1) + 2 * n : 0;
    return 8 * (6 * state + work + operator_tables + metrics + lines) +
           (host ? 0 : static_cast<std::int64_t>(gemm_work_area_bytes));
  }
  const std::int64_t metrics = 2 * vertices + 2 * centers;
  const std::int64_t row = (n + 24) / 8 * 8;  // n + 1 values, 8 more on either side, whole vectors
  const std::int64_t scratch = host ? host_limits().threads * 27 * row + 3 * 16 : 0;
  return 8 * (3 * state + metrics + scratch) + 192 * (n + 1);
}

}  // namespace holdfast::cubed_sphere_swe
