// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/verdict_names.hpp"

#include <algorithm>

namespace holdfast::gate {

const std::vector<std::string>& verdicts_by_severity() {
  static const std::vector<std::string> order = {
      verdict::wrong,       verdict::suspect_fast, verdict::regression, verdict::changed,
      verdict::missing,     verdict::noisy,        verdict::warning,    verdict::drift,
      verdict::environment, verdict::waived,       verdict::improved,   verdict::accepted,
      verdict::fresh,       verdict::skipped,      verdict::pass};
  return order;
}

std::string words_of(const std::string& standard) {
  if (standard == held_against::beside) return "the base beside it";
  if (standard == held_against::bound) return "its bound";
  return standard == held_against::accepted ? "what was accepted" : "";
}

std::size_t severity(const std::string& verdict) {
  const auto& order = verdicts_by_severity();
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), verdict) - order.begin());
}

}  // namespace holdfast::gate
