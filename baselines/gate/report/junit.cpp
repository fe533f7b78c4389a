// SPDX-License-Identifier: Apache-2.0
// A verdict as JUnit's XML, as Jenkins and its like read it: a case of a suite is a test, and has
// one failure at most.
#include <map>
#include <utility>

#include "gate/base/shown_text.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/report/terminal.hpp"

namespace holdfast::gate {
namespace {

struct Tally {
  std::size_t tests = 0, failures = 0, skipped = 0;
  std::string attributes() const {
    return text("tests=\"", tests, "\" failures=\"", failures, "\" errors=\"0\"");
  }
  // junit-10.xsd allows `skipped` for a suite, but not for all of them.
  std::string of_suite() const { return text(attributes(), " skipped=\"", skipped, "\""); }
};

std::string failure_text(const Row& row) {
  std::string out = text(row.verdict, ": ", xml_escaped(row.sentence), "\n");
  if (!row.standard.empty()) out += text("  held against ", words_of(row.standard), "\n");
  for (const auto& [kind, line] : row.evidence)
    out += text("  ", xml_escaped(kind), ": ", xml_escaped(line), "\n");
  if (row.next) out += text("  next: ", xml_escaped(*row.next), "\n");
  return out;
}

std::string failure(const std::string& type, const std::string& message, const std::string& body) {
  return text("      <failure type=\"", xml_escaped(type), "\" message=\"", xml_escaped(message),
              "\">", body, "</failure>\n");
}

// A case's warnings: they fail nothing and are worth reading.
std::string warnings(const std::vector<const Row*>& rows) {
  std::string out;
  for (const Row* row : rows)
    if (!row->blocking && row->verdict != verdict::pass && row->verdict != verdict::fresh &&
        row->verdict != verdict::skipped)
      out += text(row->verdict, ": ", xml_escaped(row->sentence), "\n");
  return out.empty() ? "" : text("      <system-out>", out, "</system-out>\n");
}

std::string test_case(const std::string& device_class, const std::string& case_id,
                      const std::vector<const Row*>& rows, Tally& tally) {
  ++tally.tests;
  std::string inside;
  const Row* worst = nullptr;
  bool all_skipped = true;
  for (const Row* row : rows) {
    all_skipped = all_skipped && row->verdict == verdict::skipped;
    if (!row->blocking) continue;
    if (!worst) worst = row;
    inside += failure_text(*row);
  }
  if (worst) {
    ++tally.failures;
    inside = failure(worst->verdict, text(worst->verdict, ": ", worst->sentence), inside);
  } else if (all_skipped) {
    ++tally.skipped;
    inside = text("      <skipped message=\"", xml_escaped(rows.front()->sentence), "\"/>\n");
  }
  inside += warnings(rows);
  const std::string head = text("    <testcase classname=\"", xml_escaped(device_class),
                                "\" name=\"", xml_escaped(case_id), "\" time=\"0\"");
  return inside.empty() ? head + "/>\n" : text(head, ">\n", inside, "    </testcase>\n");
}

}  // namespace

// XML has no way to write most control characters.
std::string xml_escaped(const std::string& content) {
  std::string out;
  for (const char letter : shown_text(content)) {
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
        out += letter;
    }
  }
  return out;
}

std::string junit(const Verdict& verdict) {
  std::map<std::pair<std::string, std::string>, std::vector<const Row*>> cases;
  for (const Row& row : verdict.rows) cases[{row.device_class, row.case_id}].push_back(&row);
  std::string body;
  Tally tally;
  for (const auto& [name, rows] : cases) body += test_case(name.first, name.second, rows, tally);
  if (tally.failures == 0 && verdict.exit != 0 && verdict.exit != exit_code(Fault::no_device)) {
    // What stopped the check, or spoils it as a whole, belongs to no case.
    const std::string why = listed(verdict.notes, "; ");
    ++tally.tests;
    ++tally.failures;
    body += text("    <testcase classname=\"holdfast\" name=\"check\" time=\"0\">\n",
                 failure("CHECK", why, ""), "    </testcase>\n");
  }
  return text("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"holdfast\" ",
              tally.attributes(), ">\n  <testsuite name=\"holdfast\" ", tally.of_suite(),
              " time=\"0\">\n", body, "  </testsuite>\n</testsuites>\n");
}

}  // namespace holdfast::gate
