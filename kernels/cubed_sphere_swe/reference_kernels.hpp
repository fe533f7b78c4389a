// SPDX-License-Identifier: Apache-2.0
// Private to the device reference: the kernels of reference.cu as typed callables.
#pragma once

#include "cubed_sphere_swe/device_code.hpp"
#include "cubed_sphere_swe/sources.hpp"
#include "runtime/compiler.hpp"

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
        combine(module.kernel<const T*, const T*, const T*, const T*, T*, T, int>(
            entry<T>("combine"))) {}

  static Program program() {
    Program all = {
        .code = sources::reference_cu,
        .headers = {sources::formulas_hpp},
        .definitions = {text("POINTS=", contraction_points), text("PARTS=", contraction_parts)}};
    for (const auto* kernel :
         {"project_edge", "project_corner", "multiply", "contravariant", "mass_flux",
          "height_tendency", "contract", "consensus", "penalise", "advance", "combine"})
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
};

}  // namespace holdfast::cubed_sphere_swe
