// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/problem/strategy.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/backend/host_limits.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr double gib = 1024. * 1024 * 1024;

}  // namespace

double published_gib(std::int64_t points, int parameters) {
  return static_cast<double>(points) * (1 + parameters) * 16 / gib;
}

double selector_gib(std::int64_t points, int parameters) {
  const double n = static_cast<double>(points), p = parameters;
  return 2 * 8 * (n + n * p + p * p) / gib;
}

Strategy choose_strategy(std::int64_t points, int parameters, double available_gib) {
  const int by_size = points < 1'000'000     ? 0
                      : points < 10'000'000  ? 1
                      : points < 100'000'000 ? 2
                                             : 3;
  const int further = selector_gib(points, parameters) > 0.7 * available_gib;
  return static_cast<Strategy>(std::min(by_size + further, 3));
}

Strategy choose_strategy(std::int64_t points, int parameters, double available_gib,
                         std::string_view wanted) {
  for (const std::string_view word : strategy_words.words)
    if (word == wanted) return strategy_words.read(wanted);
  if (!wanted.empty())
    log(LogLevel::warn,
        text("there is no strategy '", wanted,
             "'; it is chosen by size: give standard, large, chunked or streaming"));
  return choose_strategy(points, parameters, available_gib);
}

std::int64_t plain_chunk(std::int64_t points, int parameters, double limit_gib,
                         double available_gib) {
  const double fits =
      std::floor(0.8 * std::min(limit_gib, available_gib) * gib / (74 + 24. * parameters));
  const auto chunk = static_cast<std::int64_t>(std::clamp(fits, 1e3, 1e6));
  return std::min(points, chunk);
}

// Rounded to whole thousands, ties to even.
std::int64_t plain_batch(int parameters, double available_gib) {
  const double fits = std::floor(0.1 * available_gib * gib / (8. * (1 + parameters)));
  return static_cast<std::int64_t>(1000 * std::nearbyint(std::clamp(fits, 1e3, 1e5) / 1000));
}

int host_threads(const Options& options, std::int64_t points) {
  if (options.threads > 0) return options.threads;
  constexpr double flops_per_point = 50;
  const double flops = flops_per_point * static_cast<double>(points);
  return flops < flops_worth_sharing ? 1 : host_limits().threads;
}

int rows_per_block(int frames) {
  return (frames + most_blocks - 1) / most_blocks;
}

int block_count(int frames) {
  return (frames + rows_per_block(frames) - 1) / rows_per_block(frames);
}

int rows_of_batch(const Size& size, std::int64_t points) {
  const std::int64_t row = std::int64_t{size.angles} * size.frames;
  return static_cast<int>(std::clamp<std::int64_t>(points / row, 1, size.frames));
}

}  // namespace holdfast::xpcs_fit
