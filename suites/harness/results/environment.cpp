// SPDX-License-Identifier: Apache-2.0
#include "harness/results/environment.hpp"

#include <filesystem>

#include "base/content.hpp"
#include "base/machine.hpp"
#include "base/sha256.hpp"
#include "harness/machine/kept_awake.hpp"
#include "runtime/base/error.hpp"
#include "runtime/compile/machine_code.hpp"
#include "runtime/compile/source_text.hpp"
#include "runtime/compile/toolkit.hpp"

namespace holdfast {
namespace {

using nlohmann::json;

json string_or_null(const std::string& value) {
  return value.empty() ? json(nullptr) : json(value);
}

template <class Value>
json nullable(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

json device_json(const Backend& backend) {
  if (!backend.device)
    return {{"name", nullptr}, {"sm", nullptr}, {"sms", nullptr}, {"memory_bytes", nullptr}};
  const Device& device = *backend.device;
  return {{"name", device.name()},
          {"sm", text("sm_", device.architecture().sm)},
          {"sms", device.architecture().multiprocessors},
          {"memory_bytes", nullable(device.memory_bytes())}};
}

}  // namespace

json environment(const Backend& backend) {
  const HostLimits& limits = host_limits();
  const Processor cpu = processor();
  json env = {{"device_class", device_class(backend)},
              {"device_name", backend.name},
              {"device", device_json(backend)},
              {"driver", nullptr},
              {"cuda", nullptr},
              {"nvrtc", nullptr},
              {"nvjitlink", nullptr},
              {"nvdisasm", nullptr},
              {"compiler", text("g++ ", __GNUC__, ".", __GNUC_MINOR__, ".", __GNUC_PATCHLEVEL__)},
              {"flags", sha256(HOLDFAST_FLAGS)},
              {"host",
               {{"cpu", nullable(cpu.name)},
                {"processor", cpu.id},
                {"threads", limits.threads},
                {"isa", string_or_null(limits.isa)}}}};
  if (backend.device) {
    const ToolkitVersions versions = toolkit_versions();
    env["cuda"] = string_or_null(versions.cuda);
    env["nvrtc"] = string_or_null(versions.nvrtc);
    env["nvjitlink"] = string_or_null(versions.nvjitlink);
    env["nvdisasm"] = string_or_null(pinned_disassembler().version);
    if (backend.executes()) env["driver"] = string_or_null(versions.driver);
  }
  if (backend.name == "host") env["host"]["awake"] = KeptAwake::may_be();
  env["fingerprint"] = sha256(env.dump());
  return env;
}

json provenance() {
  const std::filesystem::path file = content_file(binary_folder());
  if (!std::filesystem::exists(file))
    return {{"content", "unknown"}, {"git", {{"sha", nullptr}, {"dirty", true}}}};
  const std::optional<Provenance> built = read_content(file);
  if (!built)
    throw Error(
        Fault::bad_input,
        text(file.string(), " is not what the build writes: build again to have it written"));
  const std::string linked = linked_content();
  if (!linked.empty() && linked != built->content)
    throw Error(Fault::bad_input,
                text("this binary was linked from other content (", linked.substr(0, 15), ") than ",
                     file.string(), " names (", built->content.substr(0, 15),
                     "): the last build failed, or was of other targets; build all of it"));
  // Device code from HOLDFAST_SOURCES is not part of the build's content.
  const bool dirty = built->dirty || sources_overridden();
  return {{"content", built->content},
          {"git", {{"sha", nullable(built->git_sha)}, {"dirty", dirty}}}};
}

json quality(const RunQuality& seen) {
  json told = {{"valid", seen.reasons.empty()},
               {"reasons", seen.reasons},
               {"load", nullable(load_average())},
               {"sm_clock_hz", nullable(seen.sm_clock_hz)},
               {"throttled", nullable(seen.throttled)},
               {"temperature_c", nullable(seen.temperature_c)},
               {"other_processes", nullable(seen.other_processes)}};
  if (seen.mem_clock_hz) told["mem_clock_hz"] = *seen.mem_clock_hz;
  if (seen.ecc_errors) told["ecc_errors"] = *seen.ecc_errors;
  return told;
}

}  // namespace holdfast
