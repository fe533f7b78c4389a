// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/testing/kernels_on_cpu.hpp"

#include "runtime/emulation/emulation_shim.hpp"
#include "xpcs_fit/data/noise.hpp"
#include "xpcs_fit/device/generator.hpp"
#include "xpcs_fit/device/pattern_kernels.hpp"
#include "xpcs_fit/device/spectrum_kernels.hpp"
#include "xpcs_fit/device/stream_kernels.hpp"
#include "xpcs_fit/problem/solver.hpp"
#include "xpcs_fit/reference/plain_spectrum_kernels.hpp"
#include "xpcs_fit/reference/reference_kernels.hpp"

#include "xpcs_fit/device/points.cuh"

namespace on_cpu {
#include "xpcs_fit/device/common.cu"
#include "xpcs_fit/device/generate.cu"
#include "xpcs_fit/device/pass.cu"
#include "xpcs_fit/device/patterns.cu"
#include "xpcs_fit/device/spectrum.cu"
#include "xpcs_fit/device/stream.cu"
#include "xpcs_fit/device/values.cu"
}  // namespace on_cpu

namespace on_cpu_spectrum {
#include "xpcs_fit/reference/plain_spectrum.cu"
}
namespace on_cpu_relaxing {
#include "xpcs_fit/reference/relax.cu"
}

#define TURNS 11
namespace on_cpu_turning {
#include "xpcs_fit/reference/turns.cu"
}

#define REAL double
#define ANGLES 3
#define FRAMES 19
#define LAMINAR 1
#define PER_ANGLE 0
#define POINTS 1083
namespace on_cpu_laminar {
#include "xpcs_fit/reference/reference.cu"
}
#undef POINTS
#define POINTS 361
namespace on_cpu_part {
#include "xpcs_fit/reference/reference.cu"
}
#undef ANGLES
#define ANGLES 1
namespace on_cpu_one_angle {
#include "xpcs_fit/reference/reference.cu"
}
#undef ANGLES
#define ANGLES 3
#undef POINTS
#define POINTS 1083
#undef PER_ANGLE
#define PER_ANGLE 1
namespace on_cpu_per_angle {
#include "xpcs_fit/reference/reference.cu"
}
#undef LAMINAR
#define LAMINAR 0
#undef PER_ANGLE
#define PER_ANGLE 0
namespace on_cpu_at_rest {
#include "xpcs_fit/reference/reference.cu"
}

