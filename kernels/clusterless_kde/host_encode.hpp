// SPDX-License-Identifier: Apache-2.0
// Encoding: sums of Gaussians over encoding spikes and over the trajectory, at nodes or at bins,
// and what follows from them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "clusterless_kde/host_finish.hpp"
#include "clusterless_kde/host_model.hpp"
#include "clusterless_kde/host_spikes.hpp"
#include "runtime/flush_to_zero.hpp"
#include "runtime/scope.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {

template <class T>
class Encoder {
 public:
  Encoder(const Input& input, const HostSizes& sizes, const Options& options, Model<T>& model)
      : input_(input),
        sizes_(sizes),
        model_(model),
        placer_(input, sizes, options, model),
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
  // So many values are added in T, then in double.
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

  // sums [width] = sums over `count` positions of their kernels at all nodes or all bins; the
  // former are kept in psi [count, Q], unless it is null.
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

  // Of the trajectory's blocks, and of all electrodes.
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
