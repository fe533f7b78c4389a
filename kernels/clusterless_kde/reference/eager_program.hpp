// SPDX-License-Identifier: Apache-2.0
// The reference as an eager array program, the same for host and device: each verb is one pass over
// memory, nothing is fused or reused. README.md has the mathematics and the steps.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "arrays/arrays.hpp"
#include "clusterless_kde/problem/formulas.hpp"
#include "clusterless_kde/problem/options.hpp"
#include "clusterless_kde/reference/reference_data.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::clusterless_kde {

using arrays::Arena, arrays::Array, arrays::Arrays;

// One axis of a Gaussian kernel between samples [n] and points [w]: a position or a feature.
template <class T>
struct Axis {
  const T* samples = nullptr;
  const T* points = nullptr;
  double width = 1;  // standard deviation

  T inverse_width() const { return static_cast<T>(1 / width); }
  T scale() const { return static_cast<T>(1 / (width * sqrt_two_pi)); }
  T log_scale() const { return static_cast<T>(-std::log(width * sqrt_two_pi)); }
  Axis from(std::int64_t point) const { return {samples, points + point, width}; }
};

// The result, [T, P] or [T]: every update reads one buffer and writes the other.
template <class T>
class Output {
 public:
  Output(Backend& backend, std::int64_t size)
      : buffers_{Buffer<T>(backend, size, "out"), Buffer<T>(backend, size, "out")} {}

  T* now() const { return buffers_[current_].data(); }
  T* next() const { return buffers_[1 - current_].data(); }
  void flip() { current_ = 1 - current_; }
  std::int64_t size() const { return static_cast<std::int64_t>(buffers_[0].size()); }
  std::vector<T> to_host() const { return buffers_[current_].to_host(); }

 private:
  std::array<Buffer<T>, 2> buffers_;
  int current_ = 0;
};

template <class Verbs>
class EagerProgram {
 public:
  using T = Verbs::Value;
  using Row = Array<T>;

  EagerProgram(Verbs& verbs, Arena& arena, const Input& input, const Shape& shape,
               const Options& options, EncodingData<T>& seen)
      : on_(verbs, arena),
        input_(&input),
        shape_(&shape),
        options_(&options),
        seen_(&seen),
        block_(options.block > 0 ? options.block : 100) {}

  void encode();
  void decode(const DecodingData<T>& heard, Output<T>& out);
  void local(const DecodingData<T>& heard, Output<T>& out);

 private:
  using Axes = std::vector<Axis<T>>;

  Axes positions(const T* samples, std::int64_t n, const T* points, std::int64_t count) const {
    return axes(samples, n, points, count, input_->position_bandwidth);
  }
  Axes features(int electrode, const DecodingData<T>& heard) const {
    return axes(seen_->features(electrode), seen_->count(electrode), heard.features(electrode),
                heard.count(electrode), input_->feature_bandwidth);
  }
  static Axes axes(const T* samples, std::int64_t n, const T* points, std::int64_t count,
                   const std::vector<double>& widths) {
    Axes all;
    for (const double width : widths) {
      const auto axis = static_cast<std::int64_t>(all.size());
      all.push_back({samples + axis * n, points + axis * count, width});
    }
    return all;
  }

  double rate(int electrode) const {  // per position sample
    return static_cast<double>(seen_->count(electrode)) /
           static_cast<double>(std::max(shape_->samples, std::int64_t{1}));
  }

  // body(first, how many) for each block of `count`.
  template <class Body>
  void blocks(std::int64_t count, const Body& body) {
    for (std::int64_t first = 0; first < count; first += block_)
      body(first, std::min<std::int64_t>(block_, count - first));
  }

  // Runs a step on memory outside the arena.
  template <class Work>
  void run(const Work& work) {
    if (!on_.arena().rehearsing()) work();
  }

  // [n, w]: of each sample at each point.
  Row pdf(const Axis<T>& axis, std::int64_t n, std::int64_t w) {
    return on_.plane(on_.verbs().pdf, n * w, w, axis.samples, axis.points, axis.inverse_width(),
                     axis.scale());
  }
  Row log_pdf(const Axis<T>& axis, std::int64_t n, std::int64_t w) {
    return on_.plane(on_.verbs().log_pdf, n * w, w, axis.samples, axis.points, axis.inverse_width(),
                     axis.log_scale());
  }
  Row density(const Axes& axes, std::int64_t n, std::int64_t count);
  Row log_density(const Axes& axes, std::int64_t n, std::int64_t count);
  Row log_kernel(const Axes& axes, std::int64_t n, std::int64_t w, std::int64_t first = 0);
  void add_linear(int electrode, const DecodingData<T>& heard, Output<T>& out);
  void add_logarithmic(int electrode, const DecodingData<T>& heard, const Row& log_occupancy,
                       Output<T>& out);
  void add_to_rows(const Row& values, int electrode, const DecodingData<T>& heard, Output<T>& out);
  void replace(Row& values, Row& spare, const Row& part, std::int64_t first);

  Row log_marks(int electrode, const DecodingData<T>& heard, std::int64_t first, std::int64_t w);
  Row expanded_log_marks(int electrode, const DecodingData<T>& heard, std::int64_t first,
                         std::int64_t w);
  Row summed_logs(const Row& marks, const Row& places, std::int64_t n, std::int64_t w);
  Row multiplied_logs(const Row& marks, const Row& places, const Row& most, std::int64_t n,
                      std::int64_t w);

  Row local_rates(int electrode, const DecodingData<T>& heard, const Row& occupancy);

