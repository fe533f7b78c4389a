// SPDX-License-Identifier: Apache-2.0
#include "gate/report/terminal.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "gate/base/json.hpp"
#include "gate/compare/confirm.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/judge/row_sentence.hpp"
#include "gate/report/profile_report.hpp"
#include "gate/report/verdict_rows.hpp"

namespace holdfast::gate {
namespace {

std::string padded(std::string word, std::size_t width) {
  word.resize(std::max(word.size() + 1, width), ' ');
  return word;
}

std::string line(const std::string& name, const std::string& words) {
  return text("  ", name.empty() ? "" : padded(name, 14), words, '\n');
}

// What happened, and what tells why: of a kernel the cause, then each metric once, then the cases.
std::string findings_of(const ToldGroup& group) {
  const Row& head = *group.head;
  std::string out = group.code.empty() ? "" : line("code", group.code);
  for (const Row* row : group.metrics) {
    const bool differs = row->verdict != head.verdict || row->blocking != head.blocking;
    out += line(
        row->metric,
        text(differs ? text(row->verdict, row->blocking ? " (blocking): " : ": ") : "",
             because(*row), row->case_id == head.case_id ? "" : text(" (in ", row->case_id, ")")));
  }
  for (const auto& [name, words] : group.evidence()) out += line(name, words);
  if (!group.other_cases.empty())
    out += line("cases",
                text(more_cases(group), "; numbers are those of the first, verdict.json has each"));
  return out;
}

std::string commands_of(const ToldGroup& group) {
  std::string out;
  for (const std::string& command : group.commands()) out += line("next", command);
  return out;
}

// What is to be said of many cases in the same words (a crash) is said once, below their headings.
struct Told {
  std::vector<const Row*> heads = {};
  std::string findings = {}, commands = {};
};

std::vector<Told> told_once(const std::vector<ToldGroup>& found) {
  std::vector<Told> all;
  std::map<std::string, std::size_t> places;
  for (const ToldGroup& group : found) {
    const Row& head = *group.head;
    const std::string findings = findings_of(group);
    const auto [place, is_new] =
        places.try_emplace(text(head.verdict, '|', head.blocking, '|', head.device_class, '|',
                                head.variant, '|', findings),
                           all.size());
    if (is_new) all.push_back({.findings = findings, .commands = commands_of(group)});
    all[place->second].heads.push_back(group.head);
  }
  return all;
}

void print_heading(const Row& head, const Printing& printing, std::ostream& out) {
  const Tone tone = head.blocking                                          ? Tone::bad
                    : severity(head.verdict) < severity(verdict::improved) ? Tone::warning
                                                                           : Tone::good;
  out << toned(tone, padded(head.verdict, 12), printing) << head.case_id << "  "
      << head.device_class;
  if (head.variant != case_variant) out << "  " << head.variant;
  const bool warns = !head.blocking && head.verdict != verdict::warning &&
                     severity(head.verdict) < severity(verdict::drift);
  const bool confirmed =
      head.verdict == verdict::regression && head.evidence.contains(confirmation_evidence);
  if (head.blocking || warns)
    out << (head.blocking ? "  (blocking" : "  (a warning") << (confirmed ? ", confirmed)" : ")");
  out << "\n";
}

constexpr std::size_t most_changes = 30;

// What a dashboard draws of each case, by variant.
constexpr std::array<std::pair<const char*, const char*>, 6> headlines = {
    {{case_variant, "speedup"},
     {case_variant, "peak_ratio"},
     {"optimized", "time_s"},
     {"optimized", "launches"},
     {"optimized", "peak_bytes"},
     {"optimized", "registers_max"}}};

// "toy/step/n:64/f64 speedup", with the class before it where rows of several would bear one name.
std::string headline_name(const Row& row, bool several) {
  return text(several ? row.device_class + ' ' : "", row.case_id, ' ', row.metric);
}

void print_changes(const Verdict& verdict, const Printing& printing, std::ostream& out) {
  std::size_t told = 0;
  for (const RuleChange& change : verdict.changes) {
    if (printing.quiet && !change.blocking) continue;
    if (told == 0) out << "what this change does to what judges it:\n";
    if (++told > most_changes && !change.blocking) continue;
    const std::string name = padded(name_of(change), 10);
    out << "  "
        << (change.blocking  ? toned(Tone::bad, name, printing)
            : change.loosens ? toned(Tone::warning, name, printing)
                             : name)
        << change.rule << ": " << change.before << " -> " << change.after
        << (change.why.empty() ? "" : "; " + change.why) << "\n";
  }
  if (told > most_changes) out << "  and more, in verdict.json\n";
}

void print_findings(const Verdict& verdict, std::ostream& out) {
  const std::string told = describe(verdict.findings, {.at_most = most_findings});
  if (!told.empty()) out << "what the detectors saw (never a reason to fail):\n" << told;
  out << describe_expected(verdict.findings);
}

}  // namespace

std::string ctest_measurements(const Verdict& verdict) {
  std::string out;
  const auto measurement = [&](const std::string& name, double value) {
    out += text("<CTestMeasurement type=\"numeric/double\" name=\"", xml_escaped(name), "\">",
                canonical_line(value), "</CTestMeasurement>\n");
  };
  for (const auto& [name, count] : verdict.counts) measurement(name, static_cast<double>(count));
  std::set<std::string> classes;
  for (const Row& row : verdict.rows) classes.insert(row.device_class);
  for (const Row& row : verdict.rows) {
    const auto* value = row.value ? std::get_if<double>(&*row.value) : nullptr;
    const bool headline = std::any_of(headlines.begin(), headlines.end(),
                                      [&](const std::pair<const char*, const char*>& one) {
                                        return row.variant == one.first && row.metric == one.second;
                                      });
    if (value && headline) measurement(headline_name(row, classes.size() > 1), *value);
  }
  return out;
}

std::string summary(const Verdict& verdict) {
  std::string out;
  for (const std::string& name : verdicts_by_severity()) {
    const auto count = verdict.counts.find(name);
    if (count != verdict.counts.end()) add_to(out, text(count->second, " ", name));
  }
  return out.empty() ? "nothing was judged" : out;
}

void print(const Verdict& verdict, const Printing& printing, std::ostream& out) {
  for (const Told& told : told_once(told_groups(verdict, printing.quiet))) {
    for (const Row* head : told.heads) print_heading(*head, printing, out);
    out << told.findings << told.commands;
  }
  print_changes(verdict, printing, out);
  if (!printing.quiet) print_findings(verdict, out);
  for (const std::string& note : verdict.notes) out << "note: " << note << "\n";
  if (!printing.quiet)
    for (const std::string& line : verdict.not_checked) out << "not checked: " << line << "\n";
  if (const std::string line = compared_line(verdict); !printing.quiet && !line.empty())
    out << line << "\n";
  const std::string last =
      text(summary(verdict), " -> exit ", verdict.exit, " (", outcome(verdict), ")");
  const bool amber = verdict.exit == 0 && !verdict.caveats.empty();
  out << (amber ? toned(Tone::warning, last, printing) : last) << "\n";
}

}  // namespace holdfast::gate
