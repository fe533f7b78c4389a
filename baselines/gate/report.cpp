// SPDX-License-Identifier: Apache-2.0
#include "gate/report.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "gate/decide.hpp"
#include "gate/part.hpp"
#include "gate/profile_report.hpp"

namespace holdfast::gate {
namespace {

// Worst first: the order of the summary, and of what is printed.
constexpr std::array<const char*, 13> order = {
    verdict::wrong,    verdict::suspect_fast, verdict::regression,  verdict::missing,
    verdict::noisy,    verdict::drift,        verdict::environment, verdict::waived,
    verdict::improved, verdict::accepted,     verdict::fresh,       verdict::skipped,
    verdict::pass};

std::size_t rank(const std::string& name) {
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), name) - order.begin());
}

constexpr std::size_t most_findings = 10;

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

// Rows of one verdict on one variant are told together.
struct Group {
  const Row* head = nullptr;
  std::vector<const Row*> rows = {};
};

std::vector<Group> groups(const Verdict& verdict, bool blocking_only) {
  std::vector<Group> found;
  std::map<std::string, std::size_t> places;
  for (const Row& row : verdict.rows) {
    if (row.verdict == verdict::pass || row.verdict == verdict::fresh) {
      if (!row.blocking) continue;
    }
    if (blocking_only && !row.blocking) continue;
    const std::string key =
        text(row.case_id, '|', row.device_class, '|', row.variant, '|', row.verdict, row.blocking);
    const auto [place, is_new] = places.try_emplace(key, found.size());
    if (is_new) found.push_back({.head = &row});
    found[place->second].rows.push_back(&row);
  }
  std::stable_sort(found.begin(), found.end(), [](const Group& a, const Group& b) {
    return std::pair(!a.head->blocking, rank(a.head->verdict)) <
           std::pair(!b.head->blocking, rank(b.head->verdict));
  });
  return found;
}

std::string padded(std::string word, std::size_t width) {
  word.resize(std::max(word.size() + 1, width), ' ');
  return word;
}

// The sentence of a row without what its group's heading has already said.
std::string tail(const Row& row) {
  const std::size_t colon = row.sentence.find(": ");
  const std::string said =
      colon == std::string::npos ? row.sentence : row.sentence.substr(colon + 2);
  return !row.metric.empty() && said.starts_with(row.metric + ' ')
             ? said.substr(row.metric.size() + 1)
             : said;
}

std::string group_body(const Group& group) {
  std::ostringstream out;
  std::map<std::string, std::string> evidence;
  std::set<std::string> commands;
  for (const Row* row : group.rows) {
    out << "  " << (row->metric.empty() ? "" : padded(row->metric, 14)) << tail(*row) << "\n";
    for (const auto& [name, line] : row->evidence) evidence.try_emplace(name, line);
    if (row->next) commands.insert(*row->next);
  }
  for (const auto& [name, line] : evidence) out << "  " << padded(name, 14) << line << "\n";
  for (const std::string& command : commands) out << "  " << padded("next", 14) << command << "\n";
  return std::move(out).str();
}

// One cause often takes many cases along (a crash, one program that is compiled anew): what is to
// be said of all of them is said once, below their headings.
struct Told {
  std::vector<const Row*> heads = {};
  std::string body = {};
};

std::vector<Told> told_once(const std::vector<Group>& found) {
  std::vector<Told> all;
  std::map<std::string, std::size_t> places;
  for (const Group& group : found) {
    std::string body = group_body(group);
    const Row& head = *group.head;
    const auto [place, is_new] =
        places.try_emplace(text(head.verdict, '|', head.blocking, '|', head.device_class, '|',
                                head.variant, '|', body),
                           all.size());
    if (is_new) all.push_back({.body = std::move(body)});
    all[place->second].heads.push_back(group.head);
  }
  return all;
}

void print_heading(const Row& head, bool color, std::ostream& out) {
  const char* shade = head.blocking                                  ? "\033[1;31m"
                      : rank(head.verdict) < rank(verdict::improved) ? "\033[33m"
                                                                     : "\033[32m";
  out << (color ? shade : "") << padded(head.verdict, 12) << (color ? "\033[0m" : "")
      << head.case_id << "  " << head.device_class;
  if (head.variant != case_variant) out << "  " << head.variant;
  const bool warns = !head.blocking && rank(head.verdict) < rank(verdict::drift);
  out << (head.blocking ? "  (blocking)" : warns ? "  (a warning)" : "") << "\n";
}

std::string xml(const std::string& content) {
  std::string out;
  for (const char letter : content) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        // XML has no way to write most control characters.
        out += static_cast<unsigned char>(letter) < 0x20 && letter != '\n' && letter != '\t'
                   ? '?'
                   : letter;
    }
  }
  return out;
}

std::string cell(const std::string& content) {
  std::string out;
  for (const char letter : content)
    out += letter == '|' ? std::string("\\|") : std::string(1, letter);
  return out;
}

}  // namespace

std::string ctest_measurements(const Verdict& verdict) {
  std::string out;
  const auto measurement = [&](const std::string& name, double value) {
    out += text("<CTestMeasurement type=\"numeric/double\" name=\"", xml(name), "\">", value,
                "</CTestMeasurement>\n");
  };
  for (const auto& [name, count] : verdict.counts) measurement(name, static_cast<double>(count));
  for (const Row& row : verdict.rows) {
    const auto* value = row.value ? std::get_if<double>(&*row.value) : nullptr;
    if (value && (row.metric == "speedup" || row.metric == "peak_ratio"))
      measurement(text(row.case_id, ' ', row.metric), *value);
  }
  return out;
}

