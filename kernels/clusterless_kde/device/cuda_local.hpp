// SPDX-License-Identifier: Apache-2.0
// Private to the optimized variant on a device: the likelihood at the animal's own position.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "clusterless_kde/device/cuda_encoding.hpp"
#include "clusterless_kde/problem/options.hpp"
#include "runtime/backend/packing.hpp"

namespace holdfast::clusterless_kde {

// Q for the densities at the animal's positions, 0 if they are summed directly: decided by
// operation count, from the shape alone.
int local_node_count(const Shape& shape, Precision precision);

template <class T>
class CudaLocal {
 public:
  // Encodes once. Every step reads `input`, which must outlive this.
  CudaLocal(Backend& backend, const Input& input, const Options& options);
  ~CudaLocal();

  // Computes the spikes' order and positions; one upload, two launches.
  void step();
  std::vector<double> result() const;  // out[T]
  int node_count() const { return spikes_.nodes().count; }

  // Exactly what the constructor allocates.
  static std::int64_t bytes(const Shape& shape);

 private:
  struct Parts {
    Part<T> features, at_spikes, at_edges;
    Part<std::int32_t> electrode, group_begin, row_begin;
  };
  struct Kernels;
  static Packing pack(const Shape& shape, Parts& parts);
  void encode(Compiler& compiler);
  void prepare();

  const Input& input_;
  Shape shape_;
  EncodingSpikes<T> spikes_;
  ColumnSums<T> columns_;
  Parts parts_ = {};
  Parcel parcel_;
  Buffer<T> logs_, out_;  // [M], [T]
  std::unique_ptr<Kernels> kernels_;
  Order order_ = {};
};

}  // namespace holdfast::clusterless_kde