namespace holdfast::xpcs_fit {
namespace {

template <class T, int flow>
void add_values(EmulatedKernels& kernels, const Options& options) {
  const ValueKernels<T> listed(options);
  kernels.add(listed.model_values, &on_cpu::model_values<T, flow>);
  kernels.add(listed.residuals, &on_cpu::residuals<T, flow>);
}

template <class T, int flow, int weights>
void add_pass(EmulatedKernels& kernels) {
  const Options options = {.mode = flow ? Mode::laminar : Mode::at_rest,
                           .loss = weights & 2 ? Loss::soft_l1 : Loss::linear,
                           .weights = weights & 1 ? Weights::array : Weights::unit};
  kernels.add(PassKernels<T>(options).pass, &on_cpu::pass<T, flow, weights>);
}

template <class T>
void add_forms(EmulatedKernels& kernels) {
  kernels.add(CommonKernels().prefix<T>(), &on_cpu::prefix<T>);
  add_values<T, 0>(kernels, {.mode = Mode::at_rest});
  add_values<T, 1>(kernels, {.mode = Mode::laminar});
  add_pass<T, 0, 0>(kernels);
  add_pass<T, 1, 0>(kernels);
  kernels.add(FlatPassKernels<T>({.mode = Mode::at_rest}).flat_pass, &on_cpu::flat_pass<T, 0>);
  kernels.add(FlatPassKernels<T>({.mode = Mode::laminar}).flat_pass, &on_cpu::flat_pass<T, 1>);
  kernels.add(GeneratorKernels<T>({.mode = Mode::at_rest}).generate, &on_cpu::generate<T, 0>);
  kernels.add(GeneratorKernels<T>({.mode = Mode::laminar}).generate, &on_cpu::generate<T, 1>);
}

template <int flow>
void add_patterns(EmulatedKernels& kernels) {
  const PatternKernels listed({.mode = flow ? Mode::laminar : Mode::at_rest});
  kernels.add(listed.costs, &on_cpu::costs<double, flow>);
  kernels.add(listed.flat_model, &on_cpu::flat_model<double, flow>);
}

#define ADD_REFERENCE(place)                                        \
  kernels.add(listed.rates, &place::rates);                         \
  kernels.add(listed.accumulate, &place::accumulate);               \
  kernels.add(listed.smooth_difference, &place::smooth_difference); \
  kernels.add(listed.decay, &place::decay);                         \
  kernels.add(listed.sinc_squared, &place::sinc_squared);           \
  kernels.add(listed.first_order, &place::first_order);             \
  kernels.add(listed.second_order, &place::second_order);           \
  kernels.add(*listed.residuals, &place::residuals);                \
  kernels.add(*listed.column, &place::column);                      \
  kernels.add(*listed.soft_cost, &place::soft_cost);                \
  kernels.add(*listed.soften, &place::soften)

}  // namespace

std::unique_ptr<Backend> emulated_optimized(emulation::Order order, emulation::CopyLane copies) {
  EmulatedKernels kernels;
  const CommonKernels common;
  kernels.add(common.reduce, &on_cpu::reduce);
  kernels.add(common.step, &on_cpu::step);
  kernels.add(PatternKernels({}).relax, &on_cpu::relax<double>);
  const SpectrumKernels spectrum;
  kernels.add(spectrum.weighted_power, &on_cpu::weighted_power);
  kernels.add(spectrum.total, &on_cpu::total);
  const PlainSpectrumKernels plain;
  kernels.add(plain.widen, &on_cpu_spectrum::widen);
  kernels.add(plain.squares, &on_cpu_spectrum::squares);
  kernels.add(StreamKernels().add_batch, &on_cpu::add_batch);
  add_forms<double>(kernels);
  add_forms<float>(kernels);
  add_patterns<0>(kernels);
  add_patterns<1>(kernels);
  add_pass<double, 0, 1>(kernels);
  add_pass<double, 0, 2>(kernels);
  add_pass<double, 0, 3>(kernels);
  add_pass<double, 1, 1>(kernels);
  add_pass<double, 1, 2>(kernels);
  add_pass<double, 1, 3>(kernels);
  return make_emulated_backend(kernels, {.order = order, .copies = copies});
}

std::unique_ptr<Backend> emulated_reference(const Options& options, int angles) {
  EmulatedKernels kernels;
  const ReferenceKernels<double> listed(Unit::normal_equations, {.loss = Loss::soft_l1});
  kernels.add(ReferencePatternKernels().relax, &on_cpu_relaxing::relax);
  kernels.add(TurnKernels().turns, &on_cpu_turning::turns);
  if (angles == 1) {
    ADD_REFERENCE(on_cpu_one_angle);
  } else if (options.mode == Mode::at_rest) {
    ADD_REFERENCE(on_cpu_at_rest);
  } else if (options.scaling == Scaling::per_angle) {
    ADD_REFERENCE(on_cpu_per_angle);
  } else {
    ADD_REFERENCE(on_cpu_laminar);
  }
  return make_emulated_backend(kernels);
}

std::unique_ptr<Backend> emulated_parts() {
  EmulatedKernels kernels;
  const ReferenceKernels<double> listed(Unit::normal_equations, {.loss = Loss::soft_l1});
  ADD_REFERENCE(on_cpu_part);
  return make_emulated_backend(kernels);
}

}  // namespace holdfast::xpcs_fit
