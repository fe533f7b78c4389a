// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/testing/kernels_on_cpu.hpp"

#include <utility>

#include "cubed_sphere_swe/device/optimized_kernels.hpp"
#include "cubed_sphere_swe/problem/device_code.hpp"
#include "cubed_sphere_swe/problem/formulas.hpp"
#include "cubed_sphere_swe/reference/reference_kernels.hpp"
#include "runtime/emulation/emulation_shim.hpp"

// What a thread keeps from one phase for the next it writes and reads for the same points; behind
// opaque() the compiler cannot know.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include "runtime/device_code/grid_barrier.cuh"
#define MASS_THREADS holdfast::cubed_sphere_swe::mass_threads
#include "cubed_sphere_swe/problem/mass_sum.hpp"

#define TILE_ROWS holdfast::cubed_sphere_swe::tile_rows
#define TILE_COLUMNS holdfast::cubed_sphere_swe::tile_columns
#define THREADS holdfast::cubed_sphere_swe::stage_threads
namespace on_cpu_optimized {
#include "cubed_sphere_swe/device/optimized.cu"
}
#define POINTS holdfast::cubed_sphere_swe::contraction_points
#define PARTS holdfast::cubed_sphere_swe::contraction_parts
#define GEMM_TILE holdfast::cubed_sphere_swe::gemm_tile
#define GEMM_DEPTH holdfast::cubed_sphere_swe::gemm_depth
#define GEMM_THREADS holdfast::cubed_sphere_swe::gemm_threads
namespace on_cpu_reference {
#include "cubed_sphere_swe/reference/reference.cu"
}

namespace holdfast::cubed_sphere_swe {
namespace {

template <class T>
void add_reference(EmulatedKernels& kernels) {
  namespace on_cpu = on_cpu_reference;
  const Kernels<T> listed;
  kernels.add(listed.project_edge, &on_cpu::project_edge<T>);
  kernels.add(listed.project_corner, &on_cpu::project_corner<T>);
  kernels.add(listed.multiply, &on_cpu::multiply<T>);
  kernels.add(listed.contravariant, &on_cpu::contravariant<T>);
  kernels.add(listed.mass_flux, &on_cpu::mass_flux<T>);
  kernels.add(listed.height_tendency, &on_cpu::height_tendency<T>);
  kernels.add(listed.contract, &on_cpu::contract<T>);
  kernels.add(listed.consensus, &on_cpu::consensus<T>);
  kernels.add(listed.penalise, &on_cpu::penalise<T>);
  kernels.add(listed.advance, &on_cpu::advance<T>);
  kernels.add(listed.combine, &on_cpu::combine<T>);
  kernels.add(listed.gemm, &on_cpu::gemm<T>);
  kernels.add(listed.mass, &on_cpu::mass<T>);
}

// All kernels of one program, for one set of options.
template <class T, on_cpu_optimized::MetricSource source, on_cpu_optimized::RungeKutta method>
void add_program(EmulatedKernels& kernels) {
  namespace on_cpu = on_cpu_optimized;
  const OptimizedKernels<T> listed(
      {.runge_kutta = method == on_cpu::horner ? RungeKutta::horner : RungeKutta::classical,
       .metric = source == on_cpu::table ? MetricSource::table : MetricSource::on_the_fly});
  kernels.add(listed.stage, &on_cpu::stage<T, source, method>);
  kernels.add(listed.loop, &on_cpu::loop<T, source, method>);
  kernels.add(listed.mass, &on_cpu::mass<T, source>);
  kernels.add(listed.project, &on_cpu::project<T>);
  kernels.add(listed.apply_operator, &on_cpu::apply_operator<T>);
  kernels.add(listed.gradient, &on_cpu::gradient<T>);
  kernels.add(listed.contravariant, &on_cpu::contravariant<T>);
  kernels.add(listed.divergence, &on_cpu::divergence<T>);
  kernels.add(listed.penalise, &on_cpu::penalise<T>);
}

template <class T>
void add_optimized(EmulatedKernels& kernels) {
  namespace on_cpu = on_cpu_optimized;
  add_program<T, on_cpu::table, on_cpu::horner>(kernels);
  add_program<T, on_cpu::table, on_cpu::classical>(kernels);
  add_program<T, on_cpu::on_the_fly, on_cpu::horner>(kernels);
  add_program<T, on_cpu::on_the_fly, on_cpu::classical>(kernels);
}

}  // namespace

std::unique_ptr<Backend> emulated(Variant variant, Emulation emulation) {
  EmulatedKernels kernels;
  if (variant == Variant::reference) {
    add_reference<double>(kernels);
    add_reference<float>(kernels);
  } else {
    add_optimized<double>(kernels);
    add_optimized<float>(kernels);
  }
  return make_emulated_backend(std::move(kernels), emulation);
}

}  // namespace holdfast::cubed_sphere_swe
