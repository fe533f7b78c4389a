// SPDX-License-Identifier: Apache-2.0
// The command line: one table of options per command, kebab-case, `--name=VALUE` or `--name VALUE`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::gate {

struct OptionRow {
  std::string_view name;        // without the dashes
  std::string_view value = {};  // what the value is called in the usage; empty for a switch
  std::string_view help = {};
  bool repeats = false;
  std::string_view verbs = {};  // "accept, diff" where the first operand is one of several verbs
  std::string_view needs = {};  // another option, without which this one has no effect

  constexpr OptionRow of(std::string_view some) const {
    OptionRow row = *this;
    row.verbs = some;
    return row;
  }
  constexpr OptionRow beside(std::string_view other) const {
    OptionRow row = *this;
    row.needs = other;
    return row;
  }
};

// What the user typed, already checked against the command's table.
class Options {
 public:
  bool has(std::string_view name) const { return values_.contains(name); }
  std::optional<std::string> value(std::string_view name) const;  // the last one given
  std::string value_or(std::string_view name, std::string_view otherwise) const;
  std::vector<std::string> values(std::string_view name) const;
  std::optional<std::int64_t> integer(
      std::string_view name) const;  // throws for anything but a whole number >= 0
  std::optional<double> positive(std::string_view name) const;  // throws unless finite and > 0
  const std::vector<std::string>& operands() const { return operands_; }

 private:
  friend struct Command;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> operands_;
};

// One verb of the command.
struct Command {
  std::string_view name;
  std::string_view summary;       // one line
  std::string_view details = {};  // more of them, in its own help alone
  std::string_view operands;      // as in the usage: "DIR", "SUITE..."
  std::size_t fewest_operands = 0;
  std::size_t most_operands = 0;
  std::vector<OptionRow> options = {};
  std::string_view examples = {};  // whole lines
  int (*run)(const Options& options) = nullptr;

  // Throws Error(bad_input) with one sentence for an unknown option, one that would be ignored, a
  // missing or empty value or a wrong number of operands.
  Options parse(const std::vector<std::string>& arguments) const;
  std::string usage() const;
};

// The word of `known` closest to `word`, if any is close enough to have been meant.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace holdfast::gate
