// SPDX-License-Identifier: Apache-2.0
// An oracle's answers are not recomputed: neither within a process, nor by the other processes of
// one run, which share a folder. Every process compares its results with them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/case/case.hpp"

namespace holdfast {

// The same oracle, but asked only once for each number of steps. HOLDFAST_ANSWERS names the folder;
// without one only copies of this oracle share answers.
Oracle remembering(Oracle oracle, const std::string& case_id);

// Data that an oracle computes to check a result: read from the folder, or computed and stored
// there. The question must include everything that the answer depends on.
std::vector<double> kept_answer(const std::string& question,
                                const std::function<std::vector<double>()>& compute);

// The parts of kept_answer(), for an answer that must be checked before it is kept. keep_answer()
// ignores answers of more than most_kept numbers: writing and hashing them takes seconds,
// recomputing them on a device less.
inline constexpr std::size_t most_kept = 1 << 23;  // 64 MiB
bool is_known(const std::string& question);
std::optional<std::vector<double>> known_answer(const std::string& question);
void keep_answer(const std::string& question, const std::vector<double>& answer);

}  // namespace holdfast
