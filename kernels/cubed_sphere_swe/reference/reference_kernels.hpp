// SPDX-License-Identifier: Apache-2.0
// Private to the device reference: the kernels of reference.cu as typed callables.
#pragma once

#include "cubed_sphere_swe/problem/device_code.hpp"
#include "cubed_sphere_swe/problem/formulas.hpp"
#include "cubed_sphere_swe/sources.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/sources.hpp"

namespace holdfast::cubed_sphere_swe {

// The reference's kernels, all from one program.
template <class T>
struct Kernels {
  explicit Kernels(const Module& module)
      : project_edge(
            module.kernel<const T*, T*, int, int, int, int, int>(entry<T>("project_edge"))),
        project_corner(module.kernel<const T*, T*, int, int, int, int>(entry<T>("project_corner"))),
        multiply(module.kernel<const T*, T*, int, int>(entry<T>("multiply"))),
        contravariant(module.kernel<const T*, const T*, const T*, const T*, T*, int, int>(
            entry<T>("contravariant"))),
        mass_flux(module.kernel<const T*, const T*, T*, int, int>(entry<T>("mass_flux"))),
        height_tendency(module.kernel<const T*, T*, int, int>(entry<T>("height_tendency"))),
        contract(
            module.kernel<const T*, const T*, T*, int, int, int, int, int>(entry<T>("contract"))),
        consensus(module.kernel<const T*, const T*, const T*, const T*, const T*, const T*, T*, int,
                                int, int, int, int, int, T>(entry<T>("consensus"))),
        penalise(module.kernel<const T*, const T*, T*, int, int, int, int, T, T, int>(
            entry<T>("penalise"))),
        advance(module.kernel<const T*, const T*, T*, T, int>(entry<T>("advance"))),
        combine(
            module.kernel<const T*, const T*, const T*, const T*, T*, T, int>(entry<T>("combine"))),
        gemm(module.kernel<const T*, const T*, T*, int, int, int, int, long long, long long,
                           long long, T, T>(entry<T>("gemm"))),
        mass(module.kernel<const T*, const T*, MassHistory, int>(entry<T>("mass"))) {}

  static Program program() {
    Program all = {
        .code = sources::reference_cu,
        .headers = {runtime::sources::both_hpp, sources::formulas_hpp, sources::mass_sum_hpp},
        .definitions = {text("POINTS=", contraction_points), text("PARTS=", contraction_parts),
                        text("GEMM_TILE=", gemm_tile), text("GEMM_DEPTH=", gemm_depth),
                        text("GEMM_THREADS=", gemm_threads), text("MASS_THREADS=", mass_threads)},
        .entries = {{entry<T>("project_edge"), KernelKind::scatter},
                    {entry<T>("project_corner"), KernelKind::scatter},
                    {entry<T>("penalise"), KernelKind::scatter},
                    {entry<T>("gemm"), KernelKind::gemm},
                    {entry<T>("mass"), KernelKind::reduce}}};
    for (const auto* kernel : {"multiply", "contravariant", "mass_flux", "height_tendency",
                               "contract", "consensus", "advance", "combine"})
      all.entries.push_back(entry<T>(kernel));
    return all;
  }

  Kernel<const T*, T*, int, int, int, int, int> project_edge;
  Kernel<const T*, T*, int, int, int, int> project_corner;
  Kernel<const T*, T*, int, int> multiply;
  Kernel<const T*, const T*, const T*, const T*, T*, int, int> contravariant;
  Kernel<const T*, const T*, T*, int, int> mass_flux;
  Kernel<const T*, T*, int, int> height_tendency;
  Kernel<const T*, const T*, T*, int, int, int, int, int> contract;
  Kernel<const T*, const T*, const T*, const T*, const T*, const T*, T*, int, int, int, int, int,
         int, T>
      consensus;
  Kernel<const T*, const T*, T*, int, int, int, int, T, T, int> penalise;
  Kernel<const T*, const T*, T*, T, int> advance;
  Kernel<const T*, const T*, const T*, const T*, T*, T, int> combine;
  Kernel<const T*, const T*, T*, int, int, int, int, long long, long long, long long, T, T> gemm;
  Kernel<const T*, const T*, MassHistory, int> mass;
};

}  // namespace holdfast::cubed_sphere_swe
