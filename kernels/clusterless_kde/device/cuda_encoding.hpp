// SPDX-License-Identifier: Apache-2.0
// Private to the optimized variant on a device: encoding spikes and the trajectory as the kernels
// read them, and sums of Gaussians over both. Coordinates are in *Gaussian units*, in which a
// Gaussian is exp2(-x^2), and relative to an origin, which is the first node if there are nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "clusterless_kde/device/values.hpp"
#include "clusterless_kde/problem/formulas.hpp"
#include "clusterless_kde/problem/nodes.hpp"
#include "clusterless_kde/problem/preparation.hpp"
#include "runtime/backend/packing.hpp"

namespace holdfast::clusterless_kde {

// The nodes of a decode; none on the dense path.
Nodes nodes_of(const Shape& shape, Path path, Precision precision);

// Nodes at q * spacing for q < count. psi(u, q) = exp2(-2 (u - q spacing)^2),
// phi(q, g) = weight exp2(-2 (g - q spacing)^2).
template <class T>
struct NodeGrid {
  int count = 0;
  T spacing = 0;
  T weight = 0;
};

// A padding item's position: squares of distances from it are finite, their Gaussians 0.
inline constexpr double far_position = 1e15;

struct EncodingLayout {
  explicit EncodingLayout(const Shape& shape, int batches = 1);

  std::vector<std::int64_t> group_begin = {};  // [E + 1]
  std::int64_t sample_groups = 0;
  // Tiles of groups, for the column sums: of each electrode, then of the samples.
  std::int64_t tile_groups = 0;
  std::vector<std::int32_t> tile_begin = {};  // [E + 2]

  // Batch b is electrodes batch_begin[b] .. batch_begin[b + 1].
  std::vector<int> batch_begin = {};

  std::int64_t groups() const { return group_begin.back(); }
  std::int64_t tiles() const { return tile_begin.back(); }
  int batches() const { return static_cast<int>(batch_begin.size()) - 1; }
  int batch_of(int electrode) const;
  std::int64_t first_group(int batch) const { return group_begin[batch_begin[batch]]; }
  std::int64_t most_batch_groups() const;
};

// Features, positions and places, on the device: of all electrodes, or of one batch at a time.
template <class T>
class EncodingSpikes {
 public:
  // Only with `cut` are spikes sorted by position and given boxes.
  EncodingSpikes(Backend& backend, const Shape& shape, const Nodes& nodes, bool cut, int batches);

  // prepare() rebuilds everything from the input; load() then puts a batch on the device.
  void prepare(const Input& input);
  void load(int batch) { parcel_.send(batch); }

  const EncodingLayout& layout() const { return layout_; }
  const Quad<T>* features() const { return quads(parts_.features); }     // [groups, D, 4 quads]
  const Quad<T>* positions() const { return quads(parts_.positions); }   // [groups, d, 4 quads]
  const T* places() const { return parcel_.device(parts_.places); }      // [P, d]
  const T* cut_bounds() const { return parcel_.device(parts_.bounds); }  // [groups, 2, d]
  const NodeGrid<T>& nodes() const { return grid_; }
  const std::vector<T>& host_cut_bounds() const { return host_bounds_; }
  double lowest_floor() const { return lowest_floor_; }
  // A position's coordinate `axis`, in Gaussian units from the origin.
  double scaled(double position, int axis) const;

  static std::int64_t bytes(const Shape& shape, bool cut, int batches);

 private:
  struct Parts {
    Part<T> features, positions, places, bounds;
  };
  static Packing pack(const Shape& shape, bool cut, int batches, Parts& parts);
  const Quad<T>* quads(const Part<T>& part) const {
    return reinterpret_cast<const Quad<T>*>(parcel_.device(part));
  }
  void place_electrode(const Input& input, int electrode);
  void bound_electrode(int electrode, std::int64_t spikes);

  int dimensions_, features_;
  bool cut_;
  EncodingLayout layout_;
  NodeGrid<T> grid_ = {};
  double first_node_;
  double origin_[2] = {}, unit_[2] = {};
  std::vector<double> mark_unit_ = {};
  Parts parts_ = {};
  Parcel parcel_;
  std::vector<T> host_bounds_ = {};
  double lowest_floor_ = 0;
};

// Which tiles' partial sums are added up: none; those of each electrode's spikes and, last, of the
// samples; those of all spikes, then of the samples.
enum class Totals { none, electrodes, spikes };

// Scratch of an encoding: sums over tiles of items at columns, which are nodes or places.
template <class T>
class ColumnSums {
 public:
  ColumnSums(Backend& backend, const Shape& shape, std::int64_t columns, Totals totals,
             int batches);

  void upload(const Input& input, const EncodingSpikes<T>& spikes);

  const Quad<T>* samples() const {  // [groups, d, 4 quads]
    return reinterpret_cast<const Quad<T>*>(parcel_.device(parts_.samples));
  }
  int sample_groups() const { return static_cast<int>(layout_.sample_groups); }
  // The tiles of a batch; the last batch includes those of the samples.
  struct Tiles {
    const ItemTile* tiles = nullptr;  // [count]
    double* partial = nullptr;        // [count, columns]
    unsigned count = 0;
  };
  Tiles tiles(int batch) const;
  int columns() const { return columns_; }
  double* partial() const { return partial_.data(); }  // [tiles, columns]
  // First tile of each total; with Totals::none of each electrode and of the samples.
  const int* tile_begin() const { return parcel_.device(parts_.tile_begin); }
  int totals() const { return static_cast<int>(parts_.tile_begin.count) - 1; }
  double* sums() const { return sums_.data(); }  // [totals, columns]

  static std::int64_t bytes(const Shape& shape, std::int64_t columns, Totals totals);

 private:
  struct Parts {
    Part<T> samples;
    Part<ItemTile> tiles;
    Part<std::int32_t> tile_begin;
  };
  static Packing pack(const Shape& shape, Totals totals, Parts& parts);

  int dimensions_, columns_;
  EncodingLayout layout_;
  Parts parts_ = {};
  Parcel parcel_;
  Buffer<double> partial_, sums_;
};

}  // namespace holdfast::clusterless_kde
