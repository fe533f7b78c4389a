// SPDX-License-Identifier: Apache-2.0
// Private to the optimized variant on a device: the encoded model, and the encoder. Encoding spikes
// lie in *groups* of 16; each electrode's are padded to whole groups. A padding spike is so distant
// that its Gaussian at any place or node is exactly 0.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "clusterless_kde/device/cuda_encoding.hpp"
#include "clusterless_kde/device/model_arguments.hpp"
#include "clusterless_kde/device/optimized_kernels.hpp"
#include "clusterless_kde/device/values.hpp"
#include "clusterless_kde/problem/options.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::clusterless_kde {

// Launch of column_sums.
inline LaunchShape column_tiles(unsigned tiles, int columns) {
  return {.grid = {tiles, blocks(columns, summed_columns)}, .block = {group_quads, summed_columns}};
}
// Launch of group_sums and finish.
inline LaunchShape column_lanes(int columns, int groups) {
  return {.grid = {blocks(columns, finish_columns), static_cast<unsigned>(groups)},
          .block = {finish_columns, finish_lanes}};
}

// The arithmetic used on the device: f32 becomes bf16x3, and a range fallback f64.
Arithmetic device_arithmetic(const Plan& plan);

// T: float or double. V: storage of Psi and Phi (values.hpp): SplitBf16, Tf32, float, double.
template <class T, class V>
class CudaModel {
 public:
  // Allocates for shape and plan; encode() of a CudaEncoder fills it.
  CudaModel(Backend& backend, const Shape& shape, const Plan& plan);

  const Quad<T>* features() const { return spikes_.features(); }    // [groups, D, 4 quads]
  const Quad<T>* positions() const { return spikes_.positions(); }  // [groups, d, 4 quads]
  const T* places() const { return spikes_.places(); }              // [P, d]
  // psi() and phi() are null on the dense path, psi() also where it is recomputed.
  const Quad<V>* psi() const { return psi_ ? psi_->data() : nullptr; }  // [groups, Q, 4 quads]
  const Quad<V>* phi() const { return phi_ ? phi_->data() : nullptr; }  // [Q/16, P, 4 quads]
  const T* beta() const { return beta_and_ground_.data(); }             // [P]: lcw - ln O, or -inf
  const T* ground() const { return beta() + bins_; }                    // [P]: G
  const NodeGrid<T>& nodes() const { return spikes_.nodes(); }          // empty on the dense path
  // Electrodes, their groups and their batches. A batch's groups count from first_group(batch).
  const EncodingLayout& layout() const { return spikes_.layout(); }
  void load(int batch) { spikes_.load(batch); }  // needed if there are several batches

  double scaled(double position, int axis) const { return spikes_.scaled(position, axis); }

  // With plan.options.cut, an electrode's spikes ascend by position; these are the lowest and
  // highest position of each group, without padding: [groups, 2, d], on the host for all batches.
  const T* cut_bounds() const { return spikes_.cut_bounds(); }
  const std::vector<T>& host_cut_bounds() const { return spikes_.host_cut_bounds(); }
  double lowest_floor() const { return spikes_.lowest_floor(); }  // see range.hpp

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

// Encodes host arrays into a model. Holds the scratch of encoding and the kernels.
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
