// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/program_cache.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"

namespace holdfast {
namespace {

namespace fs = std::filesystem;

std::mutex mutex;
std::map<std::string, std::shared_ptr<const Artifact>>& memory() {
  static std::map<std::string, std::shared_ptr<const Artifact>> programs;
  return programs;
}

// Empty where the environment names no place at all.
fs::path directory() {
  const auto setting = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value ? value : "";
  };
  if (const auto own = setting("HOLDFAST_CACHE_DIR"); !own.empty()) return own;
  if (const auto xdg = setting("XDG_CACHE_HOME"); !xdg.empty()) return fs::path(xdg) / "holdfast";
  if (const auto home = setting("HOME"); !home.empty()) return fs::path(home) / ".cache/holdfast";
  return {};
}

// An entry is its body's hash, a newline, and the body: fields, each its length, a newline and its
// bytes.
std::string field(std::string_view bytes) {
  return text(bytes.size(), "\n", bytes);
}

std::string serialised(const Artifact& artifact) {
  std::string body = field(artifact.ptx) + field(artifact.cubin);
  for (const auto& entry : artifact.entries)
    body += field(entry.name) + field(text(entry.registers)) + field(text(entry.spill_bytes)) +
            field(text(entry.shared_bytes));
  return text(sha256_digits(body), "\n", body);
}

// Takes fields off the front of a body that its hash has vouched for.
std::string take_field(std::string_view& body) {
  std::size_t size = 0;
  std::from_chars(body.data(), body.data() + body.size(), size);
  const auto begin = body.find('\n') + 1;
  std::string value(body.substr(begin, size));
  body.remove_prefix(begin + size);
  return value;
}

std::optional<Artifact> parsed(std::string_view entry) {
  const auto hash_end = entry.find('\n');
  if (hash_end == std::string_view::npos) return {};
  auto body = entry.substr(hash_end + 1);
  if (sha256_digits(body) != entry.substr(0, hash_end)) return {};
  Artifact artifact{.ptx = take_field(body), .cubin = take_field(body)};
  while (!body.empty()) {
    Artifact::Entry kernel{.name = take_field(body)};
    for (const auto resource : {&Artifact::Entry::registers, &Artifact::Entry::spill_bytes,
                                &Artifact::Entry::shared_bytes})
      kernel.*resource = std::stoi(take_field(body));
    artifact.entries.push_back(std::move(kernel));
  }
  return artifact;
}

std::optional<Artifact> read_from_disk(const std::string& key) {
  const auto folder = directory();
  if (folder.empty()) return {};
  std::ifstream stream(folder / key, std::ios::binary);
  if (!stream) return {};
  std::ostringstream contents;
  contents << stream.rdbuf();
  auto artifact = parsed(contents.view());
  if (!artifact)
    log(LogLevel::info,
        text("the cache entry ", (folder / key).string(), " is damaged: compiling anew"));
  return artifact;
}

void write_to_disk(const std::string& key, const Artifact& artifact) {
  const auto folder = directory();
  if (folder.empty()) return;
  std::error_code failure;
  fs::create_directories(folder, failure);
  WrittenFile file(folder / key, folder / text(key, ".", getpid()));
  file.append(serialised(artifact));
  file.publish();
  if (file.error() == 0) return;
  log(LogLevel::info, text("cannot write to the cache ", folder.string(),
                           ": programs are compiled anew by each process"));
}

}  // namespace

std::shared_ptr<const Artifact> cached_program(const std::string& key) {
  const std::lock_guard lock(mutex);
  if (const auto known = memory().find(key); known != memory().end()) return known->second;
  auto artifact = read_from_disk(key);
  if (!artifact) return nullptr;
  return memory()[key] = std::make_shared<const Artifact>(std::move(*artifact));
}

void cache_program(const std::string& key, std::shared_ptr<const Artifact> artifact) {
  const std::lock_guard lock(mutex);
  write_to_disk(key, *artifact);
  memory()[key] = std::move(artifact);
}

void forget_cached_programs() {
  const std::lock_guard lock(mutex);
  memory().clear();
}

}  // namespace holdfast
