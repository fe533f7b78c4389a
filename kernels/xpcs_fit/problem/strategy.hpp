// SPDX-License-Identifier: Apache-2.0
// How a fit of a size goes over its data, and how much of them at a time: the published rules.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/base/words.hpp"
#include "xpcs_fit/problem/problem.hpp"

namespace holdfast::xpcs_fit {

enum class Strategy { standard, large, chunked, streaming };
inline constexpr Words<Strategy, 4> strategy_words = {
    "strategy", {"standard", "large", "chunked", "streaming"}};

// GiB of data and Jacobian, twice: the published estimate; and what the choice goes by.
double published_gib(std::int64_t points, int parameters);
double selector_gib(std::int64_t points, int parameters);

// Chosen by the number of points; one step further where the selector's estimate is above 0.7 of
// what is available.
Strategy choose_strategy(std::int64_t points, int parameters, double available_gib);
// `wanted` wins where it is one of the four words; another word is told in a warning, and none
// (empty) is no wish.
Strategy choose_strategy(std::int64_t points, int parameters, double available_gib,
                         std::string_view wanted);

// Points of a chunk and of a batch of the plain formulation, in the flat order.
std::int64_t plain_chunk(std::int64_t points, int parameters, double limit_gib,
                         double available_gib);
std::int64_t plain_batch(int parameters, double available_gib);

// Rows of every angle that a batch of about so many points has; at least one.
int rows_of_batch(int angles, int frames, std::int64_t points = 4194304);

// Threads of a host that a pass over so many points is shared by: one where little is computed.
int host_threads(const Options& options, std::int64_t points);

}  // namespace holdfast::xpcs_fit
