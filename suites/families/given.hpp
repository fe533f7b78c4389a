// SPDX-License-Identifier: Apache-2.0
// The given values of a suite's own options, stored into a row.
#pragma once

#include <charconv>
#include <string>

#include "harness/case/options.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/words.hpp"

namespace holdfast {

// Each verb returns whether the option was given, and leaves the value unchanged if not. Throws
// Error{bad_input} for an unknown word, or an invalid whole or real number.
class Given {
 public:
  explicit Given(const SuiteOptions& options) : options_(&options) {}

  bool has(const std::string& option) const { return options_->custom.contains(option); }

  template <class Enum, std::size_t count>
  bool word(const std::string& option, const Words<Enum, count>& words, Enum& value) const {
    if (!has(option)) return false;
    value = words.read(options_->custom.at(option));
    return true;
  }

  template <class Number>
  bool number(const std::string& option, Number& value) const {
    return number(option, value, [](int given) { return given; });
  }
  // `checked` returns the number, or refuses it.
  template <class Number, class Check>
  bool number(const std::string& option, Number& value, const Check& checked) const {
    const auto given = options_->integer(option);
    if (given) value = static_cast<Number>(checked(*given));
    return given.has_value();
  }
  bool real(const std::string& option, double& value) const {
    if (!has(option)) return false;
    const std::string& given = options_->custom.at(option);
    const auto [end, fault] = std::from_chars(given.data(), given.data() + given.size(), value);
    if (fault != std::errc() || end != given.data() + given.size())
      throw Error(Fault::bad_input, text("--", option, "=", given, " is no number"));
    return true;
  }

 private:
  const SuiteOptions* options_;
};

}  // namespace holdfast
