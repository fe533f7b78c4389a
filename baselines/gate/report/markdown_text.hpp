// SPDX-License-Identifier: Apache-2.0
// Text that GitHub's Markdown shows literally: no link, image, mention, reference, formula or tag,
// no end of a fence or of a table's row.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::gate {

// Words of a sentence, cut if they are too long for a line.
std::string markdown_text(std::string_view content);

// A name, or a command: a span of code. In a table a '|' must be escaped, and there alone.
enum class Within { table, text };
std::string markdown_code(std::string_view content, Within where = Within::table);

// Lines, as a block of code.
std::string markdown_block(std::string_view lines);

}  // namespace holdfast::gate
