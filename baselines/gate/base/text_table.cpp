// SPDX-License-Identifier: Apache-2.0
#include "gate/base/text_table.hpp"

#include <algorithm>
#include <cctype>

#include "gate/base/error.hpp"

namespace holdfast::gate {

std::string TextTable::str(const std::string& indent) const {
  std::vector<std::size_t> widths;
  std::vector<bool> words;  // whether a column holds words, which stand flush left
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size()) {
        widths.push_back(0);
        words.push_back(i == 0);
      }
      if (&row != &rows_.front() && std::isalpha(static_cast<unsigned char>(row[i][0])))
        words[i] = true;
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string out;
  for (const auto& row : rows_) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      line += text(i == 0 ? "" : "  ", words[i] ? row[i] + space : space + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

}  // namespace holdfast::gate
