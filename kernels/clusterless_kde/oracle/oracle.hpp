// SPDX-License-Identifier: Apache-2.0
// The mathematics as README.md writes it, in double, one sum at a time, without the simplifications
// on which the variants rest. Slow on purpose.
#pragma once

#include <cstdint>
#include <vector>

#include "clusterless_kde/problem/input.hpp"

namespace holdfast::clusterless_kde {

struct Encoding {
  std::vector<double> occupancy = {};  // o[P], density per centimetre (d = 1)
  std::vector<double> ground = {};     // G[P]
};
Encoding oracle_encoding(const Input& input);

struct Decoding {
  std::vector<double> likelihood = {};  // out[T, P]
  double floored_fraction = 0;          // of all (spike, bin) pairs
};
Decoding oracle_decoding(const Input& input);

// Single entries of out, each computed alone.
struct Entry {
  std::int64_t row = 0, bin = 0;
};
std::vector<double> oracle_entries(const Input& input, const std::vector<Entry>& entries);
// Draws `count` of them from the stream of the seed and 999.
std::vector<Entry> sampled_entries(const Input& input, std::uint64_t seed, int count);

// Whether the spike term of the local likelihood is floored as the non-local one is.
enum class LocalFloor { applied, omitted };
std::vector<double> oracle_local(const Input& input,
                                 LocalFloor floor = LocalFloor::applied);  // [T]

}  // namespace holdfast::clusterless_kde