std::string summary(const Verdict& verdict) {
  std::string out;
  for (const char* name : order) {
    const auto count = verdict.counts.find(name);
    if (count != verdict.counts.end())
      out += text(out.empty() ? "" : ", ", count->second, " ", name);
  }
  return out.empty() ? "nothing was judged" : out;
}

void print(const Verdict& verdict, const Printing& printing, std::ostream& out) {
  for (const Told& told : told_once(groups(verdict, printing.quiet))) {
    for (const Row* head : told.heads) print_heading(*head, printing.color, out);
    out << told.body;
  }
  if (!printing.quiet && !verdict.findings.empty())
    out << "what the detectors saw (never a reason to fail):\n"
        << describe(verdict.findings, {.at_most = most_findings});
  for (const std::string& note : verdict.notes) out << "note: " << note << "\n";
  if (!printing.quiet)
    for (const std::string& line : verdict.not_checked) out << "not checked: " << line << "\n";
  out << summary(verdict) << " -> exit " << verdict.exit << " (" << meaning(verdict.exit) << ")\n";
}

std::string markdown(const Verdict& verdict) {
  std::string out = text("## holdfast: ", verdict.exit == 0 ? "well" : meaning(verdict.exit),
                         "\n\n", summary(verdict), " (exit ", verdict.exit, ")\n");
  for (const std::string& note : verdict.notes) out += text("\n> ", note, "\n");
  const std::vector<Group> found = groups(verdict, false);
  if (!found.empty())
    out +=
        "\n| verdict | case | device | variant | metric | baseline | now | change | limit |\n"
        "|---|---|---|---|---|---|---|---|---|\n";
  for (const Group& group : found) {
    for (const Row* row : group.rows) {
      const auto value = [&](const std::optional<Value>& held) {
        return held ? readable(*held, row->unit) : "-";
      };
      out += text("| ", row->verdict, row->blocking ? " (blocking)" : "", " | ", cell(row->case_id),
                  " | ", row->device_class, " | ", row->variant, " | ",
                  row->metric.empty() ? "-" : row->metric, " | ", value(row->baseline), " | ",
                  value(row->value), " | ", row->change ? percent(*row->change) : "-", " | ",
                  !row->limit     ? "-"
                  : row->baseline ? percent(*row->limit)
                                  : readable(*row->limit, row->unit),
                  " |\n");
    }
  }
  for (const Group& group : found) {
    if (!group.head->blocking) continue;
    out += text("\n**", group.head->verdict, "** ", group.head->case_id, " on ",
                group.head->device_class, "\n\n");
    for (const Row* row : group.rows) {
      out += text("- ", row->sentence, "\n");
      for (const auto& [name, line] : row->evidence) out += text("  - ", name, ": ", line, "\n");
      if (row->next) out += text("  - next: `", *row->next, "`\n");
    }
  }
  if (!verdict.findings.empty())
    out += text("\nWhat the detectors saw (never a reason to fail):\n\n```\n",
                describe(verdict.findings, {.at_most = most_findings}), "```\n");
  if (!verdict.not_checked.empty()) out += "\nNot checked:\n\n";
  for (const std::string& line : verdict.not_checked) out += text("- ", line, "\n");
  return out;
}

std::string junit(const Verdict& verdict) {
  std::map<std::pair<std::string, std::string>, std::vector<const Row*>> cases;
  for (const Row& row : verdict.rows) cases[{row.device_class, row.case_id}].push_back(&row);
  std::string body;
  std::size_t tests = cases.size();
  std::size_t failures = 0;
  std::size_t skipped = 0;
  for (const auto& [name, rows] : cases) {
    body +=
        text("    <testcase classname=\"", xml(name.first), "\" name=\"", xml(name.second), "\"");
    std::string content;
    std::string first;
    bool all_skipped = true;
    for (const Row* row : rows) {
      all_skipped = all_skipped && row->verdict == verdict::skipped;
      if (!row->blocking) continue;
      if (first.empty()) first = text(row->verdict, ": ", row->sentence);
      content += text(row->verdict, ": ", xml(row->sentence), "\n");
      for (const auto& [kind, line] : row->evidence)
        content += text("  ", xml(kind), ": ", xml(line), "\n");
      if (row->next) content += text("  next: ", xml(*row->next), "\n");
    }
    if (!content.empty()) {
      ++failures;
      body += text(">\n      <failure message=\"", xml(first), "\">", content,
                   "</failure>\n    </testcase>\n");
    } else if (all_skipped) {
      ++skipped;
      body += text(">\n      <skipped message=\"", xml(rows.front()->sentence),
                   "\"/>\n    </testcase>\n");
    } else {
      body += "/>\n";
    }
  }
  if (failures == 0 && verdict.exit != 0 && verdict.exit != exit_code(Fault::no_device)) {
    // What stopped the check, or spoils it as a whole, belongs to no case.
    std::string why;
    for (const std::string& note : verdict.notes) why += (why.empty() ? "" : "; ") + note;
    ++tests;
    ++failures;
    body += text("    <testcase classname=\"holdfast\" name=\"check\">\n      <failure message=\"",
                 xml(why), "\"/>\n    </testcase>\n");
  }
  const std::string totals =
      text("tests=\"", tests, "\" failures=\"", failures, "\" skipped=\"", skipped, "\"");
  return text(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"holdfast\" ",
      totals, ">\n", body, "  </testsuite>\n</testsuites>\n");
}

}  // namespace holdfast::gate
