// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>

#include "gate/base/numbers.hpp"
#include "gate/base/printing.hpp"
#include "gate/commands/commands.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/explain/difference.hpp"

namespace holdfast::gate {
namespace {

// "1.178 MB -> 2.356 MB"
std::string moved(const DifferenceRow& row) {
  const std::string unit = unit_of_name(row.metric);
  if (row.before && row.after) {
    const auto [before, after] = told_apart(*row.before, *row.after, unit);
    return text(before, " -> ", after);
  }
  const auto shown = [&](const std::optional<Value>& value) {
    return value ? readable(*value, unit) : "absent";
  };
  return text(shown(row.before), " -> ", shown(row.after));
}

void print(const DifferenceRow& row) {
  if (printing().quiet && !row.must_agree()) return;
  std::cout << "  " << (row.must_agree() ? toned(Tone::bad, "differs  ") : "         ")
            << row.case_id << "  " << row.variant << "  " << row.metric << "  " << moved(row);
  const double* before = row.before ? std::get_if<double>(&*row.before) : nullptr;
  const double* after = row.after ? std::get_if<double>(&*row.after) : nullptr;
  if (before && after && *before != 0) std::cout << "  " << percent(*after / *before - 1);
  std::cout << '\n';
}

// The list of the build that measured both; empty if different builds did, or none is known.
std::optional<List> list_beside(const StoredResults& before, const StoredResults& after) {
  const auto path = [](const StoredResults& stored) {
    return list_path(stored.file.parent_path(), stored.results.suite);
  };
  if (!std::filesystem::exists(path(before)) || !std::filesystem::exists(path(after)) ||
      read_file(path(before)) != read_file(path(after)))
    return std::nullopt;
  return parse_list(Document(path(before).string(), read_file(path(before))));
}

// Prints a pair and returns whether it is equal.
bool print(const Pair& pair) {
  if (!pair.before || !pair.after) {
    const Results& there = (pair.before ? pair.before : pair.after)->results;
    std::cout << there.suite << " on " << there.env.device_class << ": only in the "
              << (pair.before ? "first" : "second") << " folder\n";
    return false;
  }
  const Results& before = pair.before->results;
  const Results& after = pair.after->results;
  Difference difference = compare(before, after);
  if (const auto list = list_beside(*pair.before, *pair.after))
    forget_undeclared(difference, *list, device_kind(before.env.device_name),
                      device_kind(after.env.device_name));
  const std::string& left = before.env.device_class;
  const std::string& right = after.env.device_class;
  std::cout << before.suite << " on " << left << (left == right ? "" : " against " + right) << '\n';
  for (const DifferenceRow& row : difference.rows) print(row);
  for (const std::string& id : difference.only_before)
    std::cout << "  only in the first   " << id << '\n';
  for (const std::string& id : difference.only_after)
    std::cout << "  only in the second  " << id << '\n';
  for (const std::string& words : difference.unwell)
    std::cout << "  " << toned(Tone::bad, "no result") << "           " << words << '\n';
  const std::size_t alone = difference.only_before.size() + difference.only_after.size();
  const auto differing = static_cast<std::size_t>(
      std::count_if(difference.rows.begin(), difference.rows.end(),
                    [](const DifferenceRow& row) { return row.must_agree(); }));
  std::cout << "  " << plural(difference.common_cases, "common case") << ", "
            << (differing == 0 ? difference.unwell.empty()
                                     ? std::string("counts and code are equal")
                                     : text(plural(difference.unwell.size(), "case"),
                                            " without a right result")
                               : text(plural(differing, "count or code metric"),
                                      differing == 1 ? " differs" : " differ"))
            << (alone == 0 ? "" : text("; ", plural(alone, "case"), " on one side alone"))
            << (difference.declared_for_one == 0
                    ? ""
                    : text("; ", plural(difference.declared_for_one, "case"),
                           " declared for one of the two devices left out"))
            << '\n';
  return difference.equal();
}

int diff(const Options& options) {
  const auto before = read_all_results(options.operands()[0]);
  const auto after = read_all_results(options.operands()[1]);
  bool equal = true;
  for (const Pair& pair : pair_up(before, after, options.values("class")))
    equal = print(pair) && equal;
  return equal ? 0 : exit_code(Fault::regression);
}

}  // namespace

Command diff_command() {
  return {.name = "diff",
          .summary = "Shows two results folders side by side, without a baseline.",
          .details =
              "Exit 1 where counts or code differ, or a case is on one side alone or has no right "
              "result.",
          .operands = "DIR_A DIR_B",
          .fewest_operands = 2,
          .most_operands = 2,
          .options = {{"class", "A=B", "device class A of the first stands against B of the second",
                       true}},
          .examples = "  holdfast diff results.before results --class=nvidia-h200=cuda-dry-sm_90\n",
          .run = diff};
}

}  // namespace holdfast::gate
