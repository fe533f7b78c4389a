// SPDX-License-Identifier: Apache-2.0
// Private to the optimized variant on a device: the kernels of optimized_model.hpp as typed
// callables.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clusterless_kde/model_arguments.hpp"
#include "clusterless_kde/optimized_program.hpp"
#include "runtime/error.hpp"

namespace holdfast::clusterless_kde {

constexpr std::string_view spelled(Columns columns) {
  constexpr std::string_view names[] = {"kde::at_places", "kde::at_nodes", "kde::at_stored_nodes"};
  return names[columns];
}

// Of column_sums.
inline LaunchShape column_tiles(unsigned tiles, int columns) {
  return {.grid = {tiles, blocks(columns, summed_columns)}, .block = {group_quads, summed_columns}};
}
// Of group_sums and finish.
inline LaunchShape column_lanes(int columns, int groups) {
  return {.grid = {blocks(columns, finish_columns), static_cast<unsigned>(groups)},
          .block = {finish_columns, finish_lanes}};
}

template <class T, class V>
using ColumnSumsKernel = Kernel<const Quad<T>*, const Quad<T>*, const ItemTile*, int, const T*, T,
                                int, Quad<V>*, double*>;
using GroupSumsKernel = Kernel<const double*, const int*, int, double*>;

template <class T, class V>
std::string column_sums_name(int dimensions, Columns columns) {
  return text("column_sums<", spelled<T>(), ", ", spelled<V>(), ", ", dimensions, ", ",
              spelled(columns), ">");
}
template <class T, class V>
ColumnSumsKernel<T, V> column_sums_of(const Module& module, int dimensions, Columns columns) {
  return module.kernel<const Quad<T>*, const Quad<T>*, const ItemTile*, int, const T*, T, int,
                       Quad<V>*, double*>(column_sums_name<T, V>(dimensions, columns));
}
template <class T>
std::string group_sums_name() {
  return text("group_sums<", spelled<T>(), ">");
}
template <class T>
GroupSumsKernel group_sums_of(const Module& module) {
  return module.kernel<const double*, const int*, int, double*>(group_sums_name<T>());
}

// Encoding, in one program.
template <class T, class V>
struct ModelKernels {
  ModelKernels(Compiler& compiler, int dimensions, Columns columns)
      : ModelKernels(compiler.compile(program(dimensions, columns)), dimensions, columns) {}

  static std::string finish_name(int dimensions, Columns columns) {
    const bool places = columns == at_places;
    return text("finish<", spelled<T>(), ", ", spelled<V>(), ", ", dimensions, ", ",
                spelled(places ? columns : at_nodes), ">");
  }
  static Program program(int dimensions, Columns columns) {
    std::vector<WantedKernel> entries = {
        {column_sums_name<T, V>(dimensions, columns), KernelKind::reduce},
        {finish_name(dimensions, columns), KernelKind::fused}};
    if (columns != at_places) entries.push_back({group_sums_name<T>(), KernelKind::reduce});
    return optimized_program(std::move(entries));
  }

  ColumnSumsKernel<T, V> column_sums;
  Kernel<const double*, const int*, const T*, int, int, int, T, T, double, Quad<V>*, T*, T*> finish;
  std::optional<GroupSumsKernel> group_sums = {};  // at nodes

 private:
  ModelKernels(const Module& module, int dimensions, Columns columns)
      : column_sums(column_sums_of<T, V>(module, dimensions, columns)),
        finish(module.kernel<const double*, const int*, const T*, int, int, int, T, T, double,
                             Quad<V>*, T*, T*>(finish_name(dimensions, columns))) {
    if (columns != at_places) group_sums = group_sums_of<T>(module);
  }
};

// Sums at nodes alone, in one program.
template <class T>
struct NodeSumKernels {
  explicit NodeSumKernels(Compiler& compiler) : NodeSumKernels(compiler.compile(program())) {}

  static Program program() {
    return optimized_program({{column_sums_name<T, T>(1, at_nodes), KernelKind::reduce},
                              {group_sums_name<T>(), KernelKind::reduce}});
  }

  ColumnSumsKernel<T, T> column_sums;
  GroupSumsKernel group_sums;

 private:
  explicit NodeSumKernels(const Module& module)
      : column_sums(column_sums_of<T, T>(module, 1, at_nodes)),
        group_sums(group_sums_of<T>(module)) {}
};

// Of the local likelihood.
template <class T>
std::string local_spikes_name(int features, int dimensions, bool floor) {
  return text("local_spikes<", spelled<T>(), ", ", features, ", ", dimensions, ", ",
              floor ? "true" : "false", ">");
}
template <class T>
std::string local_rows_name(int dimensions) {
  return text("local_rows<", spelled<T>(), ", ", dimensions, ">");
}

}  // namespace holdfast::clusterless_kde
