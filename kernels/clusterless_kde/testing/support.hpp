// SPDX-License-Identifier: Apache-2.0
// For the tests: how a result is computed on a host, on the emulated and on the dry device, how
// exact it is, and the defect that the published matrix-product path had.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string_view>
#include <vector>

#include "clusterless_kde/clusterless_kde.hpp"
#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/oracle/golden.hpp"
#include "clusterless_kde/oracle/oracle.hpp"
#include "clusterless_kde/problem/formulas.hpp"
#include "clusterless_kde/problem/preparation.hpp"
#include "clusterless_kde/problem/range.hpp"
#include "clusterless_kde/problem/spike_cut.hpp"
#include "clusterless_kde/testing/kernels_on_cpu.hpp"
#include "clusterless_kde/variants.hpp"
#include "runtime/backend/backend.hpp"
#include "testing/differences.hpp"
#include "testing/dry_run.hpp"
#include "testing/error_of.hpp"
#include "testing/results.hpp"

namespace holdfast::clusterless_kde {

// One way to compute the same numbers.
struct Way {
  std::string_view name = {};
  Variant variant = Variant::reference;
  Arithmetic arithmetic = Arithmetic::f32;
  double per_spike = 1e-4;  // allowed error of a spike's likelihood

  Options with(Options options) const {
    options.arithmetic = arithmetic;
    return options;
  }
};
inline std::ostream& operator<<(std::ostream& out, const Way& way) {
  return out << way.name;
}

inline constexpr Way ways[] = {
    {"reference_f32", Variant::reference, Arithmetic::f32, 1e-4},
    {"reference_f64", Variant::reference, Arithmetic::f64, 1e-10},
    {"optimized_f32", Variant::optimized, Arithmetic::f32, 1e-4},
    {"optimized_f64", Variant::optimized, Arithmetic::f64, 1e-9},
};

using Factory = std::unique_ptr<Computation> (*)(Backend&, Variant, const Input&, const Options&);

inline std::vector<double> compute(Factory make, const Way& way, const Input& input,
                                   const Options& options = {}) {
  const auto backend = open_backend("host");
  return result_of(*make(*backend, way.variant, input, way.with(options)));
}
inline std::vector<double> decode(const Way& way, const Input& input, const Options& options = {}) {
  return compute(make_decode, way, input, options);
}

// One electrode whose likelihoods at place 63, the last of the first run of 64, are just above the
// floor, from 32 spikes near it with other marks. 624 spikes with the decoded marks lie
// `bandwidths` beyond.
inline Input known_near_and_beyond(double bandwidths) {
  Input input = make_input({.size = Size::hpc1d,
                            .marks = Marks::cells,
                            .scale = 200,
                            .encoding_spikes = 656,
                            .decoding_spikes = 30});
  const double at = input.places[63], beyond = at + bandwidths * input.position_bandwidth[0];
  Spikes& known = input.encoding_spikes[0];
  for (std::size_t i = 0; i < known.times.size(); ++i) {
    const bool near = i < 32;
    known.times[i] = (near ? at : beyond) / 3.5;  // a track of 350 cm in 100 s
    std::fill_n(known.features.begin() + static_cast<std::ptrdiff_t>(4 * i), 4, near ? 169 : 100);
  }
  std::ranges::fill(input.decoding_spikes[0].features, 100);
  return one_spike_per_row(input, 30);
}

// The distance at which each of those beyond adds less than a single-precision cut allows one
// spike, and all of them together more than it allows in total.
inline double where_all_matter(const Input& input) {
  return std::sqrt(2 * (0.5 - std::log(cut_part<float>) - lowest_floor(input)));
}

// One electrode with one encoded mark and decoding marks ever farther from it, in steps that single
// precision holds. Their bandwidth is so narrow that e^-48 of the peak is still above the floor.
inline Input heard_farther_and_farther() {
  constexpr double step = 1. / 4096;
  Input input = make_input({.size = Size::tiny, .encoding_spikes = 1, .decoding_spikes = 1});
  input.features = 4;
  input.feature_bandwidth.assign(4, 2e-4);
  input.encoding_spikes = {{.times = {input.encoding.times[50]}, .features = {0, 0, 0, 0}}};
  input.decoding_spikes = {{}};
  for (int k = 0; k < 6; ++k) {
    input.decoding_spikes[0].times.push_back(k);
    input.decoding_spikes[0].features.insert(input.decoding_spikes[0].features.end(), 4, k * step);
  }
  return one_spike_per_row(input, 6);
}

// A budget that is too small is refused with the least one that suffices.
inline void expect_least_plan_told(const Backend& backend, const Input& input) {
  const std::string sentence = refusal_of([&] { return plan(backend, input, {.budget = 1000}); });
  const auto at = sentence.find("needs at least ");
  ASSERT_NE(at, std::string::npos) << sentence;
  const std::int64_t least = std::stoll(sentence.substr(at + 15));
  EXPECT_EQ(plan(backend, input, {.budget = least}).estimate_bytes, least);
  EXPECT_THROW((void)plan(backend, input, {.budget = least - 1}), Error);
}

// o[P] and G[P] of an encode's result.
inline std::vector<double> occupancy(const std::vector<double>& encoded) {
  return {encoded.begin(), encoded.begin() + static_cast<std::ptrdiff_t>(encoded.size() / 2)};
}
inline std::vector<double> ground(const std::vector<double>& encoded) {
  return {encoded.begin() + static_cast<std::ptrdiff_t>(encoded.size() / 2), encoded.end()};
}

// The optimized variant on a device.
inline std::unique_ptr<Computation> make_unit(Backend& backend, Unit unit, const Input& input,
                                              const Options& options = {}) {
  constexpr Factory factories[] = {make_encode, make_decode, make_total, make_local};
  return factories[static_cast<int>(unit)](backend, Variant::optimized, input, options);
}

// result() after `steps` steps on a fresh emulated device.
inline std::vector<double> emulated_result(Unit unit, const Input& input,
                                           const Options& options = {}, Emulation emulation = {},
                                           int steps = 1) {
  const auto backend = emulated(emulation);
  return result_of(*make_unit(*backend, unit, input, options), steps);
}

// Warmed up: the first step of a decode by chunks captures their graph.
struct DryRun : holdfast::DryRun {
  explicit DryRun(Unit unit, const Input& input, const Options& options = {}, int sm = 90)
      : holdfast::DryRun(sm, [&](Backend& on) { return make_unit(on, unit, input, options); }) {
    computation->step();
  }
};

// The three numbers of an electrode that the size of the arena follows from, and those of all.
struct ArenaShape {
  std::int64_t rows = 0, bins = 0;  // T, P
  std::int64_t encoding = 0, decoding = 0;
};
// The most values alive while an electrode is decoded, each array rounded up to 256 bytes: max{TP +
// 3 nP, 3 TP + nP + 2 mP} for the eager program, whose result has a second buffer of TP.
inline std::int64_t live_values(const ArenaShape& shape, std::int64_t value_bytes) {
  const auto array = [&](std::int64_t size) {
    const std::int64_t step = 256 / value_bytes;
    return (size + step - 1) / step * step;
  };
  const std::int64_t out = shape.rows * shape.bins, kernel = shape.encoding * shape.bins,
                     values = shape.decoding * shape.bins;
  return std::max(2 * out + 3 * array(kernel),
                  2 * out + array(kernel) + 2 * array(values) + array(out));
}
inline std::int64_t decode_live_values(const Shape& shape, std::int64_t value_bytes) {
  std::int64_t most = 0;
  for (int e = 0; e < shape.electrodes; ++e)
    most = std::max(
        most,
        live_values({shape.rows, shape.bins, shape.encoding[e], shape.decoding[e]}, value_bytes));
  return most;
}

// The published matrix-product path in f32, one block per electrode, with its defect: where the
// product underflows the floor replaces the marginal, and ln r - ln o is added to it.
inline std::vector<double> with_floored_marginals(const Input& input) {
  const Encoding model = oracle_encoding(input);
  const std::int64_t bins = input.bins();
  std::vector<double> out(input.rows() * bins);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = -model.ground[i % bins];
  for (int e = 0; e < input.electrodes(); ++e) {
    const Spikes &seen = input.encoding_spikes[e], &heard = input.decoding_spikes[e];
    const auto encoding =
        kept(seen.times, input.encoding.times.front(), input.encoding.times.back());
    const auto decoding = kept(heard.times, input.edges.front(), input.edges.back());
    const std::size_t n = encoding.size(), m = decoding.size();
    // Logarithms of both kernels, and their maxima over bins and spikes.
    std::vector<std::vector<float>> places(n, std::vector<float>(bins)),
        marks(n, std::vector<float>(m));
    std::vector<float> terms(n), most_places(n), most_marks(n);
    const auto log_density = [](double a, double b, double s) {
      return static_cast<float>(gauss_exponent(a, b, 1 / s) - std::log(s * sqrt_two_pi));
    };
    for (std::size_t i = 0; i < n; ++i) {
      double u = 0;
      interpolate(input.encoding, 1, seen.times[encoding[i]], {&u, 1});
      for (std::int64_t p = 0; p < bins; ++p)
        places[i][p] = log_density(input.places[p], u, input.position_bandwidth[0]);
      for (std::size_t j = 0; j < m; ++j)
        for (int f = 0; f < input.features; ++f)
          marks[i][j] += log_density(heard.features[decoding[j] * input.features + f],
                                     seen.features[encoding[i] * input.features + f],
                                     input.feature_bandwidth[f]);
      most_places[i] = *std::max_element(places[i].begin(), places[i].end());
      most_marks[i] = *std::max_element(marks[i].begin(), marks[i].end());
      terms[i] = most_places[i] + most_marks[i] - std::log(static_cast<float>(n));
    }
    const float top = *std::max_element(terms.begin(), terms.end());
    const double rate = static_cast<double>(n) / static_cast<double>(input.samples());
    for (std::size_t i = 0; i < n; ++i) {
      const float share = std::exp((terms[i] - top) / 2);
      for (float& mark : marks[i]) mark = std::exp(mark - most_marks[i]) * share;
      for (float& place : places[i]) place = std::exp(place - most_places[i]) * share;
    }
    for (std::size_t j = 0; j < m; ++j)
      for (std::int64_t p = 0; p < bins; ++p) {
        float sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += marks[i][j] * places[i][p];
        const double marginal = sum > 0 ? std::log(sum) + top : log_rate_floor;
        out[row_of(input.edges, heard.times[decoding[j]]) * bins + p] +=
            std::max(log_rate_floor, marginal + std::log(rate) - std::log(model.occupancy[p]));
      }
  }
  return out;
}

}  // namespace holdfast::clusterless_kde
