// SPDX-License-Identifier: Apache-2.0
// The decode in log space, two ways: a log-sum-exp for every spike and place (log_sum_exp), and one
// matrix product of kernels divided by each encoding spike's maxima (matmul). Part of
// eager_program.hpp.
#pragma once

#include "clusterless_kde/reference/eager_program.hpp"

namespace holdfast::clusterless_kde {

// At rate zero the floor replaces the whole logarithm, including ln r - ln o. Replacing only the
// marginal would lift impossible places above improbable ones.
template <class Verbs>
void EagerProgram<Verbs>::add_logarithmic(int e, const DecodingData<T>& heard,
                                          const Row& log_occupancy, Output<T>& out) {
  const std::int64_t n = seen_->count(e), m = heard.count(e), bins = shape_->bins;
  const T* occupancy = seen_->occupancy().data();
  const Row places = log_kernel(positions(seen_->positions(e), n, seen_->places(), bins), n, bins);
  const bool multiplied = options_->algorithm == Algorithm::matmul;
  const Row most = multiplied ? on_.row_maximum(places, n) : Row(on_.arena(), 0);
  Row values = on_.filled(m * bins, 0), spare(on_.arena(), m * bins);
  blocks(m, [&](std::int64_t first, std::int64_t w) {
    if (n == 0) return replace(values, spare, on_.filled(w * bins, log_rate_floor), first);
    const Row marks = log_marks(e, heard, first, w);
    Row logs =
        multiplied ? multiplied_logs(marks, places, most, n, w) : summed_logs(marks, places, n, w);
    logs = on_.subtract_columns(logs, log_occupancy.data(), bins);
    logs = on_.shift(logs, std::log(rate(e)));
    logs = on_.keep_columns(logs, occupancy, log_rate_floor, bins);
    replace(values, spare, on_.clip(logs, log_rate_floor), first);
  });
  add_to_rows(values, e, heard, out);
}

// ln Kw [n, w] of the spikes [first, first + w).
template <class Verbs>
Array<typename Verbs::Value> EagerProgram<Verbs>::log_marks(int e, const DecodingData<T>& heard,
                                                            std::int64_t first, std::int64_t w) {
  if (options_->distance == Distance::difference)
    return log_kernel(features(e, heard), seen_->count(e), w, first);
  return expanded_log_marks(e, heard, first, w);
}

// Computed as |y|^2 + |z|^2 - 2 y z, in units of the widths and clamped at 0; cancellation can be
// complete.
template <class Verbs>
Array<typename Verbs::Value> EagerProgram<Verbs>::expanded_log_marks(int e,
                                                                     const DecodingData<T>& heard,
                                                                     std::int64_t first,
                                                                     std::int64_t w) {
  const std::int64_t n = seen_->count(e), m = heard.count(e), features = shape_->features;
  const auto in_widths = [&](const T* from, std::int64_t pitch, std::int64_t count) {
    return on_.made(features * count, [&](T* out) {
      on_.verbs().scale_rows(from, pitch, seen_->inverse_widths(), out, features, count);
    });
  };
  const auto squares = [&](const Row& scaled, std::int64_t count) {
    return on_.made(count,
                    [&](T* out) { on_.verbs().square_sum(scaled.data(), out, features, count); });
  };
  const Row y = in_widths(seen_->features(e), n, n);
  const Row z = in_widths(heard.features(e) + first, m, w);
  const Row y_squares = squares(y, n), z_squares = squares(z, w);
  const Row cross = on_.product(y, z, features, n, w);
  double log_scale = 0;
  for (const double width : input_->feature_bandwidth) log_scale -= std::log(width * sqrt_two_pi);
  return on_.plane(on_.verbs().expanded, n * w, w, y_squares, z_squares, cross, log_scale);
}

// ln of the mean over encoding spikes, [w, P]: for every spike and place a pass for the maximum and
// one for the sum, a tile of places at a time.
template <class Verbs>
Array<typename Verbs::Value> EagerProgram<Verbs>::summed_logs(const Row& marks, const Row& places,
                                                              std::int64_t n, std::int64_t w) {
  const std::int64_t bins = shape_->bins;
  const std::int64_t tile = options_->position_tile > 0 ? options_->position_tile : bins;
  const auto tiles = [&](const auto& work) {
    for (std::int64_t first = 0; first < bins; first += tile)
      work(first, std::min(tile, bins - first));
  };
  const Row most = on_.made(w * bins, [&](T* out) {
    tiles([&](std::int64_t first, std::int64_t count) {
      on_.verbs().joint_maximum(marks.data(), places.data(), out, n, w, bins, first, count);
    });
  });
  const Row sum = on_.made(w * bins, [&](T* out) {
    tiles([&](std::int64_t first, std::int64_t count) {
      on_.verbs().joint_log_sum(marks.data(), places.data(), most.data(), out, n, w, bins, first,
                                count);
    });
  });
  return on_.shift(sum, -std::log(static_cast<double>(n)));
}

// The same as one matrix product. Terms that underflow give ln 0.
template <class Verbs>
Array<typename Verbs::Value> EagerProgram<Verbs>::multiplied_logs(const Row& marks,
                                                                  const Row& places,
                                                                  const Row& most, std::int64_t n,
                                                                  std::int64_t w) {
  const std::int64_t bins = shape_->bins;
  const Row most_marks = on_.row_maximum(marks, n);
  const Row terms = on_.shift(on_.add(most, most_marks), -std::log(static_cast<double>(n)));
  const Row top = on_.row_maximum(terms, 1);
  const Row share = on_.line(on_.verbs().half_exp, n, terms, top);
  const auto shifted_exp = [&](const Row& logs, const Row& shifts, std::int64_t columns) {
    return on_.plane(on_.verbs().shifted_exp, n * columns, columns, logs, shifts, share);
  };
  const Row left = shifted_exp(marks, most_marks, w);
  const Row right = shifted_exp(places, most, bins);
  const Row product = on_.product(left, right, n, w, bins);
  return on_.line(on_.verbs().shifted_log, w * bins, product, top);
}

}  // namespace holdfast::clusterless_kde
