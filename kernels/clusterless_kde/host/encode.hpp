// SPDX-License-Identifier: Apache-2.0
// Encoding: spikes as the model keeps them, sums of Gaussians over encoding spikes and over the
// trajectory, at nodes or at bins, and the occupancy, ground process and tables of a decode derived
// from them.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "clusterless_kde/host/model.hpp"
#include "clusterless_kde/host/product.hpp"
#include "clusterless_kde/problem/follower.hpp"
#include "host/flush_to_zero.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {

// Fills the model's encoding spikes: positions, order, and marks in units.
template <class T>
class SpikePlacer {
 public:
  SpikePlacer(Backend& backend, const Input& input, const HostSizes& sizes, const Options& options,
              Model<T>& model)
      : input_(input),
        centered_(options.distance == Distance::difference),
        model_(model),
        order_(backend, sizes.spike_order(), "order of encoding spikes"),
        sorted_(backend, sizes.sorted_spikes(), "order of encoding spikes") {}

  // Safe to call from several threads, each with its own electrodes.
  void operator()(int e) {
    const Electrode& electrode = model_.electrodes[e];
    keep(e);
    if (sorted_.size() > 0) sort(electrode);
    scale_marks(e);
    if (model_.positions.size() == 0) return;
    const double* at = model_.kept_positions.data() + electrode.begin * input_.dimensions;
    T* positions = model_.positions.data() + electrode.begin * input_.dimensions;
    for (int j = 0; j < input_.dimensions; ++j)
      for (std::int64_t i = 0; i < electrode.count; ++i)
        positions[j * electrode.padded + i] =
            model_.scaled_position(at[i * input_.dimensions + j], j);
  }

 private:
  // Positions and indices of the spikes that lie within the trajectory's time.
  void keep(int e) {
    double* at = model_.kept_positions.data() + model_.electrodes[e].begin * input_.dimensions;
    std::int32_t* order = order_.data() + model_.electrodes[e].begin;
    const std::vector<double>& times = input_.encoding_spikes[e].times;
    const double first = input_.encoding.times.front(), last = input_.encoding.times.back();
    Follower animal(input_.encoding, input_.dimensions);
    std::int64_t count = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (times[i] < first || times[i] > last) continue;
      animal.go_to(times[i]);
      for (int j = 0; j < input_.dimensions; ++j) at[count * input_.dimensions + j] = animal.at(j);
      order[count++] = static_cast<std::int32_t>(i);
    }
  }

  // Along the track; in a plane by strips four units wide.
  void sort(const Electrode& electrode) {
    const int d = input_.dimensions;
    double* at = model_.kept_positions.data() + electrode.begin * d;
    std::int32_t* order = order_.data() + electrode.begin;
    const std::span spikes(sorted_.data() + electrode.begin, electrode.count);
    for (std::int64_t i = 0; i < electrode.count; ++i) {
      PlacedSpike& spike = spikes[i];
      for (int j = 0; j < d; ++j) spike.at[j] = at[i * d + j];
      spike.strip = d == 1 ? 0 : std::floor(spike.at[0] * model_.position_unit[0] / 4);
      spike.along = spike.at[d - 1];
      spike.index = order[i];
    }
    std::ranges::sort(spikes, {}, [](const PlacedSpike& spike) {
      return std::tuple(spike.strip, spike.along, spike.index);
    });
    for (std::int64_t i = 0; i < electrode.count; ++i) {
      for (int j = 0; j < d; ++j) at[i * d + j] = spikes[i].at[j];
      order[i] = spikes[i].index;
    }
  }

  // Marks are relative to one of the spikes, so that rounding is relative to differences, not to
  // offsets; except where distances are expanded, a form kept to show what it costs.
  void scale_marks(int e) {
    const Electrode& electrode = model_.electrodes[e];
    const std::int32_t* order = order_.data() + electrode.begin;
    const double* features = input_.encoding_spikes[e].features.data();
    double* center = model_.centers.data() + static_cast<std::int64_t>(e) * input_.features;
    T* marks = model_.marks.data() + electrode.begin * input_.features;
    for (int f = 0; f < input_.features; ++f) {
      center[f] = centered_ && electrode.count > 0 ? features[order[0] * input_.features + f] : 0;
      for (std::int64_t i = 0; i < electrode.count; ++i)
        marks[f * electrode.padded + i] =
            T((features[static_cast<std::int64_t>(order[i]) * input_.features + f] - center[f]) *
              model_.feature_unit[f]);
    }
  }

  const Input& input_;
  bool centered_;
  Model<T>& model_;
  Buffer<std::int32_t> order_;  // [padded encoding spikes]: indices in their electrode's
  Buffer<PlacedSpike> sorted_;  // the same, of a cut
};

