// SPDX-License-Identifier: Apache-2.0
// How a command prints, by common options, the environment and the terminal.
#pragma once

#include <string>
#include <string_view>

#include "gate/base/options.hpp"

namespace holdfast::gate {

struct Printing {
  bool color = false;
  bool quiet = false;  // no progress, and the shortest answer
};

// From --color, --quiet, NO_COLOR (https://no-color.org) and the standard output. Throws
// Error(bad_input) for a --color that is not auto, always or never.
Printing printing_of(const Options& options);

// The setting of this process. main() sets it once, before the command runs.
Printing& printing();

// Prints what was done to a store; on the standard error if the standard output cannot be written,
// which main() reports as for any other answer.
void tell_done(const std::string& words);

// The judgement that a word expresses: green, yellow or bold red.
enum class Tone { good, warning, bad };

// `words` in the color of their tone; unchanged where no color is printed.
std::string toned(Tone tone, std::string_view words, const Printing& how = printing());

}  // namespace holdfast::gate