  Arrays<Verbs> on_;
  const Input* input_;
  const Shape* shape_;
  const Options* options_;
  EncodingData<T>* seen_;
  int block_;
};

// The kernel density of samples [n] at points [count], 1 + ceil(count / block) (4 + 2 axes) steps.
template <class Verbs>
Array<typename Verbs::Value> EagerProgram<Verbs>::density(const Axes& axes, std::int64_t n,
                                                          std::int64_t count) {
  Row all = on_.filled(count, 0);
  blocks(count, [&](std::int64_t first, std::int64_t w) {
    Row kernel = on_.filled(n * w, 1);
    for (const Axis<T>& axis : axes) kernel = on_.multiply(kernel, pdf(axis.from(first), n, w));
    const Row sum = on_.weighted_sum(seen_->weights(), kernel, n, w);
    all = on_.place(all, on_.divide(sum, n), first);
  });
  return all;
}

// Sum of log densities of samples [n] at the points [first, first + w); 1 + 2 axes steps.
template <class Verbs>
Array<typename Verbs::Value> EagerProgram<Verbs>::log_kernel(const Axes& axes, std::int64_t n,
                                                             std::int64_t w, std::int64_t first) {
  Row sum = on_.filled(n * w, 0);
  for (const Axis<T>& axis : axes) sum = on_.add(sum, log_pdf(axis.from(first), n, w));
  return sum;
}

template <class Verbs>
void EagerProgram<Verbs>::encode() {
  const std::int64_t samples = shape_->samples, bins = shape_->bins;
  const Row occupancy =
      density(positions(seen_->trajectory(), samples, seen_->places(), bins), samples, bins);
  Row ground = on_.made(bins, [&](T* out) { on_.verbs().clear(out, bins); });
  for (int e = 0; e < shape_->electrodes; ++e) {
    const std::int64_t n = seen_->count(e);
    const Row seen = density(positions(seen_->positions(e), n, seen_->places(), bins), n, bins);
    const Row ratio = on_.masked_ratio(seen, occupancy.data(), rate_floor);
    ground = on_.add(ground, on_.clip(on_.scale(ratio, rate(e)), rate_floor));
  }
  run([&] {
    on_.verbs().copy(occupancy.data(), seen_->occupancy().data(), bins);
    on_.verbs().copy(ground.data(), seen_->ground().data(), bins);
  });
}

template <class Verbs>
void EagerProgram<Verbs>::decode(const DecodingData<T>& heard, Output<T>& out) {
  run([&] {
    on_.verbs().negated_rows(seen_->ground().data(), out.next(), shape_->rows, shape_->bins);
    out.flip();
  });
  if (options_->algorithm == Algorithm::linear) {
    for (int e = 0; e < shape_->electrodes; ++e) add_linear(e, heard, out);
    return;
  }
  const Row log_occupancy = on_.log(seen_->occupancy().data(), shape_->bins);
  for (int e = 0; e < shape_->electrodes; ++e) add_logarithmic(e, heard, log_occupancy, out);
}

// One electrode in linear space: 7 + 2 d + ceil(m / block) (11 + 2 D) steps. Arrays live until the
// end of their scope, like an interpreter's variables.
template <class Verbs>
void EagerProgram<Verbs>::add_linear(int e, const DecodingData<T>& heard, Output<T>& out) {
  const std::int64_t n = seen_->count(e), m = heard.count(e), bins = shape_->bins;
  const T* occupancy = seen_->occupancy().data();
  const Row kernel =
      on_.exp(log_kernel(positions(seen_->positions(e), n, seen_->places(), bins), n, bins));
  Row values = on_.filled(m * bins, 0), spare(on_.arena(), m * bins);
  const Axes marks = features(e, heard);
  blocks(m, [&](std::int64_t first, std::int64_t w) {
    const Row mark_kernel = on_.exp(log_kernel(marks, n, w, first));
    Row rates = on_.product(mark_kernel, kernel, n, w, bins);
    rates = on_.divide(rates, n);
    rates = on_.divide_columns(rates, occupancy, bins);
    rates = on_.keep_columns(rates, occupancy, 0, bins);
    rates = on_.scale(rates, rate(e));
    rates = on_.select(on_.below(rates, rate_floor), rate_floor, rates);
    replace(values, spare, on_.log(rates), first);
  });
  run([&] { on_.verbs().clip(values.data(), T(log_rate_floor), spare.data(), values.size()); });
  add_to_rows(spare, e, heard, out);
}

// values <- a copy of values in which `part` begins at row `first`.
template <class Verbs>
void EagerProgram<Verbs>::replace(Row& values, Row& spare, const Row& part, std::int64_t first) {
  run([&] {
    const std::int64_t begin = first * shape_->bins;
    on_.verbs().place(values.data(), part.data(), begin, begin + part.size(), spare.data(),
                      values.size());
  });
  std::swap(values, spare);
}

// out <- out + the sum of each row's spikes: zeros, segment sum, add.
template <class Verbs>
void EagerProgram<Verbs>::add_to_rows(const Row& values, int e, const DecodingData<T>& heard,
                                      Output<T>& out) {
  const Row sums = on_.filled(out.size(), 0);
  run([&] {
    on_.verbs().segment_sum(values.data(), heard.rows(e), sums.data(), heard.count(e),
                            out.size() / shape_->rows);
    on_.verbs().add(out.now(), sums.data(), out.next(), out.size());
    out.flip();
  });
}

}  // namespace holdfast::clusterless_kde

#include "clusterless_kde/reference/eager_local.hpp"
#include "clusterless_kde/reference/eager_logarithmic.hpp"
