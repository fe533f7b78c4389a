// SPDX-License-Identifier: Apache-2.0
#include "galaxy_shear/testing/kernels_on_cpu.hpp"

#include <utility>

#include "galaxy_shear/device/optimized_kernels.hpp"
#include "galaxy_shear/problem/sampling.hpp"
#include "runtime/emulation/emulation_shim.hpp"

#define THREADS holdfast::galaxy_shear::stamp_threads
namespace on_cpu_galaxy_shear {
HOLDFAST_EMULATED_SHARED(double, shared_memory);
#include "galaxy_shear/device/optimized.cu"
#include "galaxy_shear/device/psf_table.cu"
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
  add_size<16, 8>(kernels);
  add_size<16, 7>(kernels);
  add_size<64, 33>(kernels);
  add_size<128, 48>(kernels);
  return make_emulated_backend(std::move(kernels), emulation);
}

}  // namespace holdfast::galaxy_shear
