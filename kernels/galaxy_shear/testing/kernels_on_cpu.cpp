// SPDX-License-Identifier: Apache-2.0
#include "galaxy_shear/testing/kernels_on_cpu.hpp"

#include <utility>

#include "galaxy_shear/device/optimized_kernels.hpp"
#include "galaxy_shear/device/scene.hpp"
#include "galaxy_shear/device/split_kernels.hpp"
#include "galaxy_shear/problem/sampling.hpp"
#include "runtime/emulation/emulation_shim.hpp"

#define THREADS holdfast::galaxy_shear::stamp_threads
namespace on_cpu_galaxy_shear {
HOLDFAST_EMULATED_SHARED(double, shared_memory);
#include "galaxy_shear/device/optimized.cu"
#include "galaxy_shear/device/psf_table.cu"
#include "galaxy_shear/device/scene.cu"
#include "galaxy_shear/device/split.cu"
}  // namespace on_cpu_galaxy_shear

namespace holdfast::galaxy_shear {
namespace {

template <class T, int n, int s, bool table>
void add_optimized(EmulatedKernels& kernels) {
  namespace on_cpu = on_cpu_galaxy_shear;
  Scene scene = {.fft = n, .image = s};
  if (table) scene.psf.kind = Psf::moffat;
  kernels.add(RenderKernel<T>(scene).render, &on_cpu::render<T, n, s, table>);
  kernels.add(RenderGradKernel<T>(scene).render_grad, &on_cpu::render_grad<T, n, s, table>);
  kernels.add(ForwardKernel<T>(scene).forward, &on_cpu::forward<T, n, s, table>);
  kernels.add(FitKernel<T>(scene).fit, &on_cpu::fit<T, n, s, table>);
}

template <class T, class Walk>
void add_walk(EmulatedKernels& kernels) {
  const Scene scene = {.fft = 16, .image = 8};
  kernels.add(WalkKernel<T, Walk>(scene).walk, &on_cpu_galaxy_shear::walk<T, 16, 8, false, Walk>);
}

template <class T, int n, int s, bool table>
void add_scene(EmulatedKernels& kernels) {
  namespace on_cpu = on_cpu_galaxy_shear;
  Scene scene = {.fft = n, .image = s};
  if (table) scene.psf.kind = Psf::moffat;
  const SceneKernels<T> listed(scene);
  kernels.add(listed.place, &on_cpu::scene_place<T, n, s, table>);
  kernels.add(listed.generate, &on_cpu::scene_generate<T, n, s, table>);
  kernels.add(listed.rows, &on_cpu::scene_rows<T, n, s, table>);
  kernels.add(listed.derive, &on_cpu::scene_derive<T, n, s, table>);
  kernels.add(listed.finish, &on_cpu::scene_finish<T>);
}

// Adds the kernels of split galaxies that a unit needs.
template <class T, int n, int s, bool table, Pass pass>
void add_split(EmulatedKernels& kernels, Unit unit) {
  namespace on_cpu = on_cpu_galaxy_shear;
  Problem problem = {.unit = unit, .scene = {.fft = n, .image = s}, .sample = pass == compares};
  if (table) problem.scene.psf.kind = Psf::moffat;
  const SplitKernels<T> listed(problem);
  kernels.add(listed.generate, &on_cpu::split_generate<T, n, s, table>);
  kernels.add(listed.rows, &on_cpu::split_rows<T, n, s, table, pass>);
  if (listed.reduce) kernels.add(*listed.reduce, &on_cpu::split_reduce<T, n, s, table>);
  if constexpr (pass != draws)
    if (listed.finish) kernels.add(*listed.finish, &on_cpu::split_finish<T, pass>);
  if (listed.begin) kernels.add(*listed.begin, &on_cpu::split_begin<T>);
}
template <class T, int n, int s, bool table>
void add_splits(EmulatedKernels& kernels) {
  add_split<T, n, s, table, draws>(kernels, Unit::render);
  add_split<T, n, s, table, weighs>(kernels, Unit::render_grad);
  add_split<T, n, s, table, compares>(kernels, Unit::forward);
  add_split<T, n, s, table, descends>(kernels, Unit::map);
}

template <int n, int s>
void add_size(EmulatedKernels& kernels) {
  add_optimized<double, n, s, false>(kernels);
  add_optimized<double, n, s, true>(kernels);
  add_optimized<float, n, s, false>(kernels);
  add_optimized<float, n, s, true>(kernels);
}

}  // namespace

std::unique_ptr<Backend> emulated(Variant variant, Emulation emulation) {
  EmulatedKernels kernels;
  if (variant == Variant::reference) {
    add_reference(kernels);
    return make_emulated_backend(std::move(kernels), emulation);
  }
  kernels.add(PsfTableKernel<double>().psf_table, &on_cpu_galaxy_shear::psf_table<double>);
  kernels.add(PsfTableKernel<float>().psf_table, &on_cpu_galaxy_shear::psf_table<float>);
  add_walk<double, Variational>(kernels);
  add_walk<double, Hamiltonian>(kernels);
  add_walk<float, Variational>(kernels);
  add_walk<float, Hamiltonian>(kernels);
  add_scene<double, 16, 15, false>(kernels);
  add_scene<double, 64, 48, false>(kernels);
  add_scene<float, 128, 31, true>(kernels);
  add_scene<double, 256, 24, false>(kernels);
  add_scene<double, 512, 15, true>(kernels);
  add_splits<float, 16, 7, true>(kernels);
  add_splits<double, 128, 48, false>(kernels);
  add_size<16, 8>(kernels);
  add_size<16, 7>(kernels);
  add_size<64, 33>(kernels);
  add_size<128, 48>(kernels);
  return make_emulated_backend(std::move(kernels), emulation);
}

}  // namespace holdfast::galaxy_shear
