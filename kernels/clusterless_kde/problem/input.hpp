// SPDX-License-Identifier: Apache-2.0
// A decoder's input: two trajectories, spikes with their waveform features, the grid of places and
// the bandwidths. Times in seconds, positions in centimetres, row-major, double: a variant rounds
// features and positions to its own precision at construction, times never.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace holdfast::clusterless_kde {

// x[K, d] at increasing times tau[K], K >= 2.
struct Trajectory {
  std::vector<double> times = {};
  std::vector<double> positions = {};
};

// Spikes of one electrode: times[n], features[n, D].
struct Spikes {
  std::vector<double> times = {};
  std::vector<double> features = {};
};

struct Input {
  int dimensions = 1;  // d: 1 or 2
  int features = 2;    // D
  Trajectory encoding = {};
  Trajectory decoding = {};                     // for the local likelihood alone
  std::vector<Spikes> encoding_spikes = {};     // per electrode
  std::vector<Spikes> decoding_spikes = {};     // per electrode, times ascending
  std::vector<double> edges = {};               // c[T] of the decoding bins, increasing, T >= 2
  std::vector<double> places = {};              // g[P, d], centres of the interior bins
  std::vector<double> position_bandwidth = {};  // sigma[d]
  std::vector<double> feature_bandwidth = {};   // s[D]

  int electrodes() const { return static_cast<int>(encoding_spikes.size()); }
  std::int64_t samples() const { return static_cast<std::int64_t>(encoding.times.size()); }
  std::int64_t rows() const { return static_cast<std::int64_t>(edges.size()); }
  std::int64_t bins() const { return static_cast<std::int64_t>(places.size()) / dimensions; }
};

// Throws Error{bad_input}, which names the electrode and the index, for invalid input.
void check(const Input& input);

// Another input of the same shape and plan: each electrode's decoding marks in reverse order and,
// if `encodes`, the encoding positions too. Applied twice it restores the first one.
Input other_input(Input input, bool encodes);

// x at time t, linear between samples; beyond the ends the end segments are extrapolated. `at` is
// [d].
void interpolate(const Trajectory& trajectory, int dimensions, double t, std::span<double> at);

}  // namespace holdfast::clusterless_kde
