// SPDX-License-Identifier: Apache-2.0
// Private to the device's optimized variant: the kernels of optimized.cu as a list.
#pragma once

#include <string>
#include <string_view>

#include "cubed_sphere_swe/problem/device_code.hpp"
#include "cubed_sphere_swe/problem/formulas.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"
#include "cubed_sphere_swe/sources.hpp"
#include "runtime/compile/kernel_list.hpp"
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

// One program for all: sizes, time step and step count are arguments.
template <class T>
struct OptimizedKernels : KernelList {
  explicit OptimizedKernels(const Options& options) : options_(options) {}
  OptimizedKernels(Compiler& compiler, const Options& options) : OptimizedKernels(options) {
    compile(
        compiler,
        {.code = sources::optimized_cu,
         .headers = {runtime::sources::both_hpp, sources::formulas_hpp, sources::mass_sum_hpp,
                     sources::optimized_parts_cuh, sources::optimized_stage_cuh,
                     runtime::sources::grid_barrier_cuh},
         .definitions = {text("TILE_ROWS=", tile_rows), text("TILE_COLUMNS=", tile_columns),
                         text("THREADS=", stage_threads), text("MASS_THREADS=", mass_threads)}});
  }

 private:
  // "stage<double>", or "stage<double, on_the_fly, classical>" if an option is not the default.
  std::string specialised(std::string_view kernel) const {
    std::string arguments = precision_of<T> == Precision::f32 ? "float" : "double";
    const bool computed = options_.metric == MetricSource::on_the_fly;
    const bool sums = options_.runge_kutta == RungeKutta::classical && kernel != "mass";
    if (computed || sums) arguments += computed ? ", on_the_fly" : ", table";
    if (sums) arguments += ", classical";
    return text(kernel, "<", arguments, ">");
  }

  Options options_;  // declared before the kernels, whose names use it

 public:
  Listed<const T*, const T*, T*, T*, const T*, const int*, int, Slopes<T>, Slopes<T>> stage{
      *this, specialised("stage")};
  Listed<LoopStages<T>, const T*, const int*, int, int, MassHistory, unsigned*> loop{
      *this, specialised("loop"), KernelKind::loop};
  Listed<const T*, const T*, MassHistory, int> mass{*this, specialised("mass"), KernelKind::reduce};
  Listed<T*, const int*, int> project{*this, entry<T>("project"), KernelKind::scatter};
  Listed<const T*, T*, int, int, int, T> apply_operator{*this, entry<T>("apply_operator")};
  Listed<const T*, T*, T*, int, T> gradient{*this, entry<T>("gradient")};
  Listed<const T*, const T*, T*, T*, const T*, int> contravariant{*this, entry<T>("contravariant")};
  Listed<const T*, const T*, T*, int, T> divergence{*this, entry<T>("divergence")};
  Listed<const T*, const T*, const T*, const T*, const T*, const int*, T*, int, T> penalise{
      *this, entry<T>("penalise"), KernelKind::scatter};
};

}  // namespace holdfast::cubed_sphere_swe
