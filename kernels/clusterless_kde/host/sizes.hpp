// SPDX-License-Identifier: Apache-2.0
// Buffer sizes of the optimized host variant, from numbers alone: its buffers and its memory
// estimate use the same counts.
#pragma once

#include <cstdint>

#include "clusterless_kde/problem/preparation.hpp"
#include "clusterless_kde/problem/problem.hpp"

namespace holdfast::clusterless_kde {

// Bins, and encoding spikes, whose values are computed together: a multiple of every vector's
// lanes, so that no size depends on the instruction set.
inline constexpr std::int64_t panel_columns = 64;
inline constexpr std::int64_t strip_rows = 6;  // rows of a product: as many as registers hold

// Some decoding spikes of one electrode, which go through the first hop together.
struct HostItem {
  int electrode = 0;
  std::int64_t first = 0;  // index in its electrode
  std::int64_t slot = 0;   // in the order (electrode, index)
  std::int64_t count = 0;
};

// An encoding spike while its electrode's are sorted by position for a cut.
struct PlacedSpike {
  double strip = 0, along = 0;
  double at[2] = {};
  std::int32_t index = 0;
};

constexpr std::int64_t rounded_up(std::int64_t x, std::int64_t step) {
  return (x + step - 1) / step * step;
}

struct HostSizes {
  HostSizes(const Shape& shape, const Plan& plan, Unit unit);

  bool local = false;  // sizes for the local likelihood, else for bins
  bool two_hop = false;
  bool through_nodes = false;  // sums over the trajectory and over an electrode's spikes
  bool cut = false;            // spikes are sorted, so that tiles of them can be left out
  bool consume = false;
  bool shared = false, encode_shared = false;  // whether the work is worth more than one thread
  std::int64_t value_bytes = 4;
  std::int64_t threads = 1;
  std::int64_t electrodes = 0, features = 0, dimensions = 1;
  std::int64_t rows = 0, bins = 0, samples = 0;
  std::int64_t encoding = 0;         // N
  std::int64_t padded_encoding = 0;  // each electrode's spikes in whole panels
  std::int64_t decoding = 0;         // M
  std::int64_t nodes = 0;            // Q; 0 where sums go directly
  std::int64_t pitch = 0;            // bins, rounded up to whole panels
  std::int64_t sample_blocks = 0, samples_per_block = 0;
  std::int64_t block = 0, encoding_tile = 0, position_tile = 0;
  std::int64_t chunks = 1, chunk_rows = 0, chunk_spikes = 0;

  Precision precision() const { return value_bytes == 8 ? Precision::f64 : Precision::f32; }
  std::int64_t sum_width() const { return through_nodes ? nodes : pitch; }
  std::int64_t scratch_width() const { return two_hop ? nodes : pitch; }

  // Numbers of values in each buffer of the model; double:
  std::int64_t kept_positions() const { return padded_encoding * dimensions; }
  std::int64_t centers() const { return electrodes * features; }
  std::int64_t sums() const {
    return local && !through_nodes ? 0 : (sample_blocks + electrodes + 2) * sum_width();
  }
  std::int64_t occupancy() const { return local ? 0 : pitch; }
  std::int64_t finish_scratch() const {  // per thread
    return local || !two_hop ? 0 : (nodes + 1 + electrodes) * panel_columns;
  }
  // f32 or f64:
  std::int64_t marks() const { return padded_encoding * features; }
  std::int64_t positions() const { return local || !two_hop ? padded_encoding * dimensions : 0; }
  std::int64_t psi() const { return local || !two_hop ? 0 : encoding * nodes; }
  std::int64_t phi() const { return local || !two_hop ? 0 : nodes * pitch; }
  std::int64_t bin_coordinates() const { return local || two_hop ? 0 : dimensions * pitch; }
  std::int64_t shift() const { return local || two_hop ? 0 : pitch; }
  std::int64_t ground() const { return local ? 0 : pitch; }
  std::int64_t trajectory_pitch() const { return rounded_up(samples, panel_columns); }
  std::int64_t trajectory() const {
    return local && !through_nodes ? trajectory_pitch() * dimensions : 0;
  }
  // Others:
  std::int64_t spike_order() const { return padded_encoding; }
  std::int64_t sorted_spikes() const { return cut ? padded_encoding : 0; }
  std::int64_t model_bytes() const;

  // Buffers of a decode; f32 or f64:
  std::int64_t scratch() const { return chunk_spikes * scratch_width(); }
  std::int64_t tiles() const;  // per thread
  std::int64_t out() const { return (consume ? chunk_rows : rows) * bins; }
  // Others:
  std::int64_t items() const { return electrodes + chunk_spikes / block + 1; }
  std::int64_t consumed() const { return consume ? rows : 0; }
  std::int64_t decode_bytes() const;
};

}  // namespace holdfast::clusterless_kde
