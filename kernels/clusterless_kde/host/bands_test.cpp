// SPDX-License-Identifier: Apache-2.0
// The terms that sums over nodes leave out, compiled here for the lowest instruction set: a
// result's tolerance is far larger, and would not expose them.
#define HOLDFAST_ISA isa_test
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "clusterless_kde/clusterless_kde.hpp"
#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/host/encode.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {
namespace {

// One electrode on a track of a hundred bandwidths, whose many places make nodes cheaper.
const Input& on_a_long_track() {
  static const Input input = make_input({.size = Size::hpc1d,
                                         .marks = Marks::cells,
                                         .scale = 200,
                                         .bins = 420,
                                         .encoding_spikes = 1000,
                                         .decoding_spikes = 30});
  return input;
}

template <class T>
struct Bands : testing::Test {
  const Input& input = on_a_long_track();
  const Shape numbers = shape(input);
  const Options options = {.arithmetic = sizeof(T) == 8 ? Arithmetic::f64 : Arithmetic::f32};
  const std::unique_ptr<Backend> backend = open_backend("host");
  const HostSizes sizes = {numbers, plan(*backend, input, options), Unit::decode};
  Model<T> model = {*backend, input, numbers, sizes};

  Bands() {
    Encoder<T> encode(*backend, input, sizes, options, model);
    encode();
  }
  // Upper bound of what is left out in `outside` nodes, of a sum over all of them and all spikes.
  double all_of(double one) const {
    return static_cast<double>(sizes.nodes * model.most_spikes) * one;
  }
  double unseen() const { return rate_floor * std::numeric_limits<T>::epsilon(); }
};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(Bands, Precisions);

bool is_outside(const Band& band, int q) {
  return q < band.begin || q >= band.end;
}

// The nodes that none of several consecutive spikes reaches.
TYPED_TEST(Bands, OfSpikesLeaveOutLessThanARateAtTheFloorShows) {
  ASSERT_TRUE(this->sizes.two_hop);
  const auto& model = this->model;
  const double greatest_phi =
      *std::max_element(model.phi.data(), model.phi.data() + model.phi.size());
  constexpr int depth = 4;
  double most = 0;
  int left_out = 0;
  for (std::int64_t first = 0; first + depth <= model.most_spikes; first += depth) {
    const Band band = model.band_of(first, depth);
    for (int q = 0; q < model.kernel.count(); ++q) {
      if (!is_outside(band, q)) continue;
      ++left_out;
      for (std::int64_t i = first; i < first + depth; ++i) {
        const double x = model.kernel.distance(model.kept_positions.data()[i], q);
        most = std::max(most, std::exp2(-x * x));
      }
    }
  }
  EXPECT_GT(left_out, 1000);
  EXPECT_LE(this->all_of(most * greatest_phi), this->unseen());
}

// The nodes that none of a panel's places is near.
TYPED_TEST(Bands, OfPlacesLeaveOutLessThanARateAtTheFloorShows) {
  ASSERT_TRUE(this->sizes.two_hop);
  const auto& model = this->model;
  const int nodes = model.kernel.count();
  double most = 0;
  int left_out = 0;
  for (std::size_t panel = 0; panel < model.bands.size(); ++panel)
    for (int q = 0; q < nodes; ++q) {
      if (!is_outside(model.bands[panel], q)) continue;
      ++left_out;
      const auto* phi = model.phi.data() + (std::int64_t(panel) * nodes + q) * panel_columns;
      most = std::max(most, double(*std::max_element(phi, phi + panel_columns)));
    }
  EXPECT_GT(left_out, 100);
  EXPECT_LE(this->all_of(most), this->unseen());
}

}  // namespace
}  // namespace holdfast::clusterless_kde::HOLDFAST_ISA
