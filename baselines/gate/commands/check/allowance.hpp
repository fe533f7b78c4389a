// SPDX-License-Identifier: Apache-2.0
// The comparisons in lock step that one check may make, dealt out among its parts.
#pragma once

#include <cstddef>
#include <vector>

namespace holdfast::gate {

// How many of `most` each part has that wants so many: all alike, and what one does not want the
// others have.
std::vector<std::size_t> shares(std::size_t most, const std::vector<std::size_t>& wanted);

}  // namespace holdfast::gate
