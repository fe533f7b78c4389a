// SPDX-License-Identifier: Apache-2.0
#include "gate/compare/samples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace holdfast::gate {
namespace {

// Linear between order statistics, as by default in R and NumPy.
double first_quartile(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double at = static_cast<double>(values.size() - 1) / 4;
  const auto below = static_cast<std::size_t>(at);
  const double rest = at - static_cast<double>(below);
  return rest == 0 ? values[below] : values[below] * (1 - rest) + values[below + 1] * rest;
}

// Without the twentieth at either end: most of every fifth sample that is slow remains, and a
// single disturbance among twenty does not.
double trimmed_mean(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto cut = static_cast<std::ptrdiff_t>(values.size() / 20);
  return std::accumulate(values.begin() + cut, values.end() - cut, 0.) /
         static_cast<double>(std::ssize(values) - 2 * cut);
}

// ln(head / base) of what `middle` makes of the seconds of each, by either clock.
Reading log_ratio_of(const Samples& samples, double (*middle)(std::vector<double>)) {
  const auto of = [&](double Reading::*clock) {
    const auto side = [&](const std::vector<Sample>& taken) {
      std::vector<double> seconds;
      for (const Sample& sample : taken) seconds.push_back(sample.*clock);
      return middle(std::move(seconds));
    };
    return std::log(side(samples.head) / side(samples.base));
  };
  return {of(&Reading::real), of(&Reading::cpu)};
}

bool was_disturbed(const Sample& sample) {
  return sample.disturbed;
}

// Drops disturbed samples if enough others remain.
void keep_undisturbed(std::vector<Sample>& samples) {
  const auto disturbed = std::ranges::count_if(samples, was_disturbed);
  if (samples.size() >= fewest_rounds + static_cast<std::size_t>(disturbed))
    std::erase_if(samples, was_disturbed);
}

}  // namespace

double Samples::leave_out_disturbed(bool in_turn) {
  const std::size_t taken = base.size() + head.size();
  const auto share_of = [&](std::size_t kept) {
    return 1 - static_cast<double>(kept) / static_cast<double>(taken);
  };
  if (!in_turn) {
    const auto disturbed =
        std::ranges::count_if(base, was_disturbed) + std::ranges::count_if(head, was_disturbed);
    keep_undisturbed(base);
    keep_undisturbed(head);
    return share_of(taken - static_cast<std::size_t>(disturbed));
  }
  Samples kept;
  for (std::size_t i = 0; i < base.size(); ++i) {
    if (base[i].disturbed || head[i].disturbed) continue;
    kept.base.push_back(base[i]);
    kept.head.push_back(head[i]);
  }
  const double share = share_of(2 * kept.base.size());
  if (kept.base.size() >= fewest_rounds) *this = std::move(kept);
  return share;
}

double Samples::threads() const {
  std::vector<double> seen;
  for (const auto* side : {&base, &head})
    for (const Sample& sample : *side) seen.push_back(sample.at_once());
  std::sort(seen.begin(), seen.end());
  return seen.size() < 2 ? 1 : seen[seen.size() - 2];
}

std::optional<double> Samples::at_once() const {
  std::array<double, 2> means = {};
  for (const auto& [side, mean] : {std::pair(&base, &means[0]), std::pair(&head, &means[1])}) {
    double at_once = 0, real = 0;
    for (const Sample& sample : *side) {
      if (!sample.waited) return std::nullopt;
      at_once += sample.at_once() * sample.real;
      real += sample.real;
    }
    *mean = at_once / real;
  }
  return std::log(means[1] / means[0]);
}

std::optional<double> Samples::waited_share() const {
  double waited = 0, real = 0;
  for (const auto* side : {&base, &head})
    for (const Sample& sample : *side) {
      if (!sample.waited) return std::nullopt;
      waited += *sample.waited;
      real += sample.real;
    }
  return waited / real;
}

Reading Samples::log_ratio() const {
  return log_ratio_of(*this, first_quartile);
}

Reading Samples::log_ratio_of_means() const {
  return log_ratio_of(*this, trimmed_mean);
}

}  // namespace holdfast::gate
