// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/oracle/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <span>

#include "clusterless_kde/data/data.hpp"
#include "clusterless_kde/problem/preparation.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast::clusterless_kde {
namespace {

constexpr double least_rate = 1e-15;
const double log_least_rate = std::log(least_rate);

// The product over components of N(a; b, s) = exp(-((a - b) / s)^2 / 2) / (s sqrt(2 pi)).
class Gaussian {
 public:
  explicit Gaussian(const std::vector<double>& widths) : widths_(widths) {
    double scale = 1;
    for (const double s : widths) scale /= s * std::sqrt(2 * std::numbers::pi);
    log_scale_ = std::log(scale);
  }
  double log(const double* a, const double* b) const {
    double exponent = 0;
    for (std::size_t k = 0; k < widths_.size(); ++k) {
      const double z = (a[k] - b[k]) / widths_[k];
      exponent -= z * z / 2;
    }
    return exponent + log_scale_;
  }
  double operator()(const double* a, const double* b) const { return std::exp(log(a, b)); }

 private:
  const std::vector<double>& widths_;
  double log_scale_ = 0;
};

// An electrode's kept spikes and rate.
struct Electrode {
  std::int64_t count = 0;          // n
  double rate = 0;                 // r, per position sample
  std::vector<double> at = {};     // u[n, d]
  std::vector<double> marks = {};  // y[n, D]
  std::vector<double> heard = {};  // z[m, D]
  std::vector<double> times = {};  // t[m]
};

std::vector<double> gather(const std::vector<double>& from, const std::vector<std::int64_t>& which,
                           int width) {
  std::vector<double> rows;
  rows.reserve(which.size() * width);
  for (const std::int64_t i : which)
    rows.insert(rows.end(), from.begin() + i * width, from.begin() + (i + 1) * width);
  return rows;
}

Electrode electrode(const Input& input, int e) {
  const Spikes &then = input.encoding_spikes[e], &now = input.decoding_spikes[e];
  const auto known = kept(then.times, input.encoding.times.front(), input.encoding.times.back());
  const auto decoded = kept(now.times, input.edges.front(), input.edges.back());
  Electrode result = {.count = static_cast<std::int64_t>(known.size()),
                      .at = std::vector<double>(known.size() * input.dimensions),
                      .marks = gather(then.features, known, input.features),
                      .heard = gather(now.features, decoded, input.features),
                      .times = gather(now.times, decoded, 1)};
  result.rate = static_cast<double>(result.count) / static_cast<double>(input.samples());
  for (std::size_t i = 0; i < known.size(); ++i)
    interpolate(input.encoding, input.dimensions, then.times[known[i]],
                std::span(result.at).subspan(i * input.dimensions, input.dimensions));
  return result;
}

struct Model {
  explicit Model(const Input& given)
      : input(given), place(given.position_bandwidth), mark(given.feature_bandwidth) {
    for (int e = 0; e < input.electrodes(); ++e) electrodes.push_back(electrode(input, e));
  }

  // Mean of N over samples[., d]; 0 without samples.
  double density(const std::vector<double>& samples, const double* g) const {
    const int d = input.dimensions;
    const std::size_t n = samples.size() / d;
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += place(g, &samples[i * d]);
    return n ? sum / static_cast<double>(n) : 0;
  }
  double occupancy(const double* g) const { return density(input.encoding.positions, g); }
  double ground(const double* g, double o) const {
    double sum = 0;
    for (const Electrode& e : electrodes)
      sum += std::max(least_rate, e.rate * (o > 0 ? density(e.at, g) / o : least_rate));
    return sum;
  }
  double local_ground(const double* x, double o) const {
    double sum = 0;
    for (const Electrode& e : electrodes) sum += o > 0 ? e.rate * density(e.at, x) / o : 0;
    return sum;
  }

