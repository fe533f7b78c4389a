// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/suite_process.hpp"

#include "base/names.hpp"
#include "gate/base/json.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/case_name.hpp"
#include "gate/measure/gpu_driver.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr double list_timeout_seconds = 60;
constexpr std::size_t most_padding = 4096;

// The suite's own sentence, without its name in front.
std::string sentence_of(const Outcome& outcome, const std::string& suite) {
  const std::string line = last_lines(outcome.complaints, 1);
  const std::string prefix = suite + ": ";
  if (line.empty()) return "it gave no reason";
  return line.starts_with(prefix) ? line.substr(prefix.size()) : line;
}

}  // namespace

std::string announced(std::string_view line, const std::set<std::string>& asked) {
  const std::size_t end = line.find("] ");
  if (!line.starts_with('[') || end == line.npos) return "";
  const std::string id(line.substr(end + 2));
  return asked.contains(id) ? id : "";
}

void pass_on_refusals(const Outcome& outcome, const std::string& suite) {
  if (outcome.ending != Ending::exited) return;
  for (const Fault fault : {Fault::bad_input, Fault::no_device})
    if (outcome.code == exit_code(fault))
      throw Error(fault, text(suite, ": ", sentence_of(outcome, suite)));
}

std::string padding(std::mt19937_64& random) {
  return std::string(std::uniform_int_distribution<std::size_t>(1, most_padding)(random), 'x');
}

std::string filter_of(const std::set<std::string>& ids) {
  std::string pattern;
  for (const std::string& id : ids) pattern += (pattern.empty() ? "^(" : "|") + escaped(id);
  return pattern + ")$";
}

std::string list_of(const fs::path& binary, const std::vector<std::string>& custom) {
  const std::string suite = binary.filename().string();
  Task task{
      .program = binary, .arguments = {"--list=json"}, .timeout_seconds = list_timeout_seconds};
  task.arguments.insert(task.arguments.end(), custom.begin(), custom.end());
  const Outcome outcome = run_task(task);
  if (custom.empty() && outcome.ending == Ending::exited &&
      outcome.code == exit_code(Fault::bad_input))
    throw Error(Fault::bad_input, text(binary.string(), " is no suite of holdfast: it refuses ",
                                       "--list=json (", sentence_of(outcome, suite), ")"));
  pass_on_refusals(outcome, suite);
  if (outcome.ending != Ending::exited || outcome.code != 0)
    throw Error(Fault::incomplete,
                text(suite, " --list=json ", describe(outcome, list_timeout_seconds), ": ",
                     last_lines(outcome.complaints, 3)));
  if (!outcome.output.starts_with('{'))
    throw Error(Fault::bad_input, text(binary.string(),
                                       " is no suite of holdfast: it answers "
                                       "--list=json with no list"));
  const fs::path stored = list_path(binary.parent_path(), suite);
  if (custom.empty() && fs::exists(stored) && read_file(stored) != outcome.output)
    throw Error(Fault::bad_input,
                text(stored.string(), " is not what ", binary.string(),
                     " --list=json prints: it is another build's list; build again"));
  return outcome.output;
}

List listed_by(const fs::path& binary) {
  const std::string suite = binary.filename().string();
  return parse_list(Document(text(suite, " --list=json"), list_of(binary, {})));
}

std::optional<MachineLock> lock_device(const std::string& device, Progress& progress) {
  if (device_kind(device) != "cuda") return std::nullopt;
  const auto colon = device.find(':');
  const std::string gpu = colon == std::string::npos ? "0" : device.substr(colon + 1);
  if (gpu.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;  // the suite says what is wrong with it
  // Ordinals depend on which GPUs a process sees, and may differ between two that share one.
  const std::vector<std::string> places = ask_gpu_driver().places;
  const auto ordinal = static_cast<std::size_t>(std::strtoull(gpu.c_str(), nullptr, 10));
  const std::string known = ordinal < places.size() ? places[ordinal] : "";
  return std::optional<MachineLock>(std::in_place, "gpu-" + (known.empty() ? gpu : known), [&] {
    progress.say("waiting for GPU ", gpu, ", which another run of holdfast is measuring");
  });
}

}  // namespace holdfast::gate
