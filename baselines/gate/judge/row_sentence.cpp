// SPDX-License-Identifier: Apache-2.0
#include "gate/judge/row_sentence.hpp"

#include "gate/documents/measured_part.hpp"
#include "gate/documents/verdict_names.hpp"

namespace holdfast::gate {
namespace {

std::string heading(const Row& row) {
  return text(row.case_id, row.variant == case_variant ? "" : " " + row.variant, " on ",
              row.device_class, ": ");
}

std::string_view without(const std::string& beginning, std::string_view words) {
  return words.starts_with(beginning) ? words.substr(beginning.size()) : words;
}

// What became of a case, by the status of its result.
struct LostCase {
  std::string_view status, said, called;
};
constexpr LostCase lost_cases[] = {
    {"crashed", "the case crashed", "crashed"},
    {"timeout", "the case timed out", "timed out"},
    {"skipped", "the case is listed and was skipped", "skipped"},
};

constexpr std::string_view accepted_with_change = "accepted with this change: ";

}  // namespace

void say(Row& row, const std::string& because) {
  row.sentence = text(heading(row), row.metric, row.metric.empty() ? "" : " ", because);
}

std::string_view said(const Row& row) {
  return without(heading(row), row.sentence);
}

std::string_view because(const Row& row) {
  return row.metric.empty() ? said(row) : without(row.metric + ' ', said(row));
}

std::string lost_case(const std::string& status, const std::string& reason) {
  for (const LostCase& lost : lost_cases)
    if (lost.status == status) return text(lost.said, ": ", reason);
  return "the case is missing: " + reason;
}

std::string_view how_lost(const Row& row) {
  if (row.verdict == verdict::wrong) return "wrong";
  if (row.verdict == verdict::skipped) return "skipped";
  for (const LostCase& lost : lost_cases)
    if (said(row).starts_with(lost.said)) return lost.called;
  return "missing";
}

std::string accepted_because(const std::string& why) {
  return text(accepted_with_change, why);
}

std::string_view why_accepted(const Row& row) {
  const std::string_view sentence = row.sentence;
  const std::size_t begin = sentence.rfind(accepted_with_change);
  return begin == sentence.npos ? sentence : sentence.substr(begin + accepted_with_change.size());
}

}  // namespace holdfast::gate
