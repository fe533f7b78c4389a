// SPDX-License-Identifier: Apache-2.0
// Private to the optimized variant on a device: the kernels of optimized.cu as lists, one per
// program. All are templates, so that each program compiles only what it names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "clusterless_kde/device/arguments.hpp"
#include "clusterless_kde/device/decode_tiling.hpp"
#include "clusterless_kde/device/model_arguments.hpp"
#include "clusterless_kde/device/values.hpp"
#include "clusterless_kde/problem/options.hpp"
#include "clusterless_kde/sources.hpp"
#include "runtime/compile/kernel_list.hpp"
#include "runtime/sources.hpp"

namespace holdfast::clusterless_kde {

// The program shared by all lists, without entries.
inline Program optimized_program() {
  return {
      .code = sources::optimized_cu,
      .headers = {runtime::sources::both_hpp, sources::formulas_hpp, sources::values_hpp,
                  sources::value_quads_cuh, sources::arguments_hpp, sources::model_arguments_hpp,
                  sources::encode_cuh, sources::local_cuh, sources::marks_cuh, sources::places_cuh,
                  sources::warp_product_cuh, runtime::sources::tensor_core_cuh}};
}

// Types and values as spelled in device code.
template <class V>
constexpr std::string_view spelled() {
  if constexpr (std::is_same_v<V, SplitBf16>) return "kde::SplitBf16";
  if constexpr (std::is_same_v<V, Tf32>) return "kde::Tf32";
  if constexpr (std::is_same_v<V, float>) return "float";
  return "double";
}
constexpr std::string_view spelled(Columns columns) {
  constexpr std::string_view names[] = {"kde::at_places", "kde::at_nodes", "kde::at_stored_nodes"};
  return names[columns];
}
constexpr std::string_view spelled(ValueSource source) {
  constexpr std::string_view names[] = {"kde::stored_nodes", "kde::formed_nodes",
                                        "kde::formed_places"};
  return names[source];
}
constexpr std::string_view spelled(bool value) {
  return value ? "true" : "false";
}

template <class T, class V>
struct ColumnSumsKernel : Listed<const Quad<T>*, const Quad<T>*, const ItemTile*, int, const T*, T,
                                 int, Quad<V>*, double*> {
  ColumnSumsKernel(KernelList& list, int dimensions, Columns columns)
      : ColumnSumsKernel::Listed(list,
                                 text("column_sums<", spelled<T>(), ", ", spelled<V>(), ", ",
                                      dimensions, ", ", spelled(columns), ">"),
                                 KernelKind::reduce) {}
};
template <class T>
struct GroupSumsKernel : Listed<const double*, const int*, int, double*> {
  explicit GroupSumsKernel(KernelList& list)
      : Listed(list, entry<T>("group_sums"), KernelKind::reduce) {}
};

// Kernels of encoding.
template <class T, class V>
struct ModelKernels : KernelList {
  ModelKernels(int dimensions, Columns columns)
      : column_sums(*this, dimensions, columns),
        finish(*this, text("finish<", spelled<T>(), ", ", spelled<V>(), ", ", dimensions, ", ",
                           spelled(columns == at_places ? columns : at_nodes), ">")) {
    if (columns != at_places) group_sums.emplace(*this);
  }
  ModelKernels(Compiler& compiler, int dimensions, Columns columns)
      : ModelKernels(dimensions, columns) {
    compile(compiler, optimized_program());
  }

  ColumnSumsKernel<T, V> column_sums;
  Listed<const double*, const int*, const T*, int, int, int, T, T, double, Quad<V>*, T*, T*> finish;
  std::optional<GroupSumsKernel<T>> group_sums = {};  // at nodes
};

// Kernels of sums at nodes alone.
template <class T>
struct NodeSumKernels : KernelList {
  explicit NodeSumKernels(Compiler& compiler) { compile(compiler, optimized_program()); }

  ColumnSumsKernel<T, T> column_sums{*this, 1, at_nodes};
  GroupSumsKernel<T> group_sums{*this};
};

// Kernels of a decode. Dimensions of marks and positions, the source of a value tile, and tiles
// whose sums stay in registers are template arguments; counts are not.
template <class T, class V>
struct DecodeKernels : KernelList {
  DecodeKernels(const DecodeTiling& tiling, int features, int dimensions, const Options& options)
      : hop_a(*this,
              text("hop_a<", spelled<T>(), ", ", spelled<V>(), ", ", features, ", ", dimensions,
                   ", ", spelled(tiling.source), ", ", tiling.columns, ", ", tiling.row_tiles, ", ",
                   spelled(options.distance == Distance::expanded), ", ",
                   spelled(options.cut && tiling.source == formed_places), ">"),
              KernelKind::gemm) {
    if (tiling.source != formed_places)
      hop_b.emplace(*this,
                    text("hop_b<", spelled<T>(), ", ", spelled<V>(), ", ", tiling.bins, ", ",
                         tiling.place_tiles, ">"),
                    KernelKind::gemm);
    else
      sum_rows.emplace(*this, entry<T>("sum_rows"), KernelKind::reduce);
    if (options.consume) consume.emplace(*this, entry<T>("consume"), KernelKind::reduce);
  }
  DecodeKernels(Compiler& compiler, const DecodeTiling& tiling, int features, int dimensions,
                const Options& options)
      : DecodeKernels(tiling, features, dimensions, options) {
    compile(compiler, optimized_program());
  }

  Listed<MarkProduct<T, V>> hop_a;
  std::optional<Listed<PlaceProduct<T, V>>> hop_b = {};     // for two hops
  std::optional<Listed<PlaceProduct<T, T>>> sum_rows = {};  // for one
  std::optional<Listed<const T*, int, int, int, T*, T*>> consume = {};
};

// Kernels of the local likelihood.
template <class T>
struct LocalKernels : KernelList {
  LocalKernels(int features, int dimensions, bool floor)
      : spikes(*this, text("local_spikes<", spelled<T>(), ", ", features, ", ", dimensions, ", ",
                           spelled(floor), ">")),
        rows(*this, text("local_rows<", spelled<T>(), ", ", dimensions, ">"), KernelKind::reduce) {}
  LocalKernels(Compiler& compiler, int features, int dimensions, bool floor)
      : LocalKernels(features, dimensions, floor) {
    compile(compiler, optimized_program());
  }

  Listed<LocalModel<T>, LocalDecoding<T>, T*> spikes;
  Listed<LocalModel<T>, LocalDecoding<T>, const T*, T*> rows;
};

}  // namespace holdfast::clusterless_kde
