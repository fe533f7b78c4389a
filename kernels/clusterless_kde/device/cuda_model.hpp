// SPDX-License-Identifier: Apache-2.0
// Private to the optimized variant on a device: what encoding leaves behind, how it gets there, and
// the kernels of optimized_model.hpp and optimized_local.hpp as typed callables.
// Encoding spikes lie in *groups* of 16, those of an electrode padded to whole groups: a padding
// spike is so far from everything that its Gaussian at a place or a node is exactly 0.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clusterless_kde/device/cuda_encoding.hpp"
#include "clusterless_kde/device/model_arguments.hpp"
#include "clusterless_kde/device/optimized_program.hpp"
#include "clusterless_kde/device/values.hpp"
#include "clusterless_kde/problem/options.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/base/error.hpp"

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

// What the device computes with: f32 is bf16x3, and a range fallback f64.
Arithmetic device_arithmetic(const Plan& plan);

// T: float or double. V: what Psi and Phi are kept as (values.hpp): SplitBf16, Tf32, float, double.
template <class T, class V>
class CudaModel {
 public:
  // Allocates, for what shape and plan say; encode() of a CudaEncoder fills it.
  CudaModel(Backend& backend, const Shape& shape, const Plan& plan);

  const Quad<T>* features() const { return spikes_.features(); }    // [groups, D, 4 quads]
  const Quad<T>* positions() const { return spikes_.positions(); }  // [groups, d, 4 quads]
  const T* places() const { return spikes_.places(); }              // [P, d]
  // Null on the dense path; Psi also where it is recomputed.
  const Quad<V>* psi() const { return psi_ ? psi_->data() : nullptr; }  // [groups, Q, 4 quads]
  const Quad<V>* phi() const { return phi_ ? phi_->data() : nullptr; }  // [Q/16, P, 4 quads]
  const T* beta() const { return beta_and_ground_.data(); }             // [P]: lcw - ln O, or -inf
  const T* ground() const { return beta() + bins_; }                    // [P]: G
  const NodeGrid<T>& nodes() const { return spikes_.nodes(); }          // no node on the dense path
  // Electrodes, their groups and their batches. A batch's groups count from first_group(batch).
  const EncodingLayout& layout() const { return spikes_.layout(); }
  void load(int batch) { spikes_.load(batch); }  // where there is more than one

  double scaled(double position, int axis) const { return spikes_.scaled(position, axis); }

  // With plan.options.cut: an electrode's spikes ascend by position, and here are the lowest and
  // the highest of each group, padding apart: [groups, 2, d], on the host of all batches.
  const T* cut_bounds() const { return spikes_.cut_bounds(); }
  const std::vector<T>& host_cut_bounds() const { return spikes_.host_cut_bounds(); }
  double lowest_floor() const { return spikes_.lowest_floor(); }  // of range.hpp

  // o[P], then G[P].
  std::vector<double> densities(const Input& input) const;

  static std::int64_t bytes(const Shape& shape, const Plan& plan);

 private:
  template <class, class>
  friend class CudaEncoder;

  std::size_t bins_;
  EncodingSpikes<T> spikes_;
  std::optional<Buffer<Quad<V>>> psi_, phi_;
  Buffer<T> beta_and_ground_;  // [2, P]
};

// From host arrays to a model. Holds what is needed while it encodes, and the kernels.
template <class T, class V>
class CudaEncoder {
 public:
  CudaEncoder(Backend& backend, const Shape& shape, const Plan& plan);
  ~CudaEncoder();

  // Masks, interpolation, two uploads, two or three launches; an upload and a launch more for each
  // further batch of electrodes.
  void encode(const Input& input, CudaModel<T, V>& model);

  static std::int64_t bytes(const Shape& shape, const Plan& plan);

 private:
  struct Kernels;

  Shape shape_;
  ColumnSums<T> columns_;
  std::unique_ptr<Kernels> kernels_;
};

}  // namespace holdfast::clusterless_kde
