// SPDX-License-Identifier: Apache-2.0
#include "gate/report/verdict_rows.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "gate/documents/verdict.hpp"

namespace holdfast::gate {

const char* meaning(int exit) {
  switch (exit) {
    case 0:
      return "well";
    case 1:
      return "a blocking regression";
    case 3:
      return "incomplete";
    case 4:
      return "undecided";
    case 77:
      return "no such device";
    default:
      return "usage or a bad file";
  }
}

std::string outcome(const Verdict& verdict) {
  if (verdict.exit != 0 || verdict.caveats.empty()) return meaning(verdict.exit);
  std::string said = "passed";
  for (const std::string& caveat : verdict.caveats) said += "; " + caveat;
  return said;
}

std::string held_line(const Verdict& verdict) {
  std::map<std::string, std::size_t> counts;
  for (const Row& row : verdict.rows)
    if (!row.standard.empty()) ++counts[row.standard];
  std::string out;
  for (const auto& [standard, count] : counts)
    out += text(out.empty() ? "" : ", ", count, ' ', words_of(standard).substr(8));
  return out.empty() ? out : "held against: " + out;
}

const char* name_of(const RuleChange& change) {
  return change.blocking ? "LOOSENED" : change.loosens ? verdict::accepted : "changed";
}

std::vector<RowGroup> row_groups(const Verdict& verdict, bool blocking_only) {
  std::vector<RowGroup> found;
  std::map<std::string, std::size_t> places;
  for (const Row& row : verdict.rows) {
    const bool quiet = row.verdict == verdict::pass || row.verdict == verdict::fresh;
    if ((quiet || blocking_only) && !row.blocking) continue;
    const std::string key =
        text(row.case_id, '|', row.device_class, '|', row.variant, '|', row.verdict, row.blocking);
    const auto [place, is_new] = places.try_emplace(key, found.size());
    if (is_new) found.push_back({.head = &row});
    found[place->second].rows.push_back(&row);
  }
  std::stable_sort(found.begin(), found.end(), [](const RowGroup& a, const RowGroup& b) {
    const auto order = [](const RowGroup& group) {
      const bool busy = group.head->evidence.contains("load");  // told last of its like
      return std::tuple(!group.head->blocking, busy, severity(group.head->verdict));
    };
    return order(a) < order(b);
  });
  return found;
}

std::vector<const Row*> worst_rows(const Verdict& verdict) {
  std::vector<const Row*> rows;
  for (const RowGroup& group : row_groups(verdict, false))
    rows.insert(rows.end(), group.rows.begin(), group.rows.end());
  return rows;
}

}  // namespace holdfast::gate
