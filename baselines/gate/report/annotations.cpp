// SPDX-License-Identifier: Apache-2.0
// A verdict as GitHub's workflow commands, "::error file=..,title=..::..".
#include "gate/documents/baseline_files.hpp"
#include "gate/documents/case_name.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/report/terminal.hpp"
#include "gate/report/verdict_rows.hpp"

namespace holdfast::gate {
namespace {

constexpr std::size_t most_annotations = 10;

std::string replaced(const std::string& content, std::string_view special) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char letter : content) {
    if (special.find(letter) == std::string_view::npos) {
      out += letter;
      continue;
    }
    const auto code = static_cast<unsigned char>(letter);
    out += {'%', digits[code / 16], digits[code % 16]};
  }
  return out;
}

// Escapes what the runner decodes: in a message, and in a property some more.
std::string message(const std::string& content) {
  return replaced(content, "%\r\n");
}
std::string property(const std::string& content) {
  return replaced(content, "%\r\n:,");
}

bool warns(const Row& row) {
  return severity(row.verdict) < severity(verdict::drift);
}

std::string annotation(const Row& row, const std::string& baselines) {
  const std::string suite(suite_of(row.case_id));
  std::string said = row.sentence;
  for (const auto& [name, line] : row.evidence) said += text("\n", name, ": ", line);
  if (row.next) said += text("\nnext: ", *row.next);
  return text("::", row.blocking ? "error" : "warning",
              " file=", property(text(baselines, '/', baseline_file(row.device_class, suite))),
              ",title=", property(text(row.verdict, ' ', row.case_id)), "::", message(said), "\n");
}

}  // namespace

std::string github_annotations(const Verdict& verdict, const std::string& baselines) {
  std::vector<const Row*> told;
  for (const Row* row : worst_rows(verdict))
    if (row->blocking || warns(*row)) told.push_back(row);
  std::string out;
  std::size_t shown = 0;
  // If something stopped the check, or spoils it as a whole, no row reports it.
  const bool blocked = !told.empty() && told.front()->blocking;
  if (verdict.exit != 0 && verdict.exit != exit_code(Fault::no_device) && !blocked) {
    std::string why;
    for (const std::string& note : verdict.notes) why += (why.empty() ? "" : "\n") + note;
    out += text("::error title=holdfast::", message(why.empty() ? outcome(verdict) : why), "\n");
    ++shown;
  }
  const std::size_t room = most_annotations - shown;
  const std::size_t single = told.size() > room ? room - 1 : told.size();
  for (std::size_t i = 0; i < single; ++i) out += annotation(*told[i], baselines);
  if (single < told.size())
    out += text("::", told[single]->blocking ? "error" : "warning", " title=holdfast::and ",
                told.size() - single, " more; the job's summary has them\n");
  return out;
}

}  // namespace holdfast::gate
