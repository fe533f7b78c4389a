// SPDX-License-Identifier: Apache-2.0
// Private to the optimized variant on a device: a decode, from the host's spikes to out. One upload
// of spikes per decode; two launches per time chunk, three if a consumer takes the rows. If the
// encoding does not fit at once, each of its batches takes another upload and launch per chunk.
// Otherwise the launches of several chunks are recorded once and replayed as a graph.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "clusterless_kde/device/arguments.hpp"
#include "clusterless_kde/device/cuda_model.hpp"
#include "clusterless_kde/device/decode_tiling.hpp"
#include "clusterless_kde/device/optimized_kernels.hpp"
#include "clusterless_kde/problem/preparation.hpp"
#include "computation.hpp"
#include "runtime/backend/packing.hpp"
#include "runtime/device/device.hpp"

namespace holdfast::clusterless_kde {

// Layout of a decode's upload. Features are ordered by electrode, order and rows by time.
template <class T>
struct DecodeParts {
  DecodeParts(const Shape& shape, std::int64_t tile_count);

  Packing packing = {};
  Part<T> features;          // [M, D], in Gaussian units
  Part<std::int32_t> order;  // [M]: position in time of a spike of `features`
  Part<std::int32_t> rows;   // [M]: of the spikes in the order of time
  Part<SpikeTile> tiles;     // for all chunks
};

template <class T, class V>
class CudaDecoder {
 public:
  // Every step reads `input` and `model`, which must outlive this.
  CudaDecoder(Backend& backend, const Input& input, const Shape& shape, const Plan& plan,
              CudaModel<T, V>& model);

  void step();
  std::vector<double> result() const;
  std::vector<NamedReading> readings() const;

  // Exactly what the constructor allocates.
  static std::int64_t bytes(const Shape& shape, const Plan& plan);

 private:
  // Element counts of the scratch and the output.
  struct Sizes {
    Sizes(const Shape& shape, const Plan& plan, const DecodeTiling& tiling);
    std::size_t sums = 0, out = 0, consumed = 0;  // elements of T
  };
  // A time chunk. first_row + rows, first + spikes, first_tile + tiles start the next one.
  struct Chunk {
    int first_row = 0, rows = 0, first = 0, spikes = 0, first_tile = 0, tiles = 0;
    std::vector<int> batch_tiles = {};  // [batches]: tiles of each
  };

  void prepare();
  void launch_chunks();
  void place_spikes(std::int64_t begin, std::int64_t end);
  void tile_chunk(Chunk& chunk, const std::vector<std::int64_t>& before);
  void launch_marks(const Chunk& chunk);
  void launch_tiles(const Chunk& chunk, int first_tile, int tiles);
  void launch_places(const Chunk& chunk);
  void launch_consumer(const Chunk& chunk);
  double visited_fraction() const;

  Device& device_;
  const Input& input_;
  Shape shape_;
  Plan plan_;
  CudaModel<T, V>& model_;
  DecodeTiling tiling_;
  DecodeKernels<T, V> kernels_;
  DecodeParts<T> parts_;
  Parcel parcel_;
  Buffer<T> sums_;                          // [R, stride]: of hop_a
  Buffer<T> out_;                           // [T, P], or of the longest chunk where consumed
  std::optional<Buffer<T>> consumed_ = {};  // [2, T]: ln sum exp, likeliest bin
  bool cuts_;
  std::vector<double> units_ = {};  // [D]
  Order order_ = {};
  std::vector<std::int64_t> next_ = {};  // per electrode: index in `features` of its next spike
  std::vector<Chunk> chunks_ = {};       // the same in every step, as the input is
  std::optional<Graph> graph_ = {};      // of launch_chunks()
};

}  // namespace holdfast::clusterless_kde
