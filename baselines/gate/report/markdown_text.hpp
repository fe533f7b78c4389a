// SPDX-License-Identifier: Apache-2.0
// Text as GitHub's Markdown shows it and takes nothing else from it: no link, image, mention,
// reference, formula or tag, no end of a fence or of a table's row.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::gate {

// Words of a sentence, cut where they are longer than a line bears.
std::string markdown_text(std::string_view content);

// A name, or a command: a span of code. In a table a '|' must be escaped, and there alone.
enum class Within { table, text };
std::string markdown_code(std::string_view content, Within where = Within::table);

// Lines, as a block of code.
std::string markdown_block(std::string_view lines);

}  // namespace holdfast::gate
