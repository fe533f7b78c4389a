// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/case_name.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "gate/base/error.hpp"
#include "gate/base/options.hpp"

namespace holdfast::gate {
namespace {

constexpr std::size_t told_at_most = 12;

std::string listed(const std::vector<std::string>& ids) {
  std::string out;
  for (std::size_t i = 0; i < std::min(ids.size(), told_at_most); ++i) out += "\n  " + ids[i];
  if (ids.size() > told_at_most) out += text("\n  and ", ids.size() - told_at_most, " more");
  return out;
}

// The axes of a case in the order of its name; the dtype is one without a key.
std::vector<std::pair<std::string, std::string>> axes_of(std::string_view case_id) {
  std::vector<std::pair<std::string, std::string>> axes;
  while (!case_id.empty()) {
    const std::size_t end = std::min(case_id.find('/'), case_id.size());
    const std::string_view segment = case_id.substr(0, end);
    const std::size_t colon = segment.find(':');
    case_id.remove_prefix(std::min(end + 1, case_id.size()));
    if (colon != std::string_view::npos)
      axes.emplace_back(segment.substr(0, colon), segment.substr(colon + 1));
    else if (case_id.empty())
      axes.emplace_back("", segment);
  }
  return axes;
}

}  // namespace

bool has_same_axes(std::string_view case_id, std::string_view other_id) {
  auto axes = axes_of(case_id), others = axes_of(other_id);
  const bool same_values =
      std::equal(axes.begin(), axes.end(), others.begin(), others.end(),
                 [](const auto& a, const auto& b) { return a.second == b.second; });
  const std::map<std::string, std::string> values(others.begin(), others.end());
  const bool none_is_another = std::all_of(axes.begin(), axes.end(), [&](const auto& axis) {
    const auto other = values.find(axis.first);
    return other == values.end() || other->second == axis.second;
  });
  std::sort(axes.begin(), axes.end());
  std::sort(others.begin(), others.end());
  return axes == others || (same_values && none_is_another);
}

std::string resolve_case(const std::string& word, const std::vector<std::string>& ids,
                         const std::string& where) {
  if (std::find(ids.begin(), ids.end(), word) != ids.end()) return word;
  std::vector<std::string> matches;
  for (const std::string& id : ids)
    if (!word.empty() && id.find(word) != std::string::npos) matches.push_back(id);
  if (matches.size() == 1) return matches.front();
  if (!matches.empty())
    throw Error(Fault::bad_input, text("'", word, "' is part of ", matches.size(), " cases of ",
                                       where, "; name one of them:", listed(matches)));
  if (const auto meant = nearest(word, ids))
    throw Error(Fault::bad_input,
                text(where, " has no case '", word, "'; did you mean ", *meant, "?"));
  throw Error(Fault::bad_input,
              ids.empty() ? text(where, " has no case at all")
                          : text(where, " has no case '", word, "'; it has:", listed(ids)));
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (std::string_view(".^$|()[]{}*+?\\").find(letter) != std::string_view::npos) out += '\\';
    out += letter;
  }
  return out;
}

std::string pattern_of(const std::string& id) {
  return '^' + escaped(id) + '$';
}

}  // namespace holdfast::gate
