// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/testing/kernels_on_cpu.hpp"

#include <utility>

#include "cubed_sphere_swe/device/optimized_kernels.hpp"
#include "cubed_sphere_swe/problem/device_code.hpp"
#include "cubed_sphere_swe/problem/formulas.hpp"
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
  kernels.add(entry<T>("project_edge"), &on_cpu::project_edge<T>);
  kernels.add(entry<T>("project_corner"), &on_cpu::project_corner<T>);
  kernels.add(entry<T>("multiply"), &on_cpu::multiply<T>);
  kernels.add(entry<T>("contravariant"), &on_cpu::contravariant<T>);
  kernels.add(entry<T>("mass_flux"), &on_cpu::mass_flux<T>);
  kernels.add(entry<T>("height_tendency"), &on_cpu::height_tendency<T>);
  kernels.add(entry<T>("contract"), &on_cpu::contract<T>);
  kernels.add(entry<T>("consensus"), &on_cpu::consensus<T>);
  kernels.add(entry<T>("penalise"), &on_cpu::penalise<T>);
  kernels.add(entry<T>("advance"), &on_cpu::advance<T>);
  kernels.add(entry<T>("combine"), &on_cpu::combine<T>);
  kernels.add(entry<T>("gemm"), &on_cpu::gemm<T>);
  kernels.add(entry<T>("mass"), &on_cpu::mass<T>);
}

template <class T, on_cpu_optimized::MetricSource source, on_cpu_optimized::RungeKutta method>
void add_specialised(EmulatedKernels& kernels) {
  namespace on_cpu = on_cpu_optimized;
  const Options options = {
      .runge_kutta = method == on_cpu::horner ? RungeKutta::horner : RungeKutta::classical,
      .metric = source == on_cpu::table ? MetricSource::table : MetricSource::on_the_fly};
  const auto name = [&](const char* kernel) {
    return OptimizedKernels<T>::specialised(kernel, options);
  };
  kernels.add(name("stage"), &on_cpu::stage<T, source, method>);
  kernels.add(name("loop"), &on_cpu::loop<T, source, method>);
  kernels.add(name("mass"), &on_cpu::mass<T, source>);
}

template <class T>
void add_optimized(EmulatedKernels& kernels) {
  namespace on_cpu = on_cpu_optimized;
  add_specialised<T, on_cpu::table, on_cpu::horner>(kernels);
  add_specialised<T, on_cpu::table, on_cpu::classical>(kernels);
  add_specialised<T, on_cpu::on_the_fly, on_cpu::horner>(kernels);
  add_specialised<T, on_cpu::on_the_fly, on_cpu::classical>(kernels);
  kernels.add(entry<T>("project"), &on_cpu::project<T>);
  kernels.add(entry<T>("apply_operator"), &on_cpu::apply_operator<T>);
  kernels.add(entry<T>("gradient"), &on_cpu::gradient<T>);
  kernels.add(entry<T>("contravariant"), &on_cpu::contravariant<T>);
  kernels.add(entry<T>("divergence"), &on_cpu::divergence<T>);
  kernels.add(entry<T>("penalise"), &on_cpu::penalise<T>);
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
