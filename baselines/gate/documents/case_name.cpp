// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/case_name.hpp"

#include <algorithm>

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

}  // namespace

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

std::string pattern_of(const std::string& id) {
  std::string out = "^";
  for (const char letter : id) {
    if (std::string_view(".^$|()[]{}*+?\\").find(letter) != std::string_view::npos) out += '\\';
    out += letter;
  }
  return out + '$';
}

}  // namespace holdfast::gate