// Derives occupancy, ground process and the tables of a decode from sums of Gaussians.
template <class T>
class Finisher {
 public:
  Finisher(const Input& input, const HostSizes& sizes, Model<T>& model)
      : input_(input), sizes_(sizes), model_(model) {}

  // Processes the bins of the panel at `first`. Several threads may call it, each with its own
  // panels.
  void panel(std::int64_t first) {
    if (sizes_.two_hop)
      finish_through_nodes(first);
    else
      finish(first, model_.trajectory_sum() + first, sizes_.pitch);
  }

  // Sets lowest_floor and node_reach, which bound how far a spike matters to bins and to nodes.
  void find_reach() {
    model_.lowest_floor = 0;
    for (std::int64_t p = 0; p < sizes_.bins; ++p)
      if (model_.occupancy.data()[p] > 0)
        model_.lowest_floor = std::min(model_.lowest_floor, log_rate_floor - beta(p));
    if (!sizes_.two_hop) return;
    // phi is at most its weight times the greatest e^beta.
    const double greatest = model_.kernel.weight() * std::exp(log_rate_floor - model_.lowest_floor);
    model_.node_reach = std::sqrt(std::max(0., -std::log2(model_.least_part(greatest))));
  }

 private:
  // phi, then O and all electrodes' sums at the bins of a panel.
  void finish_through_nodes(std::int64_t first) {
    const int nodes = model_.kernel.count(), rows = static_cast<int>(1 + sizes_.electrodes);
    double* phi = model_.scratch.data() + omp_get_thread_num() * sizes_.finish_scratch();
    double* at_bins = phi + nodes * panel_columns;
    fill_phi(first, phi);
    std::fill_n(at_bins, rows * panel_columns, 0.);
    for (int row = 0; row < rows; row += product_rows) {
      double* c[product_rows];
      const int some = std::min(product_rows, rows - row);
      for (int r = 0; r < some; ++r) c[r] = at_bins + (row + r) * panel_columns;
      multiply<double>({.depth = nodes,
                        .a = model_.trajectory_sum() + row * nodes,
                        .a_pitch = nodes,
                        .b = phi,
                        .b_pitch = panel_columns},
                       some, panel_columns, c);
    }
    finish(first, at_bins, panel_columns);
    for (std::int64_t p = 0; p < panel_columns; ++p) at_bins[p] = std::exp(beta(first + p));
    for (int q = 0; q < nodes; ++q)
      for (std::int64_t p = 0; p < panel_columns; ++p)
        model_.phi.data()[first * nodes + q * panel_columns + p] =
            T(phi[q * panel_columns + p] * at_bins[p]);
    model_.bands[first / panel_columns] = band_of(model_.phi.data() + first * nodes);
  }

  // The nodes outside this band add less, all together, than rounding takes from a rate at the
  // floor.
  Band band_of(const T* phi) const {
    const int nodes = model_.kernel.count();
    const double least = model_.least_part(1);
    const auto matters = [&](int q) {
      const T* values = phi + q * panel_columns;
      return *std::max_element(values, values + panel_columns) > least;
    };
    Band band = {0, nodes};
    while (band.begin < nodes && !matters(band.begin)) ++band.begin;
    while (band.end > band.begin && !matters(band.end - 1)) --band.end;
    return band;
  }

