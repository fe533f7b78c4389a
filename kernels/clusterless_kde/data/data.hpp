// SPDX-License-Identifier: Apache-2.0
// The inputs of every case, made from a seed alone: the same numbers on every machine.
#pragma once

#include <cstdint>
#include <string_view>

#include "clusterless_kde/problem/input.hpp"
#include "clusterless_kde/problem/preparation.hpp"

namespace holdfast::clusterless_kde {

enum class Size {
  tiny,
  small,
  medium,
  large,
  realistic,  // like those above, a track of 100 cm; see sizes.hpp
  tet64,      // 64 tetrodes on a track of 200 cm
  hpc1d,      // 22 tetrodes on a track of 350 cm
  hpc2d,      // 22 tetrodes in a maze of three arms: 719 interior bins
};

enum class Marks {
  profile,  // features are noise: all spikes look alike
  cells,    // six place cells with marks of their own
  whiten,   // cells with marks in units of the bandwidth
};

struct Recipe {
  Size size = Size::medium;
  Marks marks = Marks::profile;
  std::uint64_t seed = 42;
  int scale = 1;     // divides spike rates, samples and rows only
  int features = 0;  // D; 0: 2 for profile, 4 for cells and whiten
  int bins = 0;      // P on a track; 0: the size's own
  // A single electrode with exactly this many spikes; 0: drawn.
  int encoding_spikes = 0, decoding_spikes = 0;
  // A quarter of the electrodes has no encoding spikes, another quarter one.
  bool sparse = false;

  auto operator<=>(const Recipe&) const = default;
};

// Throws Error{bad_input} for an impossible recipe.
void validate(const Recipe& recipe);
Input make_input(const Recipe& recipe);
Shape shape(const Recipe& recipe);  // of the input, without making it

// A spike's likelihood does not depend on its time: puts the first `most` kept decoding spikes,
// taken in turn from all electrodes, into rows of their own, so that errors show per spike. The
// decoding trajectory is at its original position at each of these spikes.
Input one_spike_per_row(const Input& input, std::int64_t most);

// Random numbers by index. uniform: in [0, 1); normal: nearly, the sum of twelve uniforms less six.
struct Stream {
  enum class Kind { count, time, feature, pick, position, cell };
  enum class Phase { encode, decode };

  Stream(std::uint64_t seed, std::uint64_t number);
  Stream(std::uint64_t seed, Kind kind, Phase phase, int electrode);
  double uniform(std::uint64_t i) const;
  double normal(std::uint64_t i) const;

  std::uint64_t key = 0;
};

}  // namespace holdfast::clusterless_kde