  const Input& input;
  Gaussian place, mark;
  std::vector<Electrode> electrodes = {};
};

double log_rate(double rate) {
  return std::max(log_least_rate, rate < least_rate ? log_least_rate : std::log(rate));
}

double log_rate(const Electrode& e, double joint, double o) {
  return log_rate(e.rate * (o > 0 ? joint / o : 0));
}

Encoding encoding(const Model& model) {
  const Input& input = model.input;
  const std::int64_t bins = input.bins();
  Encoding result = {std::vector<double>(bins), std::vector<double>(bins)};
#pragma omp parallel for num_threads(host_limits().threads) schedule(static)
  for (std::int64_t p = 0; p < bins; ++p) {
    const double* g = &input.places[p * input.dimensions];
    result.occupancy[p] = model.occupancy(g);
    result.ground[p] = model.ground(g, result.occupancy[p]);
  }
  return result;
}

// Adds one electrode's spikes to out[T, P] and counts the floored ones. A thread owns bins, so that
// the order of summation does not depend on the number of threads.
std::int64_t add_electrode(const Model& model, const Electrode& e,
                           const std::vector<double>& occupancy, std::vector<double>& out) {
  const Input& input = model.input;
  const std::int64_t bins = input.bins(), n = e.count;
  const std::int64_t m = static_cast<std::int64_t>(e.times.size());
  constexpr std::int64_t spikes_at_a_time = 64, bins_at_a_time = 64;
  std::vector<double> at_places(n * bins);             // Kp[n, P]
  std::vector<double> of_marks(spikes_at_a_time * n);  // Kw[spikes, n]
  std::int64_t floored = 0;
#pragma omp parallel num_threads(host_limits().threads) reduction(+ : floored)
  {
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t p = 0; p < bins; ++p)
        at_places[i * bins + p] =
            model.place(&input.places[p * input.dimensions], &e.at[i * input.dimensions]);
    std::vector<double> sums(bins_at_a_time);
    for (std::int64_t first = 0; first < m; first += spikes_at_a_time) {
      const std::int64_t last = std::min(first + spikes_at_a_time, m);
#pragma omp for schedule(static)
      for (std::int64_t j = first; j < last; ++j)
        for (std::int64_t i = 0; i < n; ++i)
          of_marks[(j - first) * n + i] =
              model.mark(&e.heard[j * input.features], &e.marks[i * input.features]);
#pragma omp for schedule(static)
      for (std::int64_t begin = 0; begin < bins; begin += bins_at_a_time) {
        const std::int64_t width = std::min(bins_at_a_time, bins - begin);
        for (std::int64_t j = first; j < last; ++j) {
          std::fill(sums.begin(), sums.end(), 0);
          for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t p = 0; p < width; ++p)
              sums[p] += of_marks[(j - first) * n + i] * at_places[i * bins + begin + p];
          double* row = &out[row_of(input.edges, e.times[j]) * bins + begin];
          for (std::int64_t p = 0; p < width; ++p) {
            const double joint = n ? sums[p] / static_cast<double>(n) : 0;
            const double likelihood = log_rate(e, joint, occupancy[begin + p]);
            floored += likelihood == log_least_rate;
            row[p] += likelihood;
          }
        }
      }
    }
  }
  return floored;
}

// J of a spike with mark z at place g.
double joint(const Model& model, const Electrode& e, const double* z, const double* g) {
  const Input& input = model.input;
  double sum = 0;
  for (std::int64_t i = 0; i < e.count; ++i)
    sum +=
        model.mark(z, &e.marks[i * input.features]) * model.place(g, &e.at[i * input.dimensions]);
  return e.count ? sum / static_cast<double>(e.count) : 0;
}

// ln(r J / o) without a floor, except that a rate of zero gives the floor.
double unfloored(const Model& model, const Electrode& e, const double* z, const double* g,
                 double o) {
  const Input& input = model.input;
  if (e.count == 0 || o <= 0) return log_least_rate;
  std::vector<double> logs(e.count);
  for (std::int64_t i = 0; i < e.count; ++i)
    logs[i] = model.mark.log(z, &e.marks[i * input.features]) +
              model.place.log(g, &e.at[i * input.dimensions]);
  const double largest = *std::max_element(logs.begin(), logs.end());
  double sum = 0;
  for (const double log : logs) sum += std::exp(log - largest);
  return largest + std::log(sum / static_cast<double>(e.count)) + std::log(e.rate) - std::log(o);
}

}  // namespace

Encoding oracle_encoding(const Input& input) {
  return encoding(Model(input));
}

