// SPDX-License-Identifier: Apache-2.0
#include "gate/compare/holder.hpp"

#include <sstream>

#include "gate/documents/case_name.hpp"

namespace holdfast::gate {
namespace {

Task task_of(const Builds::Build& build, const Held& held, const std::string& padding) {
  Task task{.program = build.binary,
            .arguments = {"--lock-step", "--device=" + held.device, "--tier=full",
                          "--filter=" + pattern_of(former_name(build.names, held.case_id))},
            .environment = build.environment,
            .timeout_seconds = held.answer_seconds};
  task.environment["HOLDFAST_PADDING"] = padding;
  // What a suite would start itself again for; a pair lives too short for that.
  task.environment.emplace("GOMP_SPINCOUNT", "1000");
  return task;
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
  (void)ask(text("batch ", steps));
}

std::optional<Sample> Holder::sample(std::string_view variant) {
  const std::string line = ask(variant);
  if (line == "none") return std::nullopt;
  Sample found;
  std::istringstream words(line);
  if (!(words >> found.real >> found.cpu) || !(found.real > 0) || !(found.cpu > 0))
    throw BuildError(is_head_, Fault::incomplete,
                     text("suite answered '", line, "' when asked for a sample"));
  if (double waited = 0; words >> waited) found.waited = waited;
  if (int disturbed = 0; words >> disturbed) found.disturbed = disturbed != 0;
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
