// SPDX-License-Identifier: Apache-2.0
#include "harness/results/environment.hpp"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "runtime/base/error.hpp"
#include "runtime/base/sha256.hpp"
#include "runtime/compile/toolkit.hpp"

namespace holdfast {
namespace {

using nlohmann::json;

json string_or_null(const std::string& value) {
  return value.empty() ? json(nullptr) : json(value);
}

// The value of the first line of `path` that begins with `key`, or null.
json first_value(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key))
      if (const auto begin = line.find_first_not_of(" \t:", key.size()); begin != line.npos)
        return line.substr(begin);
  return nullptr;
}

// "AuthenticAMD-26-2": what decides how two pieces of code compare in time, where names such as
// "AMD EPYC" are of many processors.
std::string processor() {
  const char* const path = "/proc/cpuinfo";
  std::string joined;
  for (const char* key : {"vendor_id", "cpu family", "model\t"}) {
    const json value = first_value(path, key);
    if (value.is_null()) return "unknown";
    joined += text(joined.empty() ? "" : "-", value.get<std::string>());
  }
  return joined;
}

// Device code from a folder is no build's content.
bool sources_given() {
  const char* folder = std::getenv("HOLDFAST_SOURCES");
  return folder && *folder;
}

json device_json(const Backend& backend) {
  if (!backend.device)
    return {{"name", nullptr}, {"sm", nullptr}, {"sms", nullptr}, {"memory_bytes", nullptr}};
  const Device& device = *backend.device;
  const auto memory = device.memory_bytes();
  return {{"name", device.name()},
          {"sm", text("sm_", device.architecture().sm)},
          {"sms", device.architecture().multiprocessors},
          {"memory_bytes", memory ? json(*memory) : json(nullptr)}};
}

}  // namespace

json environment(const Backend& backend) {
  const HostLimits& limits = host_limits();
  json env = {{"device_class", device_class(backend)},
              {"device_name", backend.name},
              {"device", device_json(backend)},
              {"driver", nullptr},
              {"cuda", nullptr},
              {"nvrtc", nullptr},
              {"nvjitlink", nullptr},
              {"compiler", text("g++ ", __GNUC__, ".", __GNUC_MINOR__, ".", __GNUC_PATCHLEVEL__)},
              {"flags", "sha256:" + sha256(HOLDFAST_FLAGS)},
              {"host",
               {{"cpu", first_value("/proc/cpuinfo", "model name")},
                {"processor", processor()},
                {"threads", limits.threads},
                {"isa", string_or_null(limits.isa)}}}};
  if (backend.device) {
    const ToolkitVersions versions = toolkit_versions();
    env["cuda"] = string_or_null(versions.cuda);
    env["nvrtc"] = string_or_null(versions.nvrtc);
    env["nvjitlink"] = string_or_null(versions.nvjitlink);
    if (backend.executes()) env["driver"] = string_or_null(versions.driver);
  }
  env["fingerprint"] = "sha256:" + sha256(env.dump());
  return env;
}

json provenance() {
  const auto beside =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "content.json";
  std::ifstream file(beside);
  if (!file) return {{"content", "unknown"}, {"git", {{"sha", nullptr}, {"dirty", true}}}};
  const json content = json::parse(file, nullptr, false);
  if (content.is_discarded())
    throw Error(Fault::bad_input,
                text(beside.string(), " is not JSON: build again to have it written"));
  const bool dirty = content.at("git").at("dirty").get<bool>() || sources_given();
  return {{"content", content.at("content")},
          {"git",
           {{"sha", string_or_null(content.at("git").at("sha").get<std::string>())},
            {"dirty", dirty}}}};
}

json quality() {
  double load = 0;
  const bool known = ::getloadavg(&load, 1) == 1;
  return {{"valid", true},
          {"reasons", json::array()},
          {"load", known ? json(load) : json(nullptr)},
          {"sm_clock_hz", nullptr},
          {"throttled", nullptr},
          {"temperature_c", nullptr},
          {"other_processes", nullptr}};
}

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts = {};
  ::gmtime_r(&now, &parts);
  char text[] = "2026-11-21T12:00:00Z";
  (void)std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace holdfast
