// SPDX-License-Identifier: Apache-2.0
// Columns for a terminal.
#pragma once

#include <string>
#include <vector>

namespace holdfast::gate {

// Rows of cells, each column as wide as its widest cell: words flush left, numbers right. A row may
// have fewer cells than others; none is empty.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> heading) : rows_{std::move(heading)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.size() == 1; }
  std::string str(const std::string& indent) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace holdfast::gate