Decoding oracle_decoding(const Input& input) {
  const Model model(input);
  const Encoding encoded = encoding(model);
  const std::int64_t rows = input.rows(), bins = input.bins();
  Decoding result;
  result.likelihood.reserve(rows * bins);
  for (std::int64_t t = 0; t < rows; ++t)
    for (const double ground : encoded.ground) result.likelihood.push_back(-ground);
  std::int64_t floored = 0, spikes = 0;
  for (const Electrode& e : model.electrodes) {
    floored += add_electrode(model, e, encoded.occupancy, result.likelihood);
    spikes += static_cast<std::int64_t>(e.times.size());
  }
  if (spikes > 0)
    result.floored_fraction = static_cast<double>(floored) / static_cast<double>(spikes * bins);
  return result;
}

std::vector<double> oracle_entries(const Input& input, const std::vector<Entry>& entries) {
  const Model model(input);
  struct Densities {
    double occupancy = 0, ground = 0;
  };
  std::map<std::int64_t, Densities> at;  // by bin
  for (const Entry& entry : entries) at[entry.bin] = {};
  std::vector<std::int64_t> bins;
  for (const auto& [bin, densities] : at) bins.push_back(bin);
#pragma omp parallel for num_threads(host_limits().threads) schedule(dynamic)
  for (std::size_t k = 0; k < bins.size(); ++k) {
    const double* g = &input.places[bins[k] * input.dimensions];
    Densities& densities = at.at(bins[k]);
    densities.occupancy = model.occupancy(g);
    densities.ground = model.ground(g, densities.occupancy);
  }

  const Order in_rows = order(input);
  std::vector<double> values(entries.size());
#pragma omp parallel for num_threads(host_limits().threads) schedule(dynamic)
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const auto [row, bin] = entries[k];
    const double* g = &input.places[bin * input.dimensions];
    const Densities& densities = at.at(bin);
    values[k] = -densities.ground;
    for (std::int64_t j = in_rows.row_begin[row]; j < in_rows.row_begin[row + 1]; ++j) {
      const auto [e, index] = in_rows.spikes[j];
      const double* z = &input.decoding_spikes[e].features[index * input.features];
      const Electrode& known = model.electrodes[e];
      values[k] += log_rate(known, joint(model, known, z, g), densities.occupancy);
    }
  }
  return values;
}

std::vector<Entry> sampled_entries(const Input& input, std::uint64_t seed, int count) {
  const Stream stream(seed, 999);
  const std::int64_t bins = input.bins(), all = input.rows() * bins;
  std::vector<Entry> entries;
  for (int i = 0; i < count; ++i) {
    const auto k = static_cast<std::int64_t>(stream.uniform(i) * static_cast<double>(all));
    entries.push_back({.row = k / bins, .bin = k % bins});
  }
  return entries;
}

std::vector<double> oracle_local(const Input& input, LocalFloor floor) {
  const Model model(input);
  const int d = input.dimensions;
  const std::int64_t rows = input.rows();
  std::vector<double> out(rows);
#pragma omp parallel for num_threads(host_limits().threads) schedule(static)
  for (std::int64_t t = 0; t < rows; ++t) {
    double x[2] = {};
    interpolate(input.decoding, d, input.edges[t], {x, static_cast<std::size_t>(d)});
    out[t] = -model.local_ground(x, model.occupancy(x));
  }
  for (const Electrode& e : model.electrodes) {
    std::vector<double> terms(e.times.size());
#pragma omp parallel for num_threads(host_limits().threads) schedule(static)
    for (std::size_t j = 0; j < terms.size(); ++j) {
      const double* z = &e.heard[j * input.features];
      double x[2] = {};
      interpolate(input.decoding, d, e.times[j], {x, static_cast<std::size_t>(d)});
      const double o = model.occupancy(x);
      terms[j] = floor == LocalFloor::applied ? log_rate(e, joint(model, e, z, x), o)
                                              : unfloored(model, e, z, x, o);
    }
    for (std::size_t j = 0; j < terms.size(); ++j) out[row_of(input.edges, e.times[j])] += terms[j];
  }
  return out;
}

}  // namespace holdfast::clusterless_kde
