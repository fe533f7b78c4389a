// SPDX-License-Identifier: Apache-2.0
// A process of one build that holds a case ready and gives a sample of it when it is asked for one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gate/compare/builds.hpp"
#include "gate/compare/line_protocol.hpp"
#include "gate/compare/samples.hpp"

namespace holdfast::gate {

// The case that a process is asked to hold.
struct Held {
  std::string case_id, device;
  double answer_seconds = 120;  // that each answer may take
};

// Everything here throws BuildError where the build cannot time the case.
class Holder {
 public:
  // padding: of the environment.
  Holder(const Builds& builds, bool is_head, const Held& held, const std::string& padding);

  // Waits until the process is ready; returns the steps that it wants per sample.
  int ready();
  void set_batch(int steps);
  // Empty if the case has no such variant; only the reference may be missing.
  std::optional<Sample> sample(std::string_view variant);

 private:
  std::string ask(std::string_view line);
  template <class Read>
  std::string answered(Read read) const;

  bool is_head_;
  Conversation conversation_;
};

}  // namespace holdfast::gate
