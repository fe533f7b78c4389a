// SPDX-License-Identifier: Apache-2.0
// Invariants of every decoder, for the optimized variant on a device: run on the emulated one, on
// the dense path and in two hops.
#include <gtest/gtest.h>

#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/testing/invariants.hpp"
#include "clusterless_kde/testing/kernels_on_cpu.hpp"

namespace holdfast::clusterless_kde {
namespace {

std::unique_ptr<Backend> open() {
  return emulated();
}

// On the wide places of a track nodes are cheaper: two electrodes there, with different spikes.
Input input_of(Path path) {
  Recipe recipe = {.size = Size::tiny, .marks = Marks::cells};
  if (path == Path::dense) return one_spike_per_row(make_input(recipe), 60);
  recipe.encoding_spikes = 100;
  recipe.decoding_spikes = 20;
  Input both = make_input(recipe);
  recipe.seed = 43;
  const Input other = make_input(recipe);
  both.encoding_spikes.push_back(other.encoding_spikes[0]);
  both.decoding_spikes.push_back(other.decoding_spikes[0]);
  both = one_spike_per_row(both, 60);
  both.position_bandwidth = {9};
  return both;
}

Decoder decoder(Arithmetic arithmetic, Path path, double per_spike) {
  return {.open = open,
          .input = input_of,
          .arithmetic = arithmetic,
          .path = path,
          .per_spike = per_spike};
}
INSTANTIATE_TEST_SUITE_P(Emulated, Invariant,
                         testing::Values(decoder(Arithmetic::f32, Path::dense, 1e-4),
                                         decoder(Arithmetic::f32, Path::two_hop, 1e-4),
                                         decoder(Arithmetic::f64, Path::dense, 1e-10),
                                         decoder(Arithmetic::f64, Path::two_hop, 1e-9)),
                         [](const auto& each) { return name_of(each.param); });

}  // namespace
}  // namespace holdfast::clusterless_kde
