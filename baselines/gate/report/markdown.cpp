// SPDX-License-Identifier: Apache-2.0
// A verdict as Markdown, within the size that its reader takes.
#include <algorithm>
#include <sstream>
#include <utility>

#include "gate/base/numbers.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/row_sentence.hpp"
#include "gate/report/markdown_text.hpp"
#include "gate/report/profile_report.hpp"
#include "gate/report/terminal.hpp"
#include "gate/report/verdict_rows.hpp"

namespace holdfast::gate {
namespace {

constexpr std::size_t open_rows = 20;  // the rest is folded away
constexpr std::size_t open_kernels = 8, most_named_cases = 50;

// Lines as long as there is room; `reserve` bytes stay for what must still be said.
class Page {
 public:
  explicit Page(std::size_t most_bytes) : left_(most_bytes) {}
  bool add(const std::string& line, std::size_t reserve = 0) {
    return add_to(text_, line, reserve);
  }
  // Takes the room of a line of a part that is placed later.
  bool add_to(std::string& part, const std::string& line, std::size_t reserve) {
    if (line.size() + reserve > left_) return false;
    left_ -= line.size();
    part += line;
    return true;
  }
  void place(const std::string& part) { text_ += part; }
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
constexpr std::size_t room_for_an_end = 400;  // closing tags and what was left out

std::string fold(const std::string& title) {
  return text("\n<details><summary>", title, "</summary>\n");
}

// A row of the table; `more` is what stands behind its case.
std::string table_row(const Row& row, const std::string& more = "") {
  const auto value = [&](const std::optional<Value>& held) {
    return held ? markdown_text(readable(*held, row.unit)) : "-";
  };
  const std::string limit = !row.limit     ? "-"
                            : row.baseline ? percent(*row.limit)
                                           : markdown_text(readable(*row.limit, row.unit));
  return text("| ", row.verdict, row.blocking ? " (blocking)" : "", " | ",
              markdown_code(row.case_id), more.empty() ? "" : ' ' + more, " | ",
              markdown_code(row.device_class), " | ", markdown_code(row.variant), " | ",
              markdown_code(row.metric), " | ", value(row.baseline), " | ", value(row.value), " | ",
              row.change ? percent(*row.change) : "-", " | ", limit, " | ",
              row.standard.empty() ? "-" : words_of(row.standard), " |\n");
}

// A row, and what its case stands for.
struct Listed {
  const Row* row = nullptr;
  std::string more = {};
};

// A kernel, or a table of rows: what stands open, the rest of the rows, and why the open ones fail.
struct Section {
  std::vector<Listed> rows = {};
  std::size_t shown = 0;  // of the rows, from the first on
  std::string open = {}, folded = {}, reasons = {};
};

// Shows rows up to this number; `begin` stands before the first of them.
void show_rows(std::size_t number, std::string begin, std::string& part, Section& section,
               Page& page) {
  for (; section.shown < std::min(number, section.rows.size()); ++section.shown) {
    const auto& [row, more] = section.rows[section.shown];
    if (!page.add_to(part, begin + table_row(*row, more), room_for_an_end)) return;
    begin.clear();
  }
}

void add_open(Section& section, Page& page) {
  show_rows(open_rows, section.shown == 0 ? table_head : "", section.open, section, page);
}

void add_folded(Section& section, Page& page) {
  const std::string title = text("and ", plural(section.rows.size() - section.shown, "other row"));
  show_rows(section.rows.size(), fold(title) + table_head, section.folded, section, page);
  if (!section.folded.empty()) page.add_to(section.folded, end_of_fold, 0);
}

std::string evidence_line(const std::string& name, const std::string& words) {
  return text("- ", markdown_text(name), ": ", markdown_text(words), "\n");
}

// Why a row fails, and what to do: for the rows that stand open.
void add_reasons(Section& section, Page& page) {
  for (std::size_t i = 0; i < section.shown; ++i) {
    const Row* row = section.rows[i].row;
    if (!row->blocking) break;
    std::string said = text("\n**", row->verdict, "** ", markdown_text(row->sentence), "\n");
    for (const auto& [name, line] : row->evidence) said += evidence_line(name, line);
    if (row->next) said += text("- next: ", markdown_code(*row->next, Within::text), "\n");
    if (!page.add_to(section.reasons, said, room_for_an_end)) break;
  }
}

// A kernel that makes cases fail: the cause, each metric once, the cases.
std::string kernel_text(const ToldGroup& group) {
  std::string said = text("\n**", group.head->verdict, "** (blocking) ", markdown_text(group.code),
                          "\n", table_head);
  for (const Row* row : group.metrics) said += table_row(*row);
  if (!group.other_cases.empty()) {
    said += fold(more_cases(group));
    const std::size_t named = std::min(most_named_cases, group.other_cases.size());
    for (std::size_t i = 0; i < named; ++i)
      said += text("\n- ", markdown_code(group.other_cases[i], Within::text));
    if (named < group.other_cases.size())
      said += text("\n- and ", group.other_cases.size() - named, " more, in verdict.json");
    said += text('\n', end_of_fold);
  }
  said += '\n';
  for (const auto& [name, words] : group.evidence()) said += evidence_line(name, words);
  for (const std::string& command : group.commands())
    said += text("- next: ", markdown_code(command, Within::text), "\n");
  return said;
}

// Returns how many rows found no room.
std::size_t add_accepted(const std::vector<const Row*>& rows, Page& page) {
  std::string begin =
      "\nBaselines that this change edits, with its measurements in agreement:\n"
      "\n| case | device | variant | metric | before | now | why "
      "|\n|---|---|---|---|---|---|---|\n";
  std::size_t left_out = 0;
  for (const Row* row : rows) {
    const auto value = [&](const std::optional<Value>& held) {
      return held ? markdown_text(readable(*held, row->unit)) : "-";
    };
    if (page.add(
            text(begin, "| ", markdown_code(row->case_id), " | ", markdown_code(row->device_class),
                 " | ", markdown_code(row->variant), " | ", markdown_code(row->metric), " | ",
                 value(row->baseline), " | ", value(row->value), " | ",
                 markdown_text(std::string(why_accepted(*row))), " |\n"),
            room_for_an_end))
      begin.clear();
    else
      ++left_out;
  }
  return left_out;
}

// The first quarter of the page has room for them.
void add_notes(const std::vector<std::string>& notes, std::size_t most_bytes, Page& page) {
  const std::size_t reserve = most_bytes - most_bytes / 4;
  std::size_t left_out = 0;
  for (const std::string& note : notes) {
    std::istringstream lines(note);
    std::string quoted;
    for (std::string line; std::getline(lines, line);)
      quoted += text(quoted.empty() ? "\n> " : "\\\n> ", markdown_text(line));
    if (!page.add(quoted + "\n", reserve)) ++left_out;
  }
  if (left_out > 0) page.add(text("\n> ", plural(left_out, "note"), " more, in verdict.json\n"));
}

void add_findings(const std::vector<Detection>& findings, Page& page) {
  const std::string seen =
      describe(findings, {.at_most = most_findings}) + describe_expected(findings);
  if (seen.empty()) return;
  const char* title = "\nWhat the detectors saw (never a reason to fail)";
  if (!page.add(text(title, ":\n\n", markdown_block(seen))))
    page.add(text(title, " is in verdict.json\n"));
}

// In their order: a kernel that makes cases fail by itself, what stands between two of them in a
// table. What stands open finds room first, in all sections, then the reasons, then what is folded.
void add_groups(const std::vector<ToldGroup>& groups, Page& page) {
  std::vector<Section> sections(1);  // the last one is a table
  std::vector<const Row*> accepted;
  std::size_t kernels = 0;
  for (const ToldGroup& group : groups) {
    if (group.blocks() && !group.code.empty() && kernels < open_kernels) {
      add_open(sections.back(), page);
      Section kernel;
      if (page.add_to(kernel.open, kernel_text(group), room_for_an_end)) {
        sections.push_back(std::move(kernel));
        sections.emplace_back();
        ++kernels;
        continue;
      }
    }
    for (const Row* row : group.metrics)
      if (row->verdict == verdict::accepted)
        accepted.push_back(row);
      else
        sections.back().rows.push_back({row, more_cases(group)});
  }
  add_open(sections.back(), page);
  for (Section& section : sections) add_reasons(section, page);
  std::size_t left_out = 0;
  for (Section& section : sections) {
    add_folded(section, page);
    left_out += section.rows.size() - section.shown;
    page.place(section.open + section.folded + section.reasons);
  }
  left_out += add_accepted(accepted, page);
  if (left_out > 0) page.add(text("\n", plural(left_out, "row"), " more in verdict.json\n"));
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
  add_notes(verdict.notes, most_bytes, page);
  // What is not checked must not be the part that found no room.
  Page unchecked(most_bytes / 8);
  add_unchecked(verdict.not_checked, unchecked);
  const std::string last = unchecked.take();
  Page changes(most_bytes / 4);
  add_changes(verdict.changes, changes);
  const std::string told = changes.take();
  if (page.left() > told.size() + last.size()) page.add(told);
  Page body(page.left() - last.size());
  add_groups(told_groups(verdict, false), body);
  add_findings(verdict.findings, body);
  page.add(body.take());
  page.add(last);
  return page.take();
}

}  // namespace holdfast::gate
