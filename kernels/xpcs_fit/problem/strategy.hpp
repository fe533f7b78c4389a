// SPDX-License-Identifier: Apache-2.0
// The published rules for how a fit goes over its data, and how much of them at a time.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/base/words.hpp"
#include "xpcs_fit/problem/problem.hpp"

namespace holdfast::xpcs_fit {

enum class Strategy { standard, large, chunked, streaming };
inline constexpr Words<Strategy, 4> strategy_words = {
    "strategy", {"standard", "large", "chunked", "streaming"}};

// GiB of data and Jacobian, twice: the published estimate, and the one the choice uses.
double published_gib(std::int64_t points, int parameters);
double selector_gib(std::int64_t points, int parameters);

// Chosen by the number of points; one step further if the selector's estimate exceeds 0.7 of what
// is available.
Strategy choose_strategy(std::int64_t points, int parameters, double available_gib);
// Uses `wanted` if it is one of the four words; another word causes a warning, an empty one is no
// wish.
Strategy choose_strategy(std::int64_t points, int parameters, double available_gib,
                         std::string_view wanted);

// Points per chunk and per batch of the plain formulation, in the flat order.
std::int64_t plain_chunk(std::int64_t points, int parameters, double limit_gib,
                         double available_gib);
std::int64_t plain_batch(int parameters, double available_gib);

// Rows of every angle in a batch of about that many points; at least one.
int rows_of_batch(const Size& size, std::int64_t points);

// Host threads that share a pass over that many points: one if there is little to compute.
int host_threads(const Options& options, std::int64_t points);

// The blocks into which a pass on a host divides its rows.
inline constexpr int most_blocks = 32;
int rows_per_block(int frames);
int block_count(int frames);

}  // namespace holdfast::xpcs_fit
