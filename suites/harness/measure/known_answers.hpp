// SPDX-License-Identifier: Apache-2.0
// What an oracle has answered need not be computed again: not within a process, and not by the
// other processes of one run, which share a folder. Results are held against it in each of them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/case/case.hpp"

namespace holdfast {

// The same oracle, asked once for each number of steps. HOLDFAST_ANSWERS names the folder; without
// one only this oracle's copies remember.
Oracle remembering(Oracle oracle, const std::string& case_id);

// What an oracle forms while it looks at a result: read from the folder, or computed and left
// there. The question says all that the answer depends on.
std::vector<double> kept_answer(const std::string& question,
                                const std::function<std::vector<double>()>& compute);

// The parts of it, for an answer that has to be looked at before it is kept. keep_answer() keeps
// none of more than most_kept numbers: writing them, and hashing what is read, takes seconds, the
// reference on a device less.
inline constexpr std::size_t most_kept = 1 << 23;  // of 64 MiB
bool is_known(const std::string& question);
std::optional<std::vector<double>> known_answer(const std::string& question);
void keep_answer(const std::string& question, const std::vector<double>& answer);

}  // namespace holdfast