  void fill_phi(std::int64_t first, double* phi) {
    const int nodes = model_.kernel.count();
    for (std::int64_t p = 0; p < panel_columns; ++p) {
      const std::int64_t bin = std::min(first + p, sizes_.bins - 1);
      for (int q = 0; q < nodes; ++q) {
        const double distance = model_.kernel.distance(input_.places[bin], q);
        phi[q * panel_columns + p] = -distance * distance;
      }
    }
    const Vector<double> weight = everywhere(model_.kernel.weight());
    for (std::int64_t k = 0; k < nodes * panel_columns; k += Lanes<double>::count)
      store(phi + k, weight * exp2<double>(load(phi + k)));
  }

  // Where the animal hardly ever was, e^beta is kept finite; the range of T ends there anyway.
  double beta(std::int64_t p) const {
    constexpr double most = 0.68 * Format<T>::bias;
    const double o = model_.occupancy.data()[p];
    return o > 0 ? std::min(most, model_.log_mark_norm - std::log(o))
                 : -std::numeric_limits<double>::infinity();
  }

  // Finishes a panel's bins; sums: [1 + E, panel], of the trajectory and of each electrode.
  void finish(std::int64_t first, const double* sums, std::int64_t pitch) {
    for (std::int64_t p = 0; p < panel_columns; ++p) {
      const double o = sums[p];
      double ground = 0;
      for (int e = 0; e < sizes_.electrodes; ++e) {
        const double rate =
            static_cast<double>(model_.electrodes[e].count) / static_cast<double>(sizes_.samples);
        ground += std::max(rate_floor, o > 0 ? sums[(1 + e) * pitch + p] / o : rate * rate_floor);
      }
      model_.occupancy.data()[first + p] = o;
      model_.minus_ground.data()[first + p] = T(-ground);
      if (model_.shift.size() > 0) model_.shift.data()[first + p] = T(beta(first + p) * log2_of_e);
    }
  }

  const Input& input_;
  const HostSizes& sizes_;
  Model<T>& model_;
};

template <class T>
class Encoder {
 public:
  Encoder(Backend& backend, const Input& input, const HostSizes& sizes, const Options& options,
          Model<T>& model)
      : input_(input),
        sizes_(sizes),
        model_(model),
        placer_(backend, input, sizes, options, model),
        finisher_(input, sizes, model) {}

  void operator()() {
    const Scope scope("encode");
    if (model_.bin_coordinates.size() > 0) place_bins();
    const int threads = static_cast<int>(sizes_.threads);
    const std::int64_t parts = sizes_.electrodes + sizes_.sample_blocks;
    const std::int64_t panels = sizes_.local ? 0 : sizes_.pitch / panel_columns;
#pragma omp parallel num_threads(threads) if (sizes_.encode_shared)
    {
      const FlushToZero<T> flush;
#pragma omp for schedule(dynamic)
      for (std::int64_t part = 0; part < parts; ++part) {
        if (part < sizes_.sample_blocks)
          sum_samples(part);
        else
          place_electrode(static_cast<int>(part - sizes_.sample_blocks));
      }
#pragma omp single
      if (sizes_.sums() > 0) add_up();
#pragma omp for schedule(dynamic)
      for (std::int64_t panel = 0; panel < panels; ++panel) finisher_.panel(panel * panel_columns);
    }
    if (!sizes_.local) finisher_.find_reach();
  }

 private:
  static constexpr int lanes = Lanes<T>::count;
  // This many values are summed in T, such sums in double.
  static constexpr std::int64_t short_sum = 32;

  double* sum_of_block(std::int64_t b) const {
    return model_.sums.data() + b * sizes_.sum_width();
  }
  double* sum_of_electrode(int e) const {
    return model_.trajectory_sum() + (1 + e) * sizes_.sum_width();
  }

  void place_bins() {
    const int d = input_.dimensions;
    for (int j = 0; j < d; ++j)
      for (std::int64_t p = 0; p < sizes_.bins; ++p)
        model_.bin_coordinates.data()[j * sizes_.pitch + p] =
            model_.scaled_position(input_.places[p * d + j], j);
  }

  void sum_samples(std::int64_t block) {
    const std::int64_t begin = block * sizes_.samples_per_block;
    const std::int64_t end = std::min(begin + sizes_.samples_per_block, sizes_.samples);
    const double* x = input_.encoding.positions.data();
    if (model_.trajectory.size() > 0) {
      for (int j = 0; j < input_.dimensions; ++j)
        for (std::int64_t k = begin; k < end; ++k)
          model_.trajectory.data()[j * sizes_.trajectory_pitch() + k] =
              model_.scaled_position(x[k * input_.dimensions + j], j);
      return;
    }
    add_kernels(x + begin * input_.dimensions, end - begin, nullptr, sum_of_block(block));
  }

