// SPDX-License-Identifier: Apache-2.0
// How a command prints: told by options that every command has, by the environment and the
// terminal.
#pragma once

#include <string>
#include <string_view>

#include "gate/base/options.hpp"

namespace holdfast::gate {

struct Printing {
  bool color = false;
  bool quiet = false;  // no progress, and of an answer the least that is one
};

// As --color, --quiet, NO_COLOR (https://no-color.org) and the standard output have it. Throws
// Error(bad_input) for a --color that is not auto, always or never.
Printing printing_of(const Options& options);

// Of this process. main() sets it once, before the command runs.
Printing& printing();

// Prints what was done to a store; on the standard error where the standard output takes nothing,
// of which main() complains as of any other answer.
void tell_done(const std::string& words);

// What a word says of what stands behind it: green, yellow or bold red.
enum class Tone { good, warning, bad };

// `words` in the color of their tone, and as they are where none is printed.
std::string toned(Tone tone, std::string_view words, const Printing& how = printing());

}  // namespace holdfast::gate
