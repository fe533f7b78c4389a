// SPDX-License-Identifier: Apache-2.0
// Private to the optimized variant on a device: the kernels of a decode as typed callables, all in
// one program. Marks' and positions' dimensions, what a value tile is made of, and tiles whose sums
// stay in registers are template arguments; counts of any kind are not.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clusterless_kde/decode_arguments.hpp"
#include "clusterless_kde/decode_tiling.hpp"
#include "clusterless_kde/optimized_program.hpp"
#include "runtime/error.hpp"

namespace holdfast::clusterless_kde {

constexpr std::string_view spelled(ValueSource source) {
  constexpr std::string_view names[] = {"kde::stored_nodes", "kde::formed_nodes",
                                        "kde::formed_places"};
  return names[source];
}

// Names of one configuration, as the device code and tests spell them.
template <class T, class V>
struct DecodeNames {
  DecodeNames(const DecodeTiling& tiling, int features, int dimensions, const Options& options)
      : hop_a(text("hop_a<", spelled<T>(), ", ", spelled<V>(), ", ", features, ", ", dimensions,
                   ", ", spelled(tiling.source), ", ", tiling.columns, ", ", tiling.row_tiles, ", ",
                   options.distance == Distance::expanded ? "true" : "false", ", ",
                   options.cut && tiling.source == formed_places ? "true" : "false", ">")),
        hop_b(text("hop_b<", spelled<T>(), ", ", spelled<V>(), ", ", tiling.bins, ", ",
                   tiling.place_tiles, ">")),
        sum_rows(text("sum_rows<", spelled<T>(), ">")),
        consume(text("consume<", spelled<T>(), ">")) {}

  std::string hop_a, hop_b, sum_rows, consume;
};

template <class T, class V>
struct DecodeKernels {
  DecodeKernels(Compiler& compiler, const DecodeTiling& tiling, int features, int dimensions,
                const Options& options)
      : DecodeKernels(compiler, DecodeNames<T, V>(tiling, features, dimensions, options),
                      tiling.source != formed_places, options.consume) {}

  Kernel<MarkProduct<T, V>> hop_a;
  std::optional<Kernel<PlaceProduct<T, V>>> hop_b = {};     // of two hops
  std::optional<Kernel<PlaceProduct<T, T>>> sum_rows = {};  // of one
  std::optional<Kernel<const T*, int, int, int, T*, T*>> consume = {};

 private:
  DecodeKernels(Compiler& compiler, const DecodeNames<T, V>& names, bool two_hop, bool consumed)
      : DecodeKernels(compiler.compile(program(names, two_hop, consumed)), names, two_hop,
                      consumed) {}
  DecodeKernels(const Module& module, const DecodeNames<T, V>& names, bool two_hop, bool consumed)
      : hop_a(module.kernel<MarkProduct<T, V>>(names.hop_a)) {
    if (two_hop)
      hop_b = module.kernel<PlaceProduct<T, V>>(names.hop_b);
    else
      sum_rows = module.kernel<PlaceProduct<T, T>>(names.sum_rows);
    if (consumed) consume = module.kernel<const T*, int, int, int, T*, T*>(names.consume);
  }

  static Program program(const DecodeNames<T, V>& names, bool two_hop, bool consumed) {
    std::vector<WantedKernel> entries = {{names.hop_a, KernelKind::gemm}};
    if (two_hop)
      entries.emplace_back(names.hop_b, KernelKind::gemm);
    else
      entries.emplace_back(names.sum_rows, KernelKind::reduce);
    if (consumed) entries.emplace_back(names.consume, KernelKind::reduce);
    return optimized_program(std::move(entries));
  }
};

}  // namespace holdfast::clusterless_kde
