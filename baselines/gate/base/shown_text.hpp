// SPDX-License-Identifier: Apache-2.0
// Text that others wrote (reasons, names of kernels, a suite's last words) in a form that is safe
// to show: it cannot move a cursor, change the direction of reading, or begin a line or a command
// in a log.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::gate {

// On one line: control characters and bytes that are not UTF-8 as \n, \t or \x1b; invisible code
// points, and those that change the direction, as \u202e; "##[", which GitHub's runner obeys
// anywhere in a line, as "##\[".
std::string shown_text(std::string_view content);

// The text without white space and invisible characters: two texts that are then equal look the
// same.
std::string as_seen(std::string_view content);

// One word of a shell's command line, quoted where it has to be.
std::string shell_word(std::string_view content);

// At most `most` bytes of it, cut between two letters.
std::string_view beginning(std::string_view content, std::size_t most);

}  // namespace holdfast::gate
