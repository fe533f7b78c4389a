// SPDX-License-Identifier: Apache-2.0
#include "gate/compare/holder.hpp"

#include <cmath>
#include <sstream>
#include <vector>

#include "gate/base/numbers.hpp"
#include "gate/documents/case_name.hpp"

namespace holdfast::gate {
namespace {

constexpr std::string_view reference_variant = "reference";

Task task_of(const Builds::Build& build, const Held& held, const std::string& padding) {
  Task task{.program = build.binary,
            .arguments = {"--lock-step", "--device=" + held.device, "--tier=full",
                          "--filter=" + pattern_of(former_name(build.names, held.case_id))},
            .environment = build.environment,
            .timeout_seconds = held.answer_seconds};
  task.environment["HOLDFAST_PADDING"] = padding;
  // Set here because a suite would restart itself to set it; a pair is too short-lived for that.
  task.environment.emplace("GOMP_SPINCOUNT", "1000");
  return task;
}

// "REAL CPU [WAITED [DISTURBED]]"; empty for any other line. A waiting time that decreased, because
// a thread ended, is ignored.
std::optional<Sample> sample_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<double> told;
  for (std::string word; stream >> word;) {
    const auto value = number_of<double>(word);
    if (!value || !std::isfinite(*value)) return std::nullopt;
    told.push_back(*value);
  }
  if (told.size() < 2 || told.size() > 4 || !(told[0] > 0) || !(told[1] > 0)) return std::nullopt;
  Sample found;
  found.real = told[0];
  found.cpu = told[1];
  if (told.size() > 2 && told[2] >= 0) found.waited = told[2];
  found.disturbed = told.size() > 3 && told[3] != 0;
  return found;
}

}  // namespace

Holder::Holder(const Builds& builds, bool is_head, const Held& held, const std::string& padding)
    : is_head_(is_head),
      conversation_(task_of(is_head ? builds.head() : builds.base(), held, padding)) {}

int Holder::ready() {
  const std::string line = answered([&] { return conversation_.read_line(); });
  int batch = 0;
  if (!line.starts_with("ready ") || !(std::istringstream(line.substr(6)) >> batch))
    throw BuildError(
        is_head_, Fault::incomplete,
        text("suite answered '", line, "' instead of being ready; is it of another version?"));
  return batch;
}

void Holder::set_batch(int steps) {
  if (const std::string line = ask(text("batch ", steps)); line != "ok")
    throw BuildError(is_head_, Fault::incomplete,
                     text("suite answered '", line, "' when told the steps of a sample"));
}

std::optional<Sample> Holder::sample(std::string_view variant) {
  const std::string line = ask(variant);
  if (line == "none" && variant == reference_variant) return std::nullopt;
  const auto found = sample_of(line);
  if (!found)
    throw BuildError(is_head_, Fault::incomplete,
                     text("suite answered '", line, "' when asked for a sample"));
  return found;
}

std::string Holder::ask(std::string_view line) {
  return answered([&] { return conversation_.ask(line); });
}

template <class Read>
std::string Holder::answered(Read read) const {
  try {
    return read();
  } catch (const Error& error) {
    throw BuildError(is_head_, error.fault(), error.what());
  }
}

}  // namespace holdfast::gate
