// SPDX-License-Identifier: Apache-2.0
// The comparisons in lock step that one check may make, dealt out among its parts.
#pragma once

#include <cstddef>
#include <vector>

namespace holdfast::gate {

// How many of `most` comparisons each part gets: equal shares, and what one part does not want goes
// to the others.
std::vector<std::size_t> shares(std::size_t most, const std::vector<std::size_t>& wanted);

}  // namespace holdfast::gate
