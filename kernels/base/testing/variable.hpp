// SPDX-License-Identifier: Apache-2.0
// For tests: an environment variable with a value of the test's own, or without one.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace holdfast {

// Set to `value`, or unset if there is none, while this lives; afterwards as before.
class Variable {
 public:
  explicit Variable(std::string name, const std::optional<std::string>& value = {})
      : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(before_); }

 private:
  void set(const std::optional<std::string>& value) {
    value ? ::setenv(name_.c_str(), value->c_str(), 1) : ::unsetenv(name_.c_str());
  }

  std::string name_;
  std::optional<std::string> before_ = {};
};

}  // namespace holdfast
