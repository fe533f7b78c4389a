// SPDX-License-Identifier: Apache-2.0
// From sums of Gaussians to occupancy, ground process and the tables of a decode.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "clusterless_kde/host_model.hpp"
#include "clusterless_kde/host_product.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {

template <class T>
class Finisher {
 public:
  Finisher(const Input& input, const HostSizes& sizes, Model<T>& model)
      : input_(input), sizes_(sizes), model_(model) {}

  // The bins from `first` on. Panels may be made by several threads.
  void panel(std::int64_t first) {
    if (sizes_.two_hop)
      finish_through_nodes(first);
    else
      finish(first, model_.trajectory_sum() + first, sizes_.pitch);
  }

  // How far it is, at most, from a spike to a bin or a node that it matters to.
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

  // Nodes outside of it add less, all together, than rounding takes from a rate at the floor.
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

  // Where the animal hardly ever was, e^beta stays a number; the range of T ends there anyway.
  double beta(std::int64_t p) const {
    constexpr double most = 0.68 * Format<T>::bias;
    const double o = model_.occupancy.data()[p];
    return o > 0 ? std::min(most, model_.log_mark_norm - std::log(o))
                 : -std::numeric_limits<double>::infinity();
  }

  // Of the bins of a panel; sums: [1 + E, panel], of the trajectory and of each electrode.
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

}  // namespace holdfast::clusterless_kde::HOLDFAST_ISA