  void place_electrode(int e) {
    placer_(e);
    if (sizes_.sums() == 0) return;
    const Electrode& electrode = model_.electrodes[e];
    T* psi =
        model_.psi.size() > 0 ? model_.psi.data() + electrode.psi_begin * sizes_.nodes : nullptr;
    add_kernels(model_.kept_positions.data() + electrode.begin * input_.dimensions, electrode.count,
                psi, sum_of_electrode(e));
  }

  // sums [width] = sums over `count` positions of their kernels at all nodes or all bins; values at
  // nodes are stored in psi [count, Q] unless it is null.
  void add_kernels(const double* at, std::int64_t count, T* psi, double* sums) {
    std::fill_n(sums, sizes_.sum_width(), 0.);
    for (std::int64_t i = 0; i < count; i += short_sum) {
      const std::int64_t some = std::min(short_sum, count - i);
      if (sizes_.through_nodes)
        add_at_nodes(at + i, some, psi ? psi + i * sizes_.nodes : nullptr, sums);
      else
        add_at_bins(at + i * input_.dimensions, some, sums);
    }
  }

  void add_at_nodes(const double* at, std::int64_t count, T* psi, double* sums) {
    typename NodeKernel<T>::At seen[short_sum];
    for (std::int64_t i = 0; i < count; ++i) seen[i] = model_.kernel.at(at[i]);
    const Vector<T> numbers = counting<T>();
    for (int q = 0; q < model_.kernel.count(); q += lanes) {
      Vector<T> sum = {};
      for (std::int64_t i = 0; i < count; ++i) {
        const Vector<T> value = model_.kernel(seen[i], T(q), numbers);
        if (psi) store(psi + i * sizes_.nodes + q, value);
        sum += value;
      }
      for (int k = 0; k < lanes; ++k) sums[q + k] += sum[k];
    }
  }

  void add_at_bins(const double* at, std::int64_t count, double* sums) {
    const int d = input_.dimensions;
    T seen[2][short_sum];
    for (std::int64_t i = 0; i < count; ++i)
      for (int j = 0; j < d; ++j) seen[j][i] = model_.scaled_position(at[i * d + j], j);
    const T* bins = model_.bin_coordinates.data();
    for (std::int64_t p = 0; p < sizes_.pitch; p += lanes) {
      Vector<T> sum = {};
      const Vector<T> x = load(bins + p);
      if (d == 1) {
        for (std::int64_t i = 0; i < count; ++i)
          sum += exp2<T>(-(x - seen[0][i]) * (x - seen[0][i]));
      } else {
        const Vector<T> y = load(bins + sizes_.pitch + p);
        for (std::int64_t i = 0; i < count; ++i) {
          const Vector<T> dx = x - seen[0][i], dy = y - seen[1][i];
          sum += exp2<T>(-(dx * dx) - dy * dy);
        }
      }
      for (int k = 0; k < lanes; ++k) sums[p + k] += sum[k];
    }
  }

  // Totals over the trajectory's blocks, and over all electrodes.
  void add_up() {
    const std::int64_t width = sizes_.sum_width();
    double *trajectory = model_.trajectory_sum(), *spikes = model_.spike_sum();
    std::fill_n(trajectory, width, 0.);
    std::fill_n(spikes, width, 0.);
    for (std::int64_t b = 0; b < sizes_.sample_blocks; ++b)
      for (std::int64_t k = 0; k < width; ++k) trajectory[k] += sum_of_block(b)[k];
    for (int e = 0; e < sizes_.electrodes; ++e)
      for (std::int64_t k = 0; k < width; ++k) spikes[k] += sum_of_electrode(e)[k];
  }

  const Input& input_;
  const HostSizes& sizes_;
  Model<T>& model_;
  SpikePlacer<T> placer_;
  Finisher<T> finisher_;
};

}  // namespace holdfast::clusterless_kde::HOLDFAST_ISA
