// SPDX-License-Identifier: Apache-2.0
// Private to the device's optimized variant: the kernels of optimized.cu, each a separate program,
// so that a fit compiles exactly one.
#pragma once

#include <string>
#include <string_view>

#include "galaxy_shear/device/sizes.hpp"
#include "galaxy_shear/problem/problem.hpp"
#include "galaxy_shear/problem/walks.hpp"
#include "galaxy_shear/sources.hpp"
#include "runtime/compile/kernel_list.hpp"
#include "runtime/sources.hpp"

namespace holdfast::galaxy_shear {

// "render<double, 128, 48, false>": sizes, type and the form of the optics are constants; the set
// of latents, batch, noise, priors and steps are arguments.
template <class T>
std::string specialised(std::string_view kernel, const Scene& scene, std::string_view more = "") {
  return text(kernel, "<", sizeof(T) == 4 ? "float" : "double", ", ", scene.fft, ", ", scene.image,
              ", ", separable(scene.psf) ? "false" : "true", more, ">");
}

inline Program stamp_program(const Scene& scene) {
  return {.code = sources::optimized_cu,
          .headers = {runtime::sources::both_hpp, sources::formulas_hpp, sources::sampling_hpp,
                      sources::walks_hpp, runtime::sources::random_hpp, sources::shared_bytes_hpp,
                      sources::transform_cuh, sources::derive_cuh, sources::rows_cuh,
                      sources::stamp_cuh},
          .definitions = {text("THREADS=", stamp_threads), text("FFT=", scene.fft),
                          text("IMAGE=", scene.image),
                          text("PSF_TABLE=", separable(scene.psf) ? 0 : 1)}};
}

struct StampKernels : KernelList {
  void build(Compiler& compiler, const Scene& scene) { compile(compiler, stamp_program(scene)); }
};

template <class T>
struct RenderKernel : StampKernels {
  explicit RenderKernel(const Scene& scene) : render(*this, specialised<T>("render", scene)) {}

  Listed<Model, const T*, const T*, const double*, T*> render;
};

template <class T>
struct RenderGradKernel : StampKernels {
  explicit RenderGradKernel(const Scene& scene)
      : render_grad(*this, specialised<T>("render_grad", scene)) {}

  Listed<Model, const T*, const T*, const double*, const T*, double*, double*> render_grad;
};

template <class T>
struct ForwardKernel : StampKernels {
  explicit ForwardKernel(const Scene& scene) : forward(*this, specialised<T>("forward", scene)) {}

  Listed<Model, const T*, const T*, const T*, FitState*, double*, int> forward;
};

template <class T>
struct FitKernel : StampKernels {
  explicit FitKernel(const Scene& scene)
      : fit(*this, specialised<T>("fit", scene), KernelKind::loop) {}

  Listed<Model, const T*, const T*, const T*, const double*, FitState*, double*, int, int> fit;
};

// Walk: a type of problem/walks.hpp.
template <class T, class Walk>
struct WalkKernel : StampKernels {
  explicit WalkKernel(const Scene& scene)
      : walk(*this,
             specialised<T>("walk", scene, text(", holdfast::galaxy_shear::", name_of(Walk()))),
             KernelKind::loop) {}
  static std::string_view name_of(Variational) { return "Variational"; }
  static std::string_view name_of(Hamiltonian) { return "Hamiltonian"; }

  Listed<Model, const T*, const T*, const T*, typename Walk::State*, double*, int> walk;
};

template <class T>
struct PsfTableKernel : KernelList {
  void build(Compiler& compiler) {
    compile(compiler, {.code = sources::psf_table_cu,
                       .headers = {runtime::sources::both_hpp, sources::optics_hpp}});
  }

  Listed<Optics, double, double, int, T*> psf_table{*this, entry<T>("psf_table")};
};

}  // namespace holdfast::galaxy_shear
