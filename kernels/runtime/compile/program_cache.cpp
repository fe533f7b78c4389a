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

// A body after its hash.
std::string vouched(std::string_view body) {
  return text(sha256_digits(body), "\n", body);
}
std::optional<std::string_view> body_of(std::string_view entry) {
  const auto hash_end = entry.find('\n');
  if (hash_end == std::string_view::npos) return {};
  const auto body = entry.substr(hash_end + 1);
  if (sha256_digits(body) != entry.substr(0, hash_end)) return {};
  return body;
}

std::string serialised(const Artifact& artifact) {
  std::string body = field(artifact.ptx) + field(artifact.cubin);
  for (const auto& entry : artifact.entries)
    body += field(entry.name) + field(text(entry.registers)) + field(text(entry.spill_bytes)) +
            field(text(entry.shared_bytes)) + field(text(entry.local_bytes));
  return vouched(body);
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
  const auto vouched_for = body_of(entry);
  if (!vouched_for) return {};
  std::string_view body = *vouched_for;
  Artifact artifact{.ptx = take_field(body), .cubin = take_field(body)};
  while (!body.empty()) {
    Artifact::Entry kernel{.name = take_field(body)};
    for (const auto resource : {&Artifact::Entry::registers, &Artifact::Entry::spill_bytes,
                                &Artifact::Entry::shared_bytes, &Artifact::Entry::local_bytes})
      kernel.*resource = std::stoi(take_field(body));
    artifact.entries.push_back(std::move(kernel));
  }
  return artifact;
}

std::optional<std::string> entry_on_disk(const std::string& key) {
  const auto folder = directory();
  if (folder.empty()) return {};
  std::ifstream stream(folder / key, std::ios::binary);
  if (!stream) return {};
  std::ostringstream contents;
  contents << stream.rdbuf();
  return std::move(contents).str();
}

void say_damaged(const std::string& key) {
  log(LogLevel::info,
      text("the cache entry ", (directory() / key).string(), " is damaged: made anew"));
}

std::optional<Artifact> read_from_disk(const std::string& key) {
  const auto entry = entry_on_disk(key);
  if (!entry) return {};
  auto artifact = parsed(*entry);
  if (!artifact) say_damaged(key);
  return artifact;
}

void write_to_disk(const std::string& key, const std::string& entry) {
  const auto folder = directory();
  if (folder.empty()) return;
  std::error_code failure;
  fs::create_directories(folder, failure);
  WrittenFile file(folder / key, folder / text(key, ".", getpid()));
  file.append(entry);
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
  write_to_disk(key, serialised(*artifact));
  memory()[key] = std::move(artifact);
}

std::optional<std::string> cached_text(const std::string& key) {
  const auto entry = entry_on_disk(key);
  if (!entry) return {};
  const auto body = body_of(*entry);
  if (!body) say_damaged(key);
  return body ? std::optional<std::string>(*body) : std::nullopt;
}

void cache_text(const std::string& key, const std::string& content) {
  write_to_disk(key, vouched(content));
}

void forget_cached_programs() {
  const std::lock_guard lock(mutex);
  memory().clear();
}

}  // namespace holdfast
