// SPDX-License-Identifier: Apache-2.0
// The optimized host variant's model after encoding. Coordinates are in units in which a Gaussian
// is exp2(-x^2); kernels are not normalised, because rates and normalisers cancel (README).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "clusterless_kde/host/sizes.hpp"
#include "clusterless_kde/problem/formulas.hpp"
#include "clusterless_kde/problem/nodes.hpp"
#include "clusterless_kde/problem/preparation.hpp"
#include "clusterless_kde/problem/spike_cut.hpp"
#include "host/vectors.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {

using namespace host::HOLDFAST_ISA;

// A range of nodes or spikes, begin .. end - 1.
struct Band {
  int begin = 0, end = 0;
};

// The nodes, and exp2(-2 (u - q)^2) at all of them.
template <class T>
class NodeKernel {
 public:
  NodeKernel(const Nodes& nodes, double unit)
      : nodes_(nodes), unit_(std::sqrt(2.) * unit), spacing_(T(nodes.spacing * unit_)) {}

  // A position relative to its nearest node, which keeps it accurate in single precision.
  struct At {
    T beyond = 0;   // in units
    T nearest = 0;  // that node's number
  };
  At at(double position) const {
    const double nearest = std::round((position - nodes_.first) / nodes_.spacing);
    return {T((position - nodes_.at(0) - nearest * nodes_.spacing) * unit_), T(nearest)};
  }
  // Values at nodes q .. q + lanes - 1; `number`: 0, 1, 2 ..
  Vector<T> operator()(const At& at, T q, Vector<T> number) const {
    const Vector<T> distance = at.beyond - (number + (q - at.nearest)) * spacing_;
    return exp2<T>(-(distance * distance));
  }
  int count() const { return nodes_.count; }
  double weight() const { return nodes_.weight; }
  double distance(double position, int q) const { return (position - nodes_.at(q)) * unit_; }
  // Nodes within a distance, in units, of the positions from `low` to `high`, in whole steps.
  Band within(double low, double high, double distance) const {
    constexpr int step = 16;
    const double reach = distance / unit_;
    const double begin = std::floor((low - reach - nodes_.first) / nodes_.spacing);
    const double end = std::ceil((high + reach - nodes_.first) / nodes_.spacing) + 1;
    const double most = nodes_.count;
    return {static_cast<int>(std::clamp(begin, 0., most - 1)) / step * step,
            (static_cast<int>(std::clamp(end, 1., most)) + step - 1) / step * step};
  }

 private:
  Nodes nodes_;
  double unit_;
  T spacing_;
};

template <class T>
Vector<T> counting() {
  Vector<T> numbers;
  for (int k = 0; k < Lanes<T>::count; ++k) numbers[k] = T(k);
  return numbers;
}

// Location of an electrode's encoding spikes in the model's arrays.
struct Electrode {
  std::int64_t count = 0;  // n
  std::int64_t padded = 0;
  std::int64_t begin = 0;      // among the padded
  std::int64_t psi_begin = 0;  // row of psi
};

template <class T>
struct Model {
  // A padding spike's position: its square is finite, its Gaussian 0 everywhere.
  static constexpr T far_position = T(1e15);

  Model(Backend& backend, const Input& input, const Shape& shape, const HostSizes& sizes);

  T scaled_position(double x, int axis) const {
    return T((x - origin[axis]) * position_unit[axis]);
  }

  // Sums over the whole trajectory, which those of the electrodes follow; sums over the spikes of
  // all electrodes.
  double* trajectory_sum() const { return sums.data() + sample_blocks * sum_width; }
  double* spike_sum() const { return sums.data() + sums.size() - sum_width; }

  // The squared distance, in units, beyond which n spikes together change no sum above the floor by
  // more than cut_part of it: that small are their Gaussians beside e^lowest_floor.
  double cut_radius_squared(std::int64_t n) const {
    return (std::log(static_cast<double>(n) / cut_part<T>) - lowest_floor) * log2_of_e;
  }

  // The part of a node's total that no rate at the floor shows after rounding, even with phi's
  // greatest value at every node and from every spike.
  double least_part(double greatest_phi) const {
    return rate_floor * std::numeric_limits<T>::epsilon() /
           (static_cast<double>(kernel.count()) * static_cast<double>(most_spikes) * greatest_phi);
  }
  // The nodes that matter to `count` encoding spikes from the padded spike `first` on.
  Band band_of(std::int64_t first, std::int64_t count) const {
    const double* x = kept_positions.data() + first;
    const auto [low, high] = std::minmax_element(x, x + count);
    return kernel.within(*low, *high, node_reach);
  }

