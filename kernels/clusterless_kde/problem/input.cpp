// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/problem/input.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "runtime/base/error.hpp"

namespace holdfast::clusterless_kde {
namespace {

template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw Error(Fault::bad_input, text(parts...));
}

void check_finite(std::string_view what, const std::vector<double>& values) {
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!std::isfinite(values[k]))
      refuse("non-finite ", what, ": value ", k, " is ", values[k], "; remove it before decoding");
}

// `what` is plural: "time edges" or "position times".
void check_increasing(std::string_view what, const std::vector<double>& times) {
  if (times.size() < 2)
    refuse(what, ": ", times.size(), " given, at least 2 are needed to make an interval");
  check_finite(what, times);
  for (std::size_t k = 1; k < times.size(); ++k)
    if (times[k] <= times[k - 1])
      refuse(what, " must increase: number ", k, " is ", times[k], " after ", times[k - 1]);
}

void check_trajectory(std::string_view phase, const Trajectory& trajectory, int dimensions) {
  check_increasing(text("position times of the ", phase, " trajectory"), trajectory.times);
  if (trajectory.positions.size() != trajectory.times.size() * dimensions)
    refuse("position times of the ", phase, " trajectory: ", trajectory.times.size(),
           " times, but ", trajectory.positions.size(), " coordinates where each time has ",
           dimensions);
  check_finite(text("positions of the ", phase, " trajectory"), trajectory.positions);
}

void check_bandwidth(std::string_view what, const std::vector<double>& widths) {
  for (std::size_t k = 0; k < widths.size(); ++k)
    if (!std::isfinite(widths[k]) || widths[k] <= 0)
      refuse(what, " bandwidth ", k, " is ", widths[k], "; a Gaussian's width is positive");
}

void check_spikes(std::string_view phase, int electrode, const Spikes& spikes, int features) {
  const auto of = [&](std::string_view what) {
    return text(what, " of electrode ", electrode, ", ", phase);
  };
  if (spikes.features.size() != spikes.times.size() * features)
    refuse(of("feature count"), ": ", spikes.features.size(), " values for ", spikes.times.size(),
           " spikes of ", features, " features each; both phases and the bandwidths must agree");
  check_finite(of("spike times"), spikes.times);
  for (std::size_t k = 0; k < spikes.features.size(); ++k)
    if (!std::isfinite(spikes.features[k]))
      refuse("non-finite ", of("features"), ": spike ", k / features, ", feature ", k % features,
             " is ", spikes.features[k], "; remove the spike before decoding");
}

void check_sorted(int electrode, const std::vector<double>& times) {
  for (std::size_t k = 1; k < times.size(); ++k)
    if (times[k] < times[k - 1])
      refuse("decoding spikes of electrode ", electrode, " are not sorted: spike ", k, " at ",
             times[k], " s comes after ", times[k - 1], " s; sort them with their features");
}

void check_grid(const Input& input) {
  const int d = input.dimensions;
  if (d != 1 && d != 2) refuse("positions have ", d, " dimensions; 1 and 2 can be decoded");
  if (input.places.empty())
    refuse("no place bins: the grid has no interior bin; fit it to the track first");
  if (input.places.size() % d != 0)
    refuse("no place bins of ", d, " coordinates each can be made of ", input.places.size(),
           " values");
  check_finite("centres of place bins", input.places);
  if (input.position_bandwidth.size() != static_cast<std::size_t>(d))
    refuse("position bandwidth: ", input.position_bandwidth.size(), " values for ", d,
           " dimensions");
  check_bandwidth("position", input.position_bandwidth);
}

}  // namespace

void check(const Input& input) {
  check_grid(input);
  if (input.features < 1) refuse("feature count ", input.features, ": a spike has at least one");
  if (input.feature_bandwidth.size() != static_cast<std::size_t>(input.features))
    refuse("feature count: ", input.feature_bandwidth.size(), " bandwidths for ", input.features,
           " features");
  check_bandwidth("feature", input.feature_bandwidth);
  check_increasing("time edges", input.edges);
  check_trajectory("encoding", input.encoding, input.dimensions);
  check_trajectory("decoding", input.decoding, input.dimensions);
  if (input.encoding_spikes.empty()) refuse("no electrodes: give the spikes of at least one");
  if (input.decoding_spikes.size() != input.encoding_spikes.size())
    refuse("decoding spikes of ", input.decoding_spikes.size(), " electrodes, encoding spikes of ",
           input.encoding_spikes.size(), "; both phases have the same electrodes");
  for (int e = 0; e < input.electrodes(); ++e) {
    check_spikes("encoding", e, input.encoding_spikes[e], input.features);
    check_spikes("decoding", e, input.decoding_spikes[e], input.features);
    check_sorted(e, input.decoding_spikes[e].times);
  }
}

Input other_input(Input input, bool encodes) {
  const auto opposite = [](std::vector<double>& rows, int width) {
    const auto count = rows.size() / static_cast<std::size_t>(width);
    for (std::size_t i = 0; i < count / 2; ++i)
      std::swap_ranges(rows.begin() + static_cast<std::ptrdiff_t>(i * width),
                       rows.begin() + static_cast<std::ptrdiff_t>((i + 1) * width),
                       rows.begin() + static_cast<std::ptrdiff_t>((count - 1 - i) * width));
  };
  for (Spikes& spikes : input.decoding_spikes) opposite(spikes.features, input.features);
  if (encodes) opposite(input.encoding.positions, input.dimensions);
  return input;
}

void interpolate(const Trajectory& trajectory, int dimensions, double t, std::span<double> at) {
  const std::vector<double>& times = trajectory.times;
  const auto after = std::upper_bound(times.begin() + 1, times.end() - 1, t);
  const std::size_t j = static_cast<std::size_t>(after - times.begin()) - 1;
  const double share = (t - times[j]) / (times[j + 1] - times[j]);
  const double* x = trajectory.positions.data() + j * dimensions;
  for (int k = 0; k < dimensions; ++k) at[k] = x[k] + share * (x[k + dimensions] - x[k]);
}

}  // namespace holdfast::clusterless_kde
