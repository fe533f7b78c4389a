// SPDX-License-Identifier: Apache-2.0
// Text that others wrote (reasons, names of kernels, a suite's last words) as it is shown: nothing
// of it moves a cursor, turns the direction of reading, begins a line or a command of a log.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::gate {

// On one line: control characters and bytes that are no UTF-8 as \n, \t or \x1b; the code points
// that no reader shows, or that turn what follows, as \u202e; "##[", which GitHub's runner obeys
// anywhere in a line, as "##\[".
std::string shown_text(std::string_view content);

// Without white space and what is drawn as nothing: of two texts that are equal then, no reader
// tells which he sees.
std::string as_seen(std::string_view content);

// One word of a shell's command line, quoted where it has to be.
std::string shell_word(std::string_view content);

// At most so many bytes of it, cut between two letters.
std::string_view beginning(std::string_view content, std::size_t most);

}  // namespace holdfast::gate
