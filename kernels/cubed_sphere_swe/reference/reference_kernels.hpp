// SPDX-License-Identifier: Apache-2.0
// Private to the device reference: the kernels of reference.cu as a list.
#pragma once

#include "cubed_sphere_swe/problem/device_code.hpp"
#include "cubed_sphere_swe/problem/formulas.hpp"
#include "cubed_sphere_swe/sources.hpp"
#include "runtime/compile/kernel_list.hpp"
#include "runtime/sources.hpp"

namespace holdfast::cubed_sphere_swe {

// The reference's kernels, all from one program.
template <class T>
struct Kernels : KernelList {
  Kernels() = default;
  explicit Kernels(Compiler& compiler) {
    compile(compiler,
            {.code = sources::reference_cu,
             .headers = {runtime::sources::both_hpp, sources::formulas_hpp, sources::mass_sum_hpp},
             .definitions = {text("POINTS=", contraction_points), text("PARTS=", contraction_parts),
                             text("GEMM_TILE=", gemm_tile), text("GEMM_DEPTH=", gemm_depth),
                             text("GEMM_THREADS=", gemm_threads),
                             text("MASS_THREADS=", mass_threads)}});
  }

  Listed<const T*, T*, int, int, int, int, int> project_edge{*this, entry<T>("project_edge"),
                                                             KernelKind::scatter};
  Listed<const T*, T*, int, int, int, int> project_corner{*this, entry<T>("project_corner"),
                                                          KernelKind::scatter};
  Listed<const T*, const T*, T*, int, int, int, int, T, T, int> penalise{
      *this, entry<T>("penalise"), KernelKind::scatter};
  Listed<const T*, const T*, T*, int, int, int, int, long long, long long, long long, T, T> gemm{
      *this, entry<T>("gemm"), KernelKind::gemm};
  Listed<const T*, const T*, MassHistory, int> mass{*this, entry<T>("mass"), KernelKind::reduce};
  Listed<const T*, T*, int, int> multiply{*this, entry<T>("multiply")};
  Listed<const T*, const T*, const T*, const T*, T*, int, int> contravariant{
      *this, entry<T>("contravariant")};
  Listed<const T*, const T*, T*, int, int> mass_flux{*this, entry<T>("mass_flux")};
  Listed<const T*, T*, int, int> height_tendency{*this, entry<T>("height_tendency")};
  Listed<const T*, const T*, T*, int, int, int, int, int> contract{*this, entry<T>("contract")};
  Listed<const T*, const T*, const T*, const T*, const T*, const T*, T*, int, int, int, int, int,
         int, T>
      consensus{*this, entry<T>("consensus")};
  Listed<const T*, const T*, T*, T, int> advance{*this, entry<T>("advance")};
  Listed<const T*, const T*, const T*, const T*, T*, T, int> combine{*this, entry<T>("combine")};
};

}  // namespace holdfast::cubed_sphere_swe
