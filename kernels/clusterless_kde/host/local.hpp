// SPDX-License-Identifier: Apache-2.0
// The likelihood at the animal's own position: each decoding spike meets all encoding spikes of its
// electrode at a single place, so there is no matrix product.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "clusterless_kde/host/model.hpp"
#include "clusterless_kde/problem/follower.hpp"
#include "clusterless_kde/problem/preparation.hpp"
#include "host/flush_to_zero.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {

template <class T>
class LocalDecoder {
 public:
  LocalDecoder(Backend& backend, const Input& input, const HostSizes& sizes, const Options& options,
               const Model<T>& model)
      : input_(input),
        sizes_(sizes),
        options_(options),
        model_(model),
        terms_(backend, sizes.decoding, "terms"),
        heard_(backend, sizes.threads * rounded_up(sizes.features, panel_columns), "heard marks"),
        out_(backend, sizes.rows, "out") {}

  void step() {
    const Scope scope("local");
    order(input_, order_);
    const auto spikes = static_cast<std::int64_t>(order_.spikes.size());
    const std::int64_t parts = (spikes + at_a_time - 1) / at_a_time;
    const std::int64_t row_parts = (sizes_.rows + at_a_time - 1) / at_a_time;
    const int threads = static_cast<int>(sizes_.threads);
#pragma omp parallel num_threads(threads) if (sizes_.shared)
    {
      const FlushToZero<T> flush;
#pragma omp for schedule(dynamic)
      for (std::int64_t part = 0; part < parts; ++part)
        add_spikes(part * at_a_time, std::min((part + 1) * at_a_time, spikes));
#pragma omp for schedule(dynamic)
      for (std::int64_t part = 0; part < row_parts; ++part)
        add_rows(part * at_a_time, std::min((part + 1) * at_a_time, sizes_.rows));
    }
  }

  std::vector<double> result() const {
    return {out_.data(), out_.data() + out_.size()};
  }

 private:
  static constexpr int lanes = Lanes<T>::count;
  static constexpr std::int64_t at_a_time = 64;

  struct Place {
    double x[2] = {};
    T scaled[2] = {};
  };
  Place place(Follower& animal, double t) const {
    animal.go_to(t);
    Place at;
    for (int j = 0; j < input_.dimensions; ++j) {
      at.x[j] = animal.at(j);
      at.scaled[j] = model_.scaled_position(at.x[j], j);
    }
    return at;
  }

  void add_spikes(std::int64_t begin, std::int64_t end) {
    Follower animal(input_.decoding, input_.dimensions);
    for (std::int64_t s = begin; s < end; ++s) {
      const auto [e, index] = order_.spikes[s];
      const Place at = place(animal, input_.decoding_spikes[e].times[index]);
      const double o = occupancy(at);
      const Electrode& electrode = model_.electrodes[e];
      if (electrode.count == 0 || o <= 0) {
        terms_.data()[s] = log_rate_floor;
        continue;
      }
      const double term = log_joint(e, index, at) + model_.log_mark_norm - std::log(o);
      terms_.data()[s] = options_.local_floor ? std::max(log_rate_floor, term) : term;
    }
  }

  // ln of the sum over encoding spikes; the largest term is factored out, so it cannot underflow.
  double log_joint(int e, std::int64_t index, const Place& at) const {
    const Electrode& electrode = model_.electrodes[e];
    const double* features = input_.decoding_spikes[e].features.data() + index * input_.features;
    const double* center = model_.centers.data() + static_cast<std::int64_t>(e) * input_.features;
    const T* marks = model_.marks.data() + electrode.begin * input_.features;
    const T* positions = model_.positions.data() + electrode.begin * input_.dimensions;
    T* heard = heard_.data() + omp_get_thread_num() * rounded_up(input_.features, panel_columns);
    for (int f = 0; f < input_.features; ++f)
      heard[f] = T((features[f] - center[f]) * model_.feature_unit[f]);
    const auto exponent = [&](std::int64_t i) {
      Vector<T> sum = {};
      for (int j = 0; j < input_.dimensions; ++j) {
        const Vector<T> d = load(positions + j * electrode.padded + i) - at.scaled[j];
        sum -= d * d;
      }
      for (int f = 0; f < input_.features; ++f) {
        const Vector<T> d = load(marks + f * electrode.padded + i) - heard[f];
        sum -= d * d;
      }
      return sum;
    };
    Vector<T> most = exponent(0);
    for (std::int64_t i = lanes; i < electrode.padded; i += lanes) {
      const Vector<T> x = exponent(i);
      most = x > most ? x : most;
    }
    T largest = most[0];
    for (int k = 1; k < lanes; ++k) largest = std::max(largest, most[k]);
    Vector<T> sum = {};
    for (std::int64_t i = 0; i < electrode.padded; i += lanes)
      sum += exp2<T>(exponent(i) - largest);
    return (largest + std::log2(static_cast<double>(sum_of<T>(sum)))) / log2_of_e;
  }

  // O at any place.
  double occupancy(const Place& at) const {
    if (sizes_.through_nodes) return through_nodes(at, model_.trajectory_sum());
    return directly(at, model_.trajectory.data(), sizes_.trajectory_pitch());
  }
  // The sum of all electrodes' spikes' kernels; divided by O it is the expected rate.
  double all_spikes(const Place& at) const {
    if (sizes_.through_nodes) return through_nodes(at, model_.spike_sum());
    double sum = 0;
    for (const Electrode& e : model_.electrodes)
      sum += directly(at, model_.positions.data() + e.begin * input_.dimensions, e.padded);
    return sum;
  }

  double through_nodes(const Place& at, const double* sums) const {
    const auto seen = model_.kernel.at(at.x[0]);
    const Vector<T> numbers = counting<T>();
    double sum = 0;
    for (int q = 0; q < model_.kernel.count(); q += lanes) {
      const Vector<T> value = model_.kernel(seen, T(q), numbers);
      for (int k = 0; k < lanes; ++k) sum += value[k] * sums[q + k];
    }
    return model_.kernel.weight() * sum;
  }

  // positions: [d, pitch], padded with positions far from everywhere.
  double directly(const Place& at, const T* positions, std::int64_t pitch) const {
    double sum = 0;
    for (std::int64_t i = 0; i < pitch; i += panel_columns) {
      Vector<T> some = {};
      for (std::int64_t k = i; k < i + panel_columns; k += lanes) {
        Vector<T> exponent = {};
        for (int j = 0; j < input_.dimensions; ++j) {
          const Vector<T> d = load(positions + j * pitch + k) - at.scaled[j];
          exponent -= d * d;
        }
        some += exp2<T>(exponent);
      }
      sum += sum_of<T>(some);
    }
    return sum;
  }

  void add_rows(std::int64_t begin, std::int64_t end) {
    Follower animal(input_.decoding, input_.dimensions);
    for (std::int64_t row = begin; row < end; ++row) {
      const Place at = place(animal, input_.edges[row]);
      const double o = occupancy(at);
      double sum = o > 0 ? -all_spikes(at) / o : 0;
      for (std::int64_t s = order_.row_begin[row]; s < order_.row_begin[row + 1]; ++s)
        sum += terms_.data()[s];
      out_.data()[row] = sum;
    }
  }

  const Input& input_;
  const HostSizes& sizes_;
  const Options& options_;
  const Model<T>& model_;
  Order order_ = {};
  Buffer<double> terms_;  // by spike, in the order of rows
  Buffer<T> heard_;       // [threads, D]: of one decoding spike
  Buffer<double> out_;
};

}  // namespace holdfast::clusterless_kde::HOLDFAST_ISA
