// SPDX-License-Identifier: Apache-2.0
// `holdfast run --count-instructions`: what single steps execute and what they miss in simulated
// caches, counted by the suite in up to two more processes, inside valgrind's callgrind.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/documents/list.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/results.hpp"

namespace holdfast::gate {

// The code that is counted on every machine, because valgrind executes no AVX-512.
inline constexpr std::string_view counted_isa = "x86-64-v3";

// Throws Error(bad_input) where PATH has no valgrind, which `option` of holdfast run needs.
std::filesystem::path find_valgrind(const std::string& option);

struct Counting {
  std::filesystem::path valgrind;
  std::filesystem::path binary;             // of the suite
  std::vector<std::string> arguments = {};  // tier and options, as for a timed process
  std::filesystem::path answers = {};       // of oracles, where the timed processes left them
  double timeout_seconds = 0;
  std::function<void(std::string_view line)> on_line = {};
};

// What callgrind counted of one dump or step; negative what it did not.
struct Executed {
  double instructions = -1;
  double cycles =
      -1;  // estimated: an instruction one, a miss of data in L1 10, in the last level 100
};

// Of each variant, "<case id>|<variant>": what callgrind saw in no step, and in each of some in a
// row; empty for a dump that is not there though a later one is.
using Dumps = std::map<std::string, std::vector<Executed>>;

// The dumps that callgrind left in `folder`.
Dumps read_dumps(const std::filesystem::path& folder);

// What a step adds. Empty where a dump is missing or the steps differ; then `why` says so.
std::optional<Executed> count_of_a_step(const std::vector<Executed>& dumps, std::string& why);

// Why nobody counted, in the place of each count that the results promise.
void leave_uncounted(Results& results, const std::string& why);

// Whether each case that is listed with a count, and is well, has it in all its variants.
bool is_counted(const Results& results, const std::vector<ListedCase>& listed);

// The results without the counts that they promise, which the gate then finds missing.
Results without_counts(Results results);

// Gives each variant that promises counts what a step of it has, by two processes at once, because
// nothing is timed meanwhile; and takes a promise out where it was not kept: the gate then finds it
// missing. One sentence for each of those.
std::vector<std::string> count_instructions(const Counting& counting, Results& results);

}  // namespace holdfast::gate