  std::int64_t sample_blocks = 0, sum_width = 0;
  double node_reach = 0;                   // in the kernel's units
  double lowest_floor = 0;                 // the smallest ln rate_floor - beta over all bins
  std::vector<Electrode> electrodes = {};  // [E]
  std::vector<Band> bands;                 // [panels]: nodes that matter to a panel's bins
  std::int64_t most_spikes = 0;            // of an electrode
  NodeKernel<T> kernel;
  double position_unit[2] = {}, origin[2] = {};
  std::vector<double> feature_unit = {};  // [D]
  double log_mark_norm = 0;               // lcw
  double position_norm = 1;               // normalises the Gaussians of positions

  Buffer<double> kept_positions;     // of the padded spikes, [d] each
  Buffer<double> centers;            // [E, D]: origin of the marks
  Buffer<T> marks;                   // per electrode [D, padded]
  Buffer<T> positions;               // per electrode [d, padded], if psi is not kept
  Buffer<T> psi;                     // [N, Q]
  Buffer<T> phi;                     // [panel, Q, panel_columns], with exp(beta)
  Buffer<T> bin_coordinates, shift;  // [d, pitch], [pitch]: beta, dense
  Buffer<T> trajectory;              // [d, K]
  Buffer<T> minus_ground;            // [pitch]
  Buffer<double> occupancy;          // O [pitch]
  Buffer<double> sums;               // of kernels, [sample blocks + 1 + E + 1, width]
  Buffer<double> scratch;            // per thread
};

template <class T>
Model<T>::Model(Backend& backend, const Input& input, const Shape& shape, const HostSizes& sizes)
    : sample_blocks(sizes.sample_blocks),
      sum_width(sizes.sum_width()),
      bands(sizes.phi() > 0 ? sizes.pitch / panel_columns : 0),
      kernel(sizes.through_nodes ? nodes(shape, sizes.precision()) : Nodes{},
             gaussian_unit(input.position_bandwidth[0])),
      kept_positions(backend, sizes.kept_positions(), "positions of encoding spikes"),
      centers(backend, sizes.centers(), "centres of marks"),
      marks(backend, sizes.marks(), "marks"),
      positions(backend, sizes.positions(), "positions"),
      psi(backend, sizes.psi(), "psi"),
      phi(backend, sizes.phi(), "phi"),
      bin_coordinates(backend, sizes.bin_coordinates(), "bins"),
      shift(backend, sizes.shift(), "bins"),
      trajectory(backend, sizes.trajectory(), "trajectory"),
      minus_ground(backend, sizes.ground(), "ground"),
      occupancy(backend, sizes.occupancy(), "occupancy"),
      sums(backend, sizes.sums(), "sums of kernels"),
      scratch(backend, sizes.threads * sizes.finish_scratch(), "encoding tiles") {
  Electrode next;
  for (const std::int64_t n : shape.encoding) {
    next.count = n;
    most_spikes = std::max(most_spikes, n);
    next.padded = rounded_up(n, panel_columns);
    electrodes.push_back(next);
    next.begin += next.padded;
    next.psi_begin += n;
  }
  const int d = input.dimensions;
  for (int j = 0; j < d; ++j) {
    position_unit[j] = gaussian_unit(input.position_bandwidth[j]);
    position_norm *= input.position_bandwidth[j] * sqrt_two_pi;
    double low = input.places[j], high = low;
    for (std::size_t p = j; p < input.places.size(); p += d) {
      low = std::min(low, input.places[p]);
      high = std::max(high, input.places[p]);
    }
    origin[j] = (low + high) / 2;
  }
  log_mark_norm = clusterless_kde::log_mark_norm(input);
  for (const double s : input.feature_bandwidth) feature_unit.push_back(gaussian_unit(s));
  std::fill_n(marks.data(), marks.size(), T(0));
  std::fill_n(positions.data(), positions.size(), far_position);
  std::fill_n(trajectory.data(), trajectory.size(), far_position);
  std::fill_n(bin_coordinates.data(), bin_coordinates.size(), T(0));
}

}  // namespace holdfast::clusterless_kde::HOLDFAST_ISA
