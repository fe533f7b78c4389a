// SPDX-License-Identifier: Apache-2.0
// Room for results of a gigabyte in large pages: the first touch of so much memory in small ones
// takes longer than filling it does.
#pragma once

#include <cstddef>
#include <vector>

namespace holdfast {

// Makes room for `more` numbers, in large pages where the system has them; where they begin.
double* grow(std::vector<double>& numbers, std::size_t more);

}  // namespace holdfast
