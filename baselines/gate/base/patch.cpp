// SPDX-License-Identifier: Apache-2.0
#include "gate/base/patch.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "gate/base/error.hpp"

namespace holdfast::gate {
namespace {

constexpr std::size_t context = 3;

std::vector<std::string> lines_of(const std::string& content) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = std::min(content.find('\n', begin), content.size());
    lines.push_back(content.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Every line of both texts, led by ' ', '-' or '+': a line of `before` is matched with the next
// equal one of `after`.
std::vector<std::string> marked_lines(const std::vector<std::string>& before,
                                      const std::vector<std::string>& after) {
  std::map<std::string, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < after.size(); ++i) places[after[i]].push_back(i);
  std::vector<std::string> marked;
  std::size_t written = 0;
  for (const std::string& line : before) {
    const std::vector<std::size_t>& equal = places[line];
    const auto next = std::lower_bound(equal.begin(), equal.end(), written);
    if (next == equal.end()) {
      marked.push_back('-' + line);
      continue;
    }
    while (written < *next) marked.push_back('+' + after[written++]);
    marked.push_back(' ' + line);
    ++written;
  }
  while (written < after.size()) marked.push_back('+' + after[written++]);
  return marked;
}

}  // namespace

std::string unified_diff(const std::string& path, const std::string& before,
                         const std::string& after) {
  if (before == after) return "";
  std::string out = text("diff --git a/", path, " b/", path, "\n");
  out +=
      before.empty() ? text("new file mode 100644\n--- /dev/null\n") : text("--- a/", path, "\n");
  out += text("+++ b/", path, "\n");
  const std::vector<std::string> marked = marked_lines(lines_of(before), lines_of(after));
  std::size_t old_line = 1;
  std::size_t new_line = 1;
  for (std::size_t i = 0; i < marked.size();) {
    if (marked[i][0] == ' ') {
      ++i, ++old_line, ++new_line;
      continue;
    }
    // A hunk ends where twice the context stays unchanged.
    std::size_t end = i + 1;
    for (std::size_t j = end; j < marked.size() && j < end + 2 * context; ++j)
      if (marked[j][0] != ' ') end = j + 1;
    const std::size_t lead = std::min({context, i, old_line - 1});
    const std::size_t tail = std::min(context, marked.size() - end);
    std::string body;
    std::size_t old_count = 0;
    std::size_t new_count = 0;
    for (std::size_t j = i - lead; j < end + tail; ++j) {
      old_count += marked[j][0] != '+';
      new_count += marked[j][0] != '-';
      body += marked[j] + '\n';
    }
    out += text("@@ -", before.empty() ? 0 : old_line - lead, ",", old_count, " +", new_line - lead,
                ",", new_count, " @@\n", body);
    old_line += old_count - lead;
    new_line += new_count - lead;
    i = end + tail;
  }
  return out;
}

}  // namespace holdfast::gate
