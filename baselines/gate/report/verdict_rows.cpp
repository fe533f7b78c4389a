// SPDX-License-Identifier: Apache-2.0
#include "gate/report/verdict_rows.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "gate/base/error.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/verdict_names.hpp"

namespace holdfast::gate {
namespace {

// Rows of one verdict on one variant, which are told together.
struct RowGroup {
  const Row* head = nullptr;
  std::vector<const Row*> rows = {};
};

constexpr const char* code_evidence = "code";

// "stage" of the evidence "stage<double>: registers 64 -> 96, ...; 4 other kernels identical";
// empty where it does not begin with a kernel that changed.
std::string changed_kernel(const Row& row) {
  const auto code = row.evidence.find(code_evidence);
  if (code == row.evidence.end() || row.verdict == verdict::accepted) return "";
  const std::string first = code->second.substr(0, code->second.find(';'));
  const std::size_t colon = first.find(": ");
  if (colon == std::string::npos || first.find(" -> ", colon) == std::string::npos) return "";
  return first.substr(0, std::min(colon, first.find('<')));
}

// A case's own rows are of its optimized variant.
std::string kernel_of_case(const Row& row, const std::string& kernel) {
  return text(row.device_class, '|', row.variant == case_variant ? "optimized" : row.variant, '|',
              kernel);
}

void take_row(const Row& row, ToldGroup& group) {
  const auto same = [&](const Row* one) {
    return one->variant == row.variant && one->metric == row.metric;
  };
  if (std::none_of(group.metrics.begin(), group.metrics.end(), same)) group.metrics.push_back(&row);
  auto& others = group.other_cases;
  if (row.case_id != group.head->case_id &&
      std::find(others.begin(), others.end(), row.case_id) == others.end())
    others.push_back(row.case_id);
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
  // What a busy machine may have caused is told last of its like.
  const auto is_busy = [](const Row* row) { return row->evidence.contains("load"); };
  for (RowGroup& group : found) {
    std::ranges::stable_sort(group.rows, {}, is_busy);
    group.head = group.rows.front();
  }
  std::stable_sort(found.begin(), found.end(), [&](const RowGroup& a, const RowGroup& b) {
    const auto order = [&](const RowGroup& group) {
      return std::tuple(!group.head->blocking, is_busy(group.head), severity(group.head->verdict));
    };
    return order(a) < order(b);
  });
  return found;
}

// What a kernel made worse in one case, and better in another, are two things to tell.
std::set<std::string> failing_kernels(const std::vector<RowGroup>& groups) {
  std::set<std::string> failing;
  for (const RowGroup& group : groups)
    for (const Row* row : group.rows)
      if (row->blocking)
        failing.insert(text(row->case_id, '|', kernel_of_case(*row, changed_kernel(*row))));
  return failing;
}

constexpr std::pair<const char*, const char*> blocking_meanings[] = {
    {verdict::wrong, "a wrong result"},
    {verdict::suspect_fast, "an impossible speed"},
    {verdict::regression, "a blocking regression"},
    {verdict::changed, "a blocking change"},
    {verdict::drift, "blocking drift"}};

// By the worst of what blocks.
const char* meaning_of_failure(const Verdict& judged) {
  for (const auto& [name, meaning] : blocking_meanings)
    for (const Row& row : judged.rows)
      if (row.blocking && row.verdict == name) return meaning;
  const bool loosens = std::ranges::any_of(judged.changes, &RuleChange::blocking);
  return loosens ? "a loosening without a reason" : "a blocking regression";
}

const char* meaning(int exit) {
  switch (exit) {
    case 0:
      return "well";
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

}  // namespace

std::string outcome(const Verdict& verdict) {
  if (verdict.exit == exit_code(Fault::regression)) return meaning_of_failure(verdict);
  if (verdict.exit != 0 || verdict.caveats.empty()) return meaning(verdict.exit);
  std::string said = "passed";
  for (const std::string& caveat : verdict.caveats) said += "; " + caveat;
  return said;
}

std::string compared_line(const Verdict& verdict) {
  const auto compared = [&](const char* standard) {
    return static_cast<std::size_t>(
        std::ranges::count(verdict.rows, std::string_view(standard), &Row::standard));
  };
  const std::size_t beside = compared(held_against::beside);
  if (beside == 0) return "";
  std::string out;
  if (const auto count = compared(held_against::accepted); count > 0)
    add_to(out, plural(count, "accepted value"));
  add_to(out, plural(beside, "value") + " of the base");
  if (const auto count = compared(held_against::bound); count > 0)
    add_to(out, plural(count, "bound"));
  return "compared with: " + out;
}

const char* name_of(const RuleChange& change) {
  return change.blocking ? "LOOSENED" : change.loosens ? verdict::accepted : "changed";
}

std::vector<ToldGroup> told_groups(const Verdict& verdict, bool blocking_only) {
  const std::vector<RowGroup> groups = row_groups(verdict, blocking_only);
  const std::set<std::string> failing = failing_kernels(groups);
  std::vector<ToldGroup> told;
  std::map<std::string, std::size_t> places;
  for (const RowGroup& group : groups) {
    std::optional<std::size_t> plain;
    for (const Row* row : group.rows) {
      const std::string kernel = changed_kernel(*row);
      if (kernel.empty()) {
        if (!plain) {
          plain = told.size();
          told.push_back({.head = row});
        }
        told[*plain].metrics.push_back(row);
        continue;
      }
      const std::string name = kernel_of_case(*row, kernel);
      const bool fails = failing.contains(text(row->case_id, '|', name));
      const auto [place, is_new] = places.try_emplace(text(fails, '|', name), told.size());
      if (is_new) told.push_back({.head = row, .code = row->evidence.at(code_evidence)});
      take_row(*row, told[place->second]);
    }
  }
  return told;
}

std::map<std::string, std::string> ToldGroup::evidence() const {
  std::map<std::string, std::string> all;
  for (const Row* row : metrics)
    if (row->case_id == head->case_id)
      for (const auto& [name, words] : row->evidence)
        if (code.empty() || name != code_evidence) all.try_emplace(name, words);
  return all;
}

std::set<std::string> ToldGroup::commands() const {
  std::set<std::string> all;
  for (const Row* row : metrics)
    if (row->case_id == head->case_id && row->next) all.insert(*row->next);
  return all;
}

std::string more_cases(const ToldGroup& group) {
  return group.other_cases.empty() ? ""
                                   : text("and ", group.other_cases.size(), " more case",
                                          group.other_cases.size() == 1 ? "" : "s");
}

std::vector<const Row*> worst_rows(const Verdict& verdict) {
  std::vector<const Row*> rows;
  for (const RowGroup& group : row_groups(verdict, false))
    rows.insert(rows.end(), group.rows.begin(), group.rows.end());
  return rows;
}

}  // namespace holdfast::gate
