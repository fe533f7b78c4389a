// SPDX-License-Identifier: Apache-2.0
// A small input given by formulas, with golden values from an independent prototype: spikes on
// edges and beyond the ends, repeated features, and one decoding spike that is floored everywhere.
#pragma once

#include <array>
#include <cstdlib>

#include "clusterless_kde/problem/input.hpp"

namespace holdfast::clusterless_kde::golden {

inline constexpr int rows = 6, bins = 7;
inline constexpr int floored_row = 2;  // holds the spike that is floored in every bin

inline Input input() {
  Input g1 = {.dimensions = 1, .features = 3};
  for (int k = 0; k < 21; ++k) {
    g1.encoding.times.push_back(0.5 * k);
    g1.encoding.positions.push_back(2 * std::abs(10 - 3 * k % 20));
  }
  for (int p = 0; p < bins; ++p) g1.places.push_back(1 + 3 * p);
  for (int c = 0; c < rows; ++c) {
    g1.edges.push_back(c);
    g1.decoding.times.push_back(c);
    g1.decoding.positions.push_back(2 + 3 * c);
  }
  g1.position_bandwidth = {2.5};
  g1.feature_bandwidth = {1.5, 2.0, 0.75};
  g1.encoding_spikes.resize(2);
  g1.decoding_spikes = {{.times = {0, 1, 1.25, 3.999, 4, 5}}, {.times = {0.5, 2, 2.75, 5.01}}};
  for (int i = 0; i < 6; ++i) {
    g1.encoding_spikes[0].times.push_back(0.3 + 1.6 * i);
    for (int f = 0; f < 3; ++f) {
      g1.encoding_spikes[0].features.push_back(0.5 * ((5 * i + 3 * f + 1) % 7));
      g1.decoding_spikes[0].features.push_back(0.4 * ((4 * i + 5 * f + 2) % 9));
    }
  }
  for (int i = 0; i < 5; ++i) {
    g1.encoding_spikes[1].times.push_back(i < 4 ? 1.1 + 2.2 * i : 10.4);  // the last is dropped
    for (int f = 0; f < 3; ++f)
      g1.encoding_spikes[1].features.push_back(0.75 * ((3 * i + 2 * f + 2) % 5));
  }
  for (int j = 0; j < 4; ++j)  // the last is dropped
    for (int f = 0; f < 3; ++f)
      g1.decoding_spikes[1].features.push_back(0.5 * ((2 * j + 3 * f + 1) % 7));
  g1.decoding_spikes[1].features[2 * 3] += 60;  // the floored spike
  return g1;
}

inline constexpr std::array<double, bins> occupancy = {
    0.0308241931486328, 0.0445570708685624, 0.0474439954849088, 0.0476161919091266,
    0.0475947557797554, 0.046669848662289,  0.0378388624877415};
inline constexpr std::array<double, bins> ground = {
    0.637153550818173, 0.686842312183782, 0.576787487207886, 0.236274020271873,
    0.189003689202996, 0.570013743620318, 0.612262980937529};

// out[T, P]; its last row is -G.
inline constexpr std::array<double, rows* bins> likelihood = {
    -13.559750443456,  -12.503748873182,  -13.3218186516606, -15.3027563866624, -15.0924835316664,
    -17.5622032275772, -20.0685916557181, -10.7442247658375, -11.7100090919685, -14.6539925408754,
    -17.7917491680629, -14.8085252923641, -12.7077882150985, -12.6321360130275, -42.392524796035,
    -40.7956742843484, -40.1205944739375, -40.5428624440124, -42.604372644814,  -44.7594557654225,
    -44.9184397856827, -5.51647109477333, -5.62499015503277, -6.66499528988212, -8.66245222208529,
    -7.63912042982894, -6.50145145514142, -6.23163866371706, -10.8712495624781, -12.0177699739614,
    -15.1743775450197, -17.7071942165905, -13.9555762851955, -11.7839928608026, -11.6962920781709,
    -ground[0],        -ground[1],        -ground[2],        -ground[3],        -ground[4],
    -ground[5],        -ground[6]};

inline constexpr std::array<double, rows> local = {-12.133881869672,  -12.9258316662874,
                                                   -40.1187342737913, -6.95863586773706,
                                                   -11.764257218309,  -0.653364670242711};

}  // namespace holdfast::clusterless_kde::golden
