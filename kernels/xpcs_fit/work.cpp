// SPDX-License-Identifier: Apache-2.0
// The minimum work of a step, and the memory it holds, from the sizes alone.
#include <algorithm>

#include "runtime/backend/host_limits.hpp"
#include "runtime/base/gemm.hpp"
#include "xpcs_fit/device/arguments.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/problem/strategy.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit {
namespace {

// Multiply-adds per point and per pair of frames; an exponential counts as 16, a sine as 15.
struct MultiplyAdds {
  double point = 0, pair = 0;
};

MultiplyAdds of_values(bool laminar, bool residual) {
  if (laminar) return {residual ? 26. : 24., 46};
  return {residual ? 2. : 1., 25};
}
MultiplyAdds of_pass(bool laminar, bool per_angle) {
  if (!laminar) return {per_angle ? 33. : 3., 65};
  return {per_angle ? 100. : 52., per_angle ? 46. : 133.};
}

// The published numbers of passes until convergence; more points or other noise may take one more.
constexpr int converging_passes(bool laminar) {
  return laminar ? 6 : 5;
}

// The sizes in the formulas of memory.
struct Held {
  std::int64_t n = 0, plane = 0, frames = 0, angles = 0, p = 0, real = 8;
  std::int64_t partial = 0;  // bytes of partial sums
  std::int64_t pairs = 0;    // bytes of the values that pairs of frames share at all angles
  bool laminar = true, weighted = false, soft = false, on_device = false;
};

// Data and values per point; values per frame and angle are below a percent of them from size s on.
std::int64_t optimized_bytes(Unit unit, const Held& held) {
  std::int64_t arrays = unit == Unit::residual ? 2 : 1;
  if (held.weighted) ++arrays;
  return held.real * (arrays * held.n + 8 * held.frames + 5 * held.angles) +
         (held.on_device ? 64 * held.frames : 0) + held.partial + held.pairs;
}

// Data, g1, model, residual, Jacobian and planes, and the library's work area.
std::int64_t reference_bytes(Unit unit, const Held& held) {
  std::int64_t arrays = unit == Unit::g2 ? 2 : 4;
  if (has_derivatives(unit)) arrays += held.p + (held.soft && held.on_device ? 1 : 0);
  if (held.weighted) ++arrays;
  const bool uses_library = held.on_device && unit != Unit::g2;
  return held.real * (arrays * held.n + (held.laminar ? 2 : 1) * held.plane) +
         (uses_library ? static_cast<std::int64_t>(gemm_work_area_bytes) : 0);
}

// The blocks of a pass, on a device as device/pass.hpp launches them.
std::int64_t pass_blocks(const Backend& backend, const Size& size, int groups) {
  if (!backend.device) return block_count(size.frames);
  const std::int64_t each = groups == 1 ? 2 : std::max(1, 8 / groups);
  const std::int64_t most = each * backend.device->architecture().multiprocessors;
  return std::clamp<std::int64_t>((size.plane() + pair_threads - 1) / pair_threads, 1, most);
}

// The pairs held by the threads of host_optimized.cpp: per thread a block of a 32nd of the rows,
// three vectors for each vector of its pairs.
std::int64_t pair_bytes(const Size& size, const Options& options) {
  const std::int64_t vector = host_limits().isa == "x86-64-v4" ? 64 : 32,
                     lanes = vector / (options.precision == Precision::f32 ? 4 : 8);
  return host_threads(options, size.points()) * 3 * vector * ((size.frames + 31) / 32) *
         (size.frames / lanes + 2);
}

}  // namespace

Work work(Unit unit, const Size& size, const Options& options) {
  const bool laminar = options.mode == Mode::laminar;
  const auto n = static_cast<double>(size.points()), pairs = static_cast<double>(size.plane());
  const MultiplyAdds of = has_derivatives(unit)
                              ? of_pass(laminar, options.scaling == Scaling::per_angle)
                              : of_values(laminar, unit == Unit::residual);
  const double real = options.precision == Precision::f32 ? 4 : 8;
  double arrays = unit == Unit::residual ? 2 : 1;
  if (options.weights == Weights::array && has_derivatives(unit)) ++arrays;
  const double passes = unit == Unit::converged_fit ? converging_passes(laminar)
                        : unit == Unit::fit         ? accounted_passes
                                                    : 1;
  return {.flops = passes * 2 * (of.point * n + of.pair * pairs),
          .bytes = passes * real * arrays * n,
          .phases = passes * (unit == Unit::g2 ? 2.
                              : is_fit(unit)   ? 4.
                                               : 3.),
          .precision = options.precision};
}

std::int64_t estimate_bytes(Unit unit, const Backend& backend, Variant variant, const Size& size,
                            const Options& options) {
  Held held = {.n = size.points(),
               .plane = size.plane(),
               .frames = size.frames,
               .angles = size.angles,
               .p = parameter_count(options, size.angles),
               .real = options.precision == Precision::f32 ? 4 : 8,
               .laminar = options.mode == Mode::laminar,
               .weighted = options.weights == Weights::array && has_derivatives(unit),
               .soft = options.loss == Loss::soft_l1,
               .on_device = backend.device != nullptr};
  if (has_derivatives(unit)) {
    const int groups = group_count(options, size.angles);
    const std::int64_t count = sum_count(local_parameters(options.mode));
    held.partial = 8 * count * groups * pass_blocks(backend, size, groups);
  }
  if (!backend.device && !has_derivatives(unit)) held.pairs = pair_bytes(size, options);
  return variant == Variant::reference ? reference_bytes(unit, held) : optimized_bytes(unit, held);
}

}  // namespace holdfast::xpcs_fit
