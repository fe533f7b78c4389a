// SPDX-License-Identifier: Apache-2.0
#include "gate/base/options.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gate/base/error.hpp"
#include "gate/base/numbers.hpp"

namespace holdfast::gate {
namespace {

// Levenshtein's distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

// The options of every command; a command's own row of the same name takes precedence.
constexpr OptionRow common_rows[] = {
    {"quiet", "", "print only the answer, without progress"},
    {"color", "WHEN",
     "color words that tell good from bad: auto (default; NO_COLOR says never), always or never"}};

std::vector<OptionRow> with_common_rows(std::vector<OptionRow> options) {
  for (const OptionRow& common : common_rows) {
    const bool has_its_own =
        std::any_of(options.begin(), options.end(),
                    [&](const OptionRow& option) { return option.name == common.name; });
    if (!has_its_own) options.push_back(common);
  }
  return options;
}

bool is_verb_of(std::string_view verb, std::string_view verbs) {
  return text(", ", verbs, ", ").find(text(", ", verb, ", ")) != std::string::npos;
}

Error no_such_option(std::string_view command, const std::string& given,
                     const std::vector<OptionRow>& options) {
  std::vector<std::string> known = {"--help"};
  for (const OptionRow& option : options) known.push_back(text("--", option.name));
  const auto meant = nearest(given, known);
  return Error(Fault::bad_input, text("holdfast ", command, " has no option ", given,
                                      meant ? text("; did you mean ", *meant, "?")
                                            : text("; see holdfast ", command, " --help")));
}

void check_operands(const Command& command, const std::vector<std::string>& given) {
  const std::string_view name = command.name;
  if (given.size() < command.fewest_operands)
    throw Error(Fault::bad_input, text("holdfast ", name, " needs ", command.operands,
                                       "; see holdfast ", name, " --help"));
  if (given.size() > command.most_operands)
    throw Error(Fault::bad_input,
                text("holdfast ", name, " does not know what to do with '",
                     given[command.most_operands], "'; see holdfast ", name, " --help"));
  for (const std::string& operand : given)
    if (operand.empty())
      throw Error(Fault::bad_input,
                  text("holdfast ", name, ": '' is empty; give ", command.operands));
}

// Refuses an option that would be ignored: the user meant something else.
void refuse_idle(const Command& command, const Options& given) {
  for (const OptionRow& option : command.options) {
    if (!given.has(option.name)) continue;
    if (!option.needs.empty() && !given.has(option.needs))
      throw Error(Fault::bad_input, text("--", option.name, " has no effect without --",
                                         option.needs, "; give both, or leave it out"));
    if (!option.verbs.empty() && !is_verb_of(given.operands().front(), option.verbs))
      throw Error(Fault::bad_input, text("holdfast ", command.name, ' ', given.operands().front(),
                                         " has no option --", option.name, ", which is for ",
                                         option.verbs, "; leave it out"));
  }
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  std::optional<std::string> best;
  std::size_t closest = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::size_t away = distance(word, candidate);
    const bool has_nothing_of_it = away >= std::max(word.size(), candidate.size());
    if (away < closest && !has_nothing_of_it) {
      closest = away;
      best = candidate;
    }
  }
  return best;
}

std::optional<std::string> Options::value(std::string_view name) const {
  const auto at = values_.find(name);
  if (at == values_.end()) return std::nullopt;
  return at->second.back();
}

std::string Options::value_or(std::string_view name, std::string_view otherwise) const {
  return value(name).value_or(std::string(otherwise));
}

std::vector<std::string> Options::values(std::string_view name) const {
  const auto at = values_.find(name);
  return at == values_.end() ? std::vector<std::string>() : at->second;
}

std::optional<std::int64_t> Options::integer(std::string_view name) const {
  const auto given = value(name);
  if (!given) return std::nullopt;
  const auto number = number_of<std::int64_t>(*given);
  if (!number || *number < 0)
    throw Error(Fault::bad_input,
                text("--", name, "=", *given, ": give a whole number that is not negative"));
  return number;
}

std::optional<double> Options::positive(std::string_view name) const {
  const auto given = value(name);
  if (!given) return std::nullopt;
  const auto number = number_of<double>(*given);
  if (!number || !(*number > 0) || !std::isfinite(*number))
    throw Error(Fault::bad_input, text("--", name, "=", *given, ": give a positive number"));
  return number;
}

Options Command::parse(const std::vector<std::string>& arguments) const {
  const std::vector<OptionRow> known_options = with_common_rows(options);
  Options parsed;
  bool only_operands = false;
  for (auto at = arguments.begin(); at != arguments.end(); ++at) {
    if (only_operands || !at->starts_with("-") || *at == "-") {
      parsed.operands_.push_back(*at);
      continue;
    }
    if (*at == "--") {
      only_operands = true;
      continue;
    }
    const std::size_t equals = at->find('=');
    const std::string given = at->substr(0, equals);
    const auto row =
        std::find_if(known_options.begin(), known_options.end(),
                     [&](const OptionRow& option) { return given == text("--", option.name); });
    if (row == known_options.end()) throw no_such_option(name, given, known_options);
    std::vector<std::string>& values = parsed.values_[std::string(row->name)];
    if (row->value.empty()) {
      if (equals != std::string::npos)
        throw Error(Fault::bad_input, text(given, " is a switch and takes no value"));
      values.emplace_back();
    } else if (!row->repeats && !values.empty()) {
      throw Error(Fault::bad_input, text(given, " is given twice; give it once"));
    } else if (equals != std::string::npos) {
      values.push_back(at->substr(equals + 1));
    } else if (++at != arguments.end()) {
      values.push_back(*at);
    } else {
      throw Error(Fault::bad_input, text(given, " needs a value: ", given, "=", row->value));
    }
    if (!row->value.empty() && values.back().empty())
      throw Error(Fault::bad_input,
                  text(given, " is empty; give ", row->value, ", or leave it out"));
  }
  check_operands(*this, parsed.operands_);
  refuse_idle(*this, parsed);
  return parsed;
}

std::string Command::usage() const {
  std::string out = text("usage: holdfast ", name, " [options]", operands.empty() ? "" : " ",
                         operands, "\n", summary, "\n", details, details.empty() ? "" : "\n");
  out += "\noptions:\n";
  for (const OptionRow& option : with_common_rows(options)) {
    std::string left = text("  --", option.name, option.value.empty() ? "" : "=", option.value);
    left.resize(std::max<std::size_t>(left.size() + 2, 30), ' ');
    out += text(left, option.verbs, option.verbs.empty() ? "" : ": ",
                option.needs.empty() ? "" : text("with --", option.needs, ": "), option.help,
                option.repeats ? " (may be repeated)" : "", "\n");
  }
  if (!examples.empty()) out += text("\nexamples:\n", examples);
  return out;
}

}  // namespace holdfast::gate
