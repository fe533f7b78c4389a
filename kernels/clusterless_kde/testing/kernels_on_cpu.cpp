// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/testing/kernels_on_cpu.hpp"

#include <utility>

#include "clusterless_kde/device/arguments.hpp"
#include "clusterless_kde/device/decode_tiling.hpp"
#include "clusterless_kde/device/optimized_kernels.hpp"
#include "clusterless_kde/device/values.hpp"
#include "clusterless_kde/problem/formulas.hpp"
#include "runtime/emulation/emulation_shim.hpp"

#include "clusterless_kde/device/value_quads.cuh"
#include "runtime/device_code/tensor_core.cuh"

namespace on_cpu {
#include "clusterless_kde/device/optimized.cu"
HOLDFAST_EMULATED_SHARED(SharedQuad, shared_memory);
}  // namespace on_cpu

namespace holdfast::clusterless_kde {
namespace {

// Encoding.
template <class T, class V, int d, Columns at>
void add_model(EmulatedKernels& kernels) {
  const ModelKernels<T, V> listed(d, at);
  kernels.add(listed.column_sums, &on_cpu::column_sums<T, V, d, at>);
  kernels.add(listed.finish, &on_cpu::finish < T, V, d, at == at_places ? at : at_nodes >);
  if (listed.group_sums) kernels.add(*listed.group_sums, &on_cpu::group_sums<T>);
}
template <class T, class V>
void add_encoding(EmulatedKernels& kernels) {
  add_model<T, V, 1, at_places>(kernels);
  add_model<T, V, 2, at_places>(kernels);
  add_model<T, V, 1, at_nodes>(kernels);
  add_model<T, V, 1, at_stored_nodes>(kernels);
}

// Decoding.
struct HopA {
  ValueSource source = formed_places;
  int features = 4, dimensions = 1, columns = 128, row_tiles = 2;
  bool expanded = false, cut = false;
};
template <class T, class V, HopA hop>
void add_hop_a(EmulatedKernels& kernels) {
  DecodeTiling tiling;
  tiling.source = hop.source;
  tiling.columns = hop.columns;
  tiling.row_tiles = hop.row_tiles;
  Options options;
  options.distance = hop.expanded ? Distance::expanded : Distance::difference;
  options.cut = hop.cut;
  kernels.add(DecodeKernels<T, V>(tiling, hop.features, hop.dimensions, options).hop_a,
              &on_cpu::hop_a<T, V, hop.features, hop.dimensions, hop.source, hop.columns,
                             hop.row_tiles, hop.expanded, hop.cut>);
}
template <class T, class V, int bins, int tiles>
void add_hop_b(EmulatedKernels& kernels) {
  DecodeTiling tiling;
  tiling.source = stored_nodes;
  tiling.bins = bins;
  tiling.place_tiles = tiles;
  kernels.add(*DecodeKernels<T, V>(tiling, 1, 1, {}).hop_b, &on_cpu::hop_b<T, V, bins, tiles>);
}
// For every arithmetic: a track, dense and in two hops. tiles: of 16 rows per warp.
template <class T, class V, int tiles, int nodes>
void add_decoding(EmulatedKernels& kernels) {
  add_hop_a<T, V, HopA{.features = 3, .row_tiles = tiles}>(kernels);
  add_hop_a<T, V, HopA{.features = 4, .row_tiles = tiles}>(kernels);
  add_hop_a<T, V, HopA{.source = stored_nodes, .columns = nodes, .row_tiles = tiles}>(kernels);
  add_hop_b<T, V, 64, tiles>(kernels);
}
template <class T>
void add_rows(EmulatedKernels& kernels) {
  const DecodeKernels<T, T> listed({}, 1, 1, {.consume = true});
  kernels.add(*listed.sum_rows, &on_cpu::sum_rows<T>);
  kernels.add(*listed.consume, &on_cpu::consume<T>);
}
// The local likelihood.
template <class T, int D, int d>
void add_local(EmulatedKernels& kernels) {
  const LocalKernels<T> floored(D, d, true), listed(D, d, false);
  kernels.add(floored.spikes, &on_cpu::local_spikes<T, D, d, true>);
  kernels.add(listed.spikes, &on_cpu::local_spikes<T, D, d, false>);
  kernels.add(listed.rows, &on_cpu::local_rows<T, d>);
}
template <class T>
void add_locals(EmulatedKernels& kernels) {
  add_local<T, 2, 1>(kernels);
  add_local<T, 3, 1>(kernels);
  add_local<T, 4, 1>(kernels);
  add_local<T, 4, 2>(kernels);
}
// For the arithmetic of label f32: everything else that options can request.
void add_options(EmulatedKernels& kernels) {
  using T = float;
  using V = SplitBf16;
  add_hop_a<T, V, HopA{.source = formed_nodes, .columns = 32}>(kernels);
  add_hop_a<T, V, HopA{.source = stored_nodes, .columns = 96}>(kernels);
  add_hop_a<T, V, HopA{.source = stored_nodes, .columns = 64}>(kernels);
  add_hop_a<T, V, HopA{.columns = 64}>(kernels);
  add_hop_a<T, V, HopA{.expanded = true}>(kernels);
  add_hop_a<T, V, HopA{.columns = 64, .cut = true}>(kernels);
  add_hop_a<T, V, HopA{.dimensions = 2}>(kernels);
  add_hop_a<T, V, HopA{.dimensions = 2, .columns = 64, .cut = true}>(kernels);
  add_hop_a<T, V, HopA{.features = 2}>(kernels);
  add_hop_a<T, V, HopA{.features = 8, .row_tiles = 1}>(kernels);
  add_hop_b<T, V, 32, 2>(kernels);
  add_hop_b<T, V, 128, 1>(kernels);
}

}  // namespace

std::unique_ptr<Backend> emulated(Emulation emulation) {
  EmulatedKernels kernels;
  add_encoding<float, SplitBf16>(kernels);
  add_encoding<float, Tf32>(kernels);
  add_encoding<float, float>(kernels);
  add_encoding<double, double>(kernels);
  add_decoding<float, SplitBf16, 2, 32>(kernels);
  add_decoding<float, Tf32, 2, 32>(kernels);
  add_decoding<float, float, 1, 32>(kernels);
  add_decoding<double, double, 1, 48>(kernels);
  add_hop_a<double, double, HopA{.columns = 64, .row_tiles = 1, .cut = true}>(kernels);
  add_rows<float>(kernels);
  add_rows<double>(kernels);
  add_locals<float>(kernels);
  add_locals<double>(kernels);
  add_options(kernels);
  return make_emulated_backend(std::move(kernels), emulation);
}

}  // namespace holdfast::clusterless_kde
