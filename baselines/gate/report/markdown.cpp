// SPDX-License-Identifier: Apache-2.0
// A verdict as Markdown, within the size that its reader takes.
#include <algorithm>
#include <sstream>
#include <utility>

#include "gate/base/numbers.hpp"
#include "gate/documents/verdict.hpp"
#include "gate/report/markdown_text.hpp"
#include "gate/report/profile_report.hpp"
#include "gate/report/terminal.hpp"
#include "gate/report/verdict_rows.hpp"

namespace holdfast::gate {
namespace {

constexpr std::size_t open_rows = 20;  // the rest is folded away

// Lines as long as there is room; `reserve` bytes stay for what must still be said.
class Page {
 public:
  explicit Page(std::size_t most_bytes) : left_(most_bytes) {}
  bool add(const std::string& line, std::size_t reserve = 0) {
    if (line.size() + reserve > left_) return false;
    left_ -= line.size();
    text_ += line;
    return true;
  }
  std::size_t left() const { return left_; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_ = {};
  std::size_t left_;
};

constexpr const char* table_head =
    "\n| verdict | case | device | variant | metric | baseline | now | change | limit | held "
    "against |\n"
    "|---|---|---|---|---|---|---|---|---|---|\n";
constexpr const char* end_of_fold = "\n</details>\n";
constexpr std::size_t room_for_an_end = 400;  // a closing tag and what was left out

std::string fold(const std::string& title) {
  return text("\n<details><summary>", title, "</summary>\n");
}

std::string table_row(const Row& row) {
  const auto value = [&](const std::optional<Value>& held) {
    return held ? markdown_text(readable(*held, row.unit)) : "-";
  };
  const std::string limit = !row.limit     ? "-"
                            : row.baseline ? percent(*row.limit)
                                           : markdown_text(readable(*row.limit, row.unit));
  return text("| ", row.verdict, row.blocking ? " (blocking)" : "", " | ",
              markdown_code(row.case_id), " | ", markdown_code(row.device_class), " | ",
              markdown_code(row.variant), " | ", markdown_code(row.metric), " | ",
              value(row.baseline), " | ", value(row.value), " | ",
              row.change ? percent(*row.change) : "-", " | ", limit, " | ",
              row.standard.empty() ? "-" : words_of(row.standard).substr(8), " |\n");
}

void add_rows(const std::vector<const Row*>& rows, Page& page) {
  if (rows.empty()) return;
  page.add(table_head);
  const std::size_t open = std::min(open_rows, rows.size());
  for (std::size_t i = 0; i < open; ++i) page.add(table_row(*rows[i]), room_for_an_end);
  if (open == rows.size()) return;
  if (!page.add(fold(text("and ", plural(rows.size() - open, "other row"))), 2 * room_for_an_end))
    return;
  page.add(table_head, room_for_an_end);
  std::size_t shown = open;
  while (shown < rows.size() && page.add(table_row(*rows[shown]), room_for_an_end)) ++shown;
  if (shown < rows.size())
    page.add(text("\n", plural(rows.size() - shown, "row"), " more in verdict.json\n"));
  page.add(end_of_fold);
}

// Why a row fails, and what to do: for the rows that stand open above.
void add_reasons(const std::vector<const Row*>& rows, Page& page) {
  std::size_t told = 0;
  for (const Row* row : rows) {
    if (!row->blocking || told == open_rows) break;
    std::string said = text("\n**", row->verdict, "** ", markdown_text(row->sentence), "\n");
    for (const auto& [name, line] : row->evidence)
      said += text("- ", markdown_text(name), ": ", markdown_text(line), "\n");
    if (row->next) said += text("- next: ", markdown_code(*row->next, Within::text), "\n");
    if (!page.add(said, room_for_an_end)) break;
    ++told;
  }
}

void add_accepted(const std::vector<const Row*>& rows, Page& page) {
  if (rows.empty()) return;
  page.add("\nBaselines that this change edits, with its measurements in agreement:\n", 0);
  page.add(
      "\n| case | device | variant | metric | before | now | why "
      "|\n|---|---|---|---|---|---|---|\n");
  for (const Row* row : rows) {
    const auto value = [&](const std::optional<Value>& held) {
      return held ? markdown_text(readable(*held, row->unit)) : "-";
    };
    const std::size_t why = row->sentence.rfind("accepted with this change: ");
    const std::string reason =
        why == std::string::npos ? row->sentence : row->sentence.substr(why + 27);
    page.add(
        text("| ", markdown_code(row->case_id), " | ", markdown_code(row->device_class), " | ",
             markdown_code(row->variant), " | ", markdown_code(row->metric), " | ",
             value(row->baseline), " | ", value(row->value), " | ", markdown_text(reason), " |\n"),
        room_for_an_end);
  }
}

// What the change does to what judges it.
void add_changes(const std::vector<RuleChange>& changes, Page& page) {
  if (changes.empty()) return;
  page.add("\nWhat this change does to what judges it:\n");
  page.add("\n| | rule | before | after | why |\n|---|---|---|---|---|\n");
  std::size_t shown = 0;
  for (const RuleChange& change : changes) {
    if (shown == open_rows ||
        !page.add(text("| ", name_of(change), " | ", markdown_text(change.rule), " | ",
                       markdown_text(change.before), " | ", markdown_text(change.after), " | ",
                       markdown_text(change.why), " |\n"),
                  room_for_an_end))
      break;
    ++shown;
  }
  if (shown < changes.size())
    page.add(text("\n", plural(changes.size() - shown, "change"), " more in verdict.json\n"));
}

void add_unchecked(const std::vector<std::string>& lines, Page& page) {
  if (lines.empty()) return;
  page.add("\nNot checked:\n\n");
  std::size_t shown = 0;
  while (shown < lines.size() &&
         page.add(text("- ", markdown_text(lines[shown]), "\n"), room_for_an_end))
    ++shown;
  if (shown < lines.size())
    page.add(text("- and ", lines.size() - shown, " more, in verdict.json\n"));
}

}  // namespace

std::string markdown(const Verdict& verdict, std::size_t most_bytes) {
  Page page(most_bytes);
  const bool amber = verdict.exit == 0 && !verdict.caveats.empty();
  page.add(text("## holdfast: ", amber ? ":warning: " : "", outcome(verdict), "\n\n",
                summary(verdict), " (exit ", verdict.exit, ")\n"));
  for (const std::string& note : verdict.notes) {
    std::istringstream lines(note);
    std::string quoted;
    for (std::string line; std::getline(lines, line);)
      quoted += text(quoted.empty() ? "\n> " : "\\\n> ", markdown_text(line));
    page.add(quoted + "\n", most_bytes - most_bytes / 4);
  }
  std::vector<const Row*> rows;
  std::vector<const Row*> accepted;
  for (const Row* row : worst_rows(verdict))
    (row->verdict == verdict::accepted ? accepted : rows).push_back(row);
  // What is not checked must not be the part that found no room.
  Page unchecked(most_bytes / 8);
  add_unchecked(verdict.not_checked, unchecked);
  const std::string last = unchecked.take();
  Page changes(most_bytes / 4);
  add_changes(verdict.changes, changes);
  const std::string told = changes.take();
  if (page.left() > told.size() + last.size()) page.add(told);
  Page body(page.left() - last.size());
  add_rows(rows, body);
  add_reasons(rows, body);
  add_accepted(accepted, body);
  if (!verdict.findings.empty())
    body.add(text("\nWhat the detectors saw (never a reason to fail):\n\n",
                  markdown_block(describe(verdict.findings, {.at_most = most_findings}))));
  page.add(body.take());
  page.add(last);
  return page.take();
}

}  // namespace holdfast::gate
