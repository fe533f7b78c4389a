// SPDX-License-Identifier: Apache-2.0
// Private to the device's optimized variant: the kernels of optimized.cu as typed callables.
#pragma once

#include <string>

#include "cubed_sphere_swe/problem/device_code.hpp"
#include "cubed_sphere_swe/problem/formulas.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"
#include "cubed_sphere_swe/sources.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/sources.hpp"

namespace holdfast::cubed_sphere_swe {

// One block per tile of a panel.
inline LaunchShape tiles(int n) {
  const auto m = static_cast<std::size_t>(n) + 1;
  return {.grid = {blocks(m, tile_columns), blocks(m, tile_rows), panels},
          .block = {stage_threads}};
}
// One thread per vertex of a panel.
inline LaunchShape one_thread_per_vertex(int n) {
  constexpr unsigned columns = 32, rows = 8;
  const auto m = static_cast<std::size_t>(n) + 1;
  return {.grid = {blocks(m, columns), blocks(m, rows), panels}, .block = {columns, rows}};
}
// One thread per row of the neighbour table.
inline LaunchShape one_thread_per_border_point(int n) {
  constexpr unsigned threads = 128;
  return {.grid = {blocks(24 * (static_cast<std::size_t>(n) + 1), threads)}, .block = {threads}};
}

// All from one program: sizes, time step and step count are arguments, so that one serves them all.
template <class T>
struct OptimizedKernels {
  OptimizedKernels(const Module& module, const Options& options)
      : stage(module.kernel<const T*, const T*, T*, T*, const T*, const int*, int, Slopes<T>,
                            Slopes<T>>(specialised("stage", options))),
        loop(module.kernel<LoopStages<T>, const T*, const int*, int, int, MassHistory, unsigned*>(
            specialised("loop", options))),
        mass(module.kernel<const T*, const T*, MassHistory, int>(specialised("mass", options))),
        project(module.kernel<T*, const int*, int>(entry<T>("project"))),
        apply_operator(module.kernel<const T*, T*, int, int, int, T>(entry<T>("apply_operator"))),
        gradient(module.kernel<const T*, T*, T*, int, T>(entry<T>("gradient"))),
        contravariant(
            module.kernel<const T*, const T*, T*, T*, const T*, int>(entry<T>("contravariant"))),
        divergence(module.kernel<const T*, const T*, T*, int, T>(entry<T>("divergence"))),
        penalise(
            module.kernel<const T*, const T*, const T*, const T*, const T*, const int*, T*, int, T>(
                entry<T>("penalise"))) {}

  static Program program(const Options& options) {
    return {.code = sources::optimized_cu,
            .headers = {runtime::sources::both_hpp, sources::formulas_hpp, sources::mass_sum_hpp,
                        sources::optimized_parts_cuh, sources::optimized_stage_cuh,
                        runtime::sources::grid_barrier_cuh},
            .definitions = {text("TILE_ROWS=", tile_rows), text("TILE_COLUMNS=", tile_columns),
                            text("THREADS=", stage_threads), text("MASS_THREADS=", mass_threads)},
            .entries = {specialised("stage", options),
                        {specialised("loop", options), KernelKind::loop},
                        {specialised("mass", options), KernelKind::reduce},
                        {entry<T>("project"), KernelKind::scatter},
                        entry<T>("apply_operator"),
                        entry<T>("gradient"),
                        entry<T>("contravariant"),
                        entry<T>("divergence"),
                        {entry<T>("penalise"), KernelKind::scatter}}};
  }

  // "stage<double>", or "stage<double, on_the_fly, classical>" where an option is not the default.
  static std::string specialised(std::string_view kernel, const Options& options) {
    std::string arguments = precision_of<T> == Precision::f32 ? "float" : "double";
    const bool computed = options.metric == MetricSource::on_the_fly;
    const bool sums = options.runge_kutta == RungeKutta::classical && kernel != "mass";
    if (computed || sums) arguments += computed ? ", on_the_fly" : ", table";
    if (sums) arguments += ", classical";
    return text(kernel, "<", arguments, ">");
  }

  Kernel<const T*, const T*, T*, T*, const T*, const int*, int, Slopes<T>, Slopes<T>> stage;
  Kernel<LoopStages<T>, const T*, const int*, int, int, MassHistory, unsigned*> loop;
  Kernel<const T*, const T*, MassHistory, int> mass;
  Kernel<T*, const int*, int> project;
  Kernel<const T*, T*, int, int, int, T> apply_operator;
  Kernel<const T*, T*, T*, int, T> gradient;
  Kernel<const T*, const T*, T*, T*, const T*, int> contravariant;
  Kernel<const T*, const T*, T*, int, T> divergence;
  Kernel<const T*, const T*, const T*, const T*, const T*, const int*, T*, int, T> penalise;
};

}  // namespace holdfast::cubed_sphere_swe
