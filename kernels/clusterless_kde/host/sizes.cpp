// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/host/sizes.hpp"

#include <algorithm>

#include "clusterless_kde/problem/chunks.hpp"
#include "clusterless_kde/variants.hpp"

namespace holdfast::clusterless_kde {
namespace {

constexpr std::int64_t most_sample_blocks = 32, least_samples_per_block = 512;

// These loops do ten times as much work as flops_worth_sharing assumes while a thread wakes: at
// small, a decode takes 70 us alone and 60 us shared, of 220 us in all.
constexpr double worth_sharing = 10 * flops_worth_sharing;

std::int64_t chosen(std::int64_t option, std::int64_t otherwise) {
  return option > 0 ? option : otherwise;
}

}  // namespace

HostSizes::HostSizes(const Shape& shape, const Plan& plan, Unit unit)
    : local(unit == Unit::local),
      two_hop(plan.path == Path::two_hop),
      through_nodes(local ? shape.dimensions == 1 : two_hop),
      cut(plan.options.cut && !two_hop),
      consume(plan.options.consume && !local),
      threads(host_limits().threads),
      electrodes(shape.electrodes),
      features(shape.features),
      dimensions(shape.dimensions),
      rows(shape.rows),
      bins(shape.bins),
      samples(shape.samples),
      encoding(shape.encoding_total()),
      decoding(shape.decoding_total()),
      pitch(rounded_up(shape.bins, panel_columns)),
      chunks(plan.options.chunks),
      chunk_rows(most_chunk_rows(plan.options.chunks, shape.rows)),
      chunk_spikes(plan.options.chunks > 1 ? plan.chunk_spikes : decoding) {
  const bool in_double = plan.range_fallback || plan.options.arithmetic == Arithmetic::f64;
  value_bytes = in_double ? 8 : 4;
  if (through_nodes)
    nodes = clusterless_kde::nodes(shape, in_double ? Precision::f64 : Precision::f32).count;
  std::int64_t longest = panel_columns;
  for (const std::int64_t n : shape.encoding) {
    padded_encoding += rounded_up(n, panel_columns);
    longest = std::max(longest, rounded_up(n, panel_columns));
  }
  samples_per_block =
      std::max(least_samples_per_block, (samples + most_sample_blocks - 1) / most_sample_blocks);
  sample_blocks = (samples + samples_per_block - 1) / samples_per_block;
  // Measured: larger dense tiles reuse computed values more, smaller ones stay in nearer caches.
  // Dense bins need no panels; the narrower their tiles, the more a cut skips.
  const std::int64_t step = two_hop ? panel_columns : panel_columns / 2;
  const std::int64_t tile = two_hop ? panel_columns : plan.options.cut ? step : 4 * panel_columns;
  block = std::min(chosen(plan.options.block, two_hop ? 96 : 192),
                   std::max<std::int64_t>(chunk_spikes, 1));
  encoding_tile =
      std::min(rounded_up(chosen(plan.options.encoding_tile, 128), panel_columns), longest);
  position_tile = std::min(rounded_up(chosen(plan.options.position_tile, tile), step), pitch);

  // Cost of a Gaussian, in multiply-adds.
  constexpr double exponential = 16;
  const double pairs = static_cast<double>(shape.pairs());
  const double through = static_cast<double>(decoding) * static_cast<double>(nodes * bins);
  const double direct =
      through_nodes ? 0 : exponential * static_cast<double>(rows * (samples + encoding));
  const double decode =
      exponential * pairs +
      (local ? direct
             : pairs * static_cast<double>(two_hop ? nodes : bins) + (two_hop ? through : 0.));
  shared = 2 * decode >= worth_sharing;
  const double places = static_cast<double>((samples + encoding) * sum_width());
  encode_shared = 2 * exponential * places >= worth_sharing;
}

std::int64_t HostSizes::tiles() const {
  const std::int64_t spikes = rounded_up(block * features, panel_columns) + block * encoding_tile;
  const std::int64_t values = two_hop ? 0 : encoding_tile * position_tile;
  const std::int64_t strip = (two_hop ? strip_rows : 0) * position_tile;
  return std::max(spikes + values, 2 * position_tile + strip);
}

std::int64_t HostSizes::model_bytes() const {
  const std::int64_t values =
      marks() + positions() + psi() + phi() + bin_coordinates() + shift() + ground() + trajectory();
  const std::int64_t doubles =
      kept_positions() + centers() + sums() + occupancy() + threads * finish_scratch();
  return value_bytes * values + 8 * doubles + 4 * spike_order() +
         static_cast<std::int64_t>(sizeof(PlacedSpike)) * sorted_spikes();
}

std::int64_t HostSizes::decode_bytes() const {
  return value_bytes * (scratch() + threads * tiles() + out()) + 4 * decoding +
         static_cast<std::int64_t>(sizeof(HostItem)) * items() + 16 * consumed();
}

std::int64_t host_estimate_bytes(const Shape& shape, const Plan& plan) {
  const HostSizes sizes(shape, plan, Unit::decode);
  return sizes.model_bytes() + sizes.decode_bytes();
}

}  // namespace holdfast::clusterless_kde
