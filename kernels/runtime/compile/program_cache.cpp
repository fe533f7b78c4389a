// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/program_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

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

std::string cache_setting(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

thread_local fs::path elsewhere;  // folder of the innermost ProgramsKeptIn

// Empty if the environment names no folder.
fs::path directory() {
  if (!elsewhere.empty()) return elsewhere;
  if (auto own = cache_setting("HOLDFAST_CACHE_DIR"); !own.empty()) return own;
  if (const auto xdg = cache_setting("XDG_CACHE_HOME"); !xdg.empty())
    return fs::path(xdg) / "holdfast";
  if (const auto home = cache_setting("HOME"); !home.empty())
    return fs::path(home) / ".cache/holdfast";
  return {};
}

// Anybody else who can write to the cache could plant programs.
std::string why_not_trusted(const fs::path& folder, const struct stat& is) {
  if (!S_ISDIR(is.st_mode)) return text(folder.string(), " is no folder");
  if (is.st_uid != ::geteuid() && is.st_uid != 0)
    return text("the folder ", folder.string(), " is another user's");
  if ((is.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return text("others may write to the folder ", folder.string(), " (chmod go-w makes it yours)");
  return {};
}

// Warns only once, whatever the reasons.
void say_not_kept(const std::string& why) {
  static std::once_flag said;
  std::call_once(said, [&] { log(LogLevel::warn, text("compiled programs are not kept: ", why)); });
}

// Whether the folder exists and only we can write to it.
bool trusted(const fs::path& folder) {
  struct stat is = {};
  if (::stat(folder.c_str(), &is) != 0) return false;
  const std::string refusal = why_not_trusted(folder, is);
  if (!refusal.empty()) say_not_kept(refusal);
  return refusal.empty();
}

// Creates the folder if necessary. Warns if HOLDFAST_CACHE_DIR cannot be created; if a default one
// cannot, programs are silently compiled anew.
bool ready(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder.parent_path(), problem);
  if (::mkdir(folder.c_str(), S_IRWXU) == 0) return true;
  const int why = errno;
  if (fs::exists(folder, problem)) return trusted(folder);
  if (!cache_setting("HOLDFAST_CACHE_DIR").empty())
    say_not_kept(text("HOLDFAST_CACHE_DIR=", folder.string(), " cannot be made (",
                      std::strerror(why), "); name another folder"));
  return false;
}

// What an entry is bound to besides its key. With HOLDFAST_CACHE_SECRET only those who know it can
// fill the cache. Without it in CI, where folders are restored from elsewhere, only this run's own
// entries count.
std::string binding() {
  if (const auto secret = cache_setting("HOLDFAST_CACHE_SECRET"); !secret.empty())
    return text("secret ", secret);
  if (cache_setting("CI").empty()) return {};
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return text("run ", boot, ' ', cache_setting("GITHUB_RUN_ID"), ' ',
              cache_setting("CI_PIPELINE_ID"), ' ', cache_setting("BUILD_TAG"));
}

// An entry is the hash that binds its body to its key, a newline, and the body: fields, each its
// length, a newline and its bytes.
std::string field(std::string_view bytes) {
  return text(bytes.size(), "\n", bytes);
}

// Hashed twice, so that nothing can be appended to an authenticated body.
std::string bond(std::string_view key, std::string_view body) {
  const std::string front = field(binding()) + field(key);
  return sha256_digits(front + sha256_digits(text(front, body)));
}

std::string vouched(std::string_view key, std::string_view body) {
  return text(bond(key, body), "\n", body);
}
std::optional<std::string_view> body_of(std::string_view key, std::string_view entry) {
  const auto hash_end = entry.find('\n');
  if (hash_end == std::string_view::npos) return {};
  const auto body = entry.substr(hash_end + 1);
  if (bond(key, body) != entry.substr(0, hash_end)) return {};
  return body;
}

std::string serialised(const Artifact& artifact) {
  std::string body = field(artifact.ptx) + field(artifact.cubin);
  for (const auto& entry : artifact.entries)
    body += field(entry.name) + field(text(entry.registers)) + field(text(entry.spill_bytes)) +
            field(text(entry.shared_bytes)) + field(text(entry.local_bytes));
  return body;
}

// A number that must span the whole text.
template <class Number>
std::optional<Number> number(std::string_view digits) {
  Number value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failure != std::errc() || end != digits.data() + digits.size() || value < 0) return {};
  return value;
}

// Removes a field from the front of a body; empty if there is none.
std::optional<std::string> take_field(std::string_view& body) {
  const auto line = body.find('\n');
  if (line == std::string_view::npos) return {};
  const auto size = number<std::size_t>(body.substr(0, line));
  if (!size || *size > body.size() - line - 1) return {};
  std::string value(body.substr(line + 1, *size));
  body.remove_prefix(line + 1 + *size);
  return value;
}

std::optional<Artifact::Entry> take_kernel(std::string_view& body) {
  auto name = take_field(body);
  if (!name) return {};
  Artifact::Entry kernel{.name = std::move(*name)};
  for (const auto resource : {&Artifact::Entry::registers, &Artifact::Entry::spill_bytes,
                              &Artifact::Entry::shared_bytes, &Artifact::Entry::local_bytes}) {
    const auto digits = take_field(body);
    const auto value = digits ? number<int>(*digits) : std::nullopt;
    if (!value) return {};
    kernel.*resource = *value;
  }
  return kernel;
}

std::optional<Artifact> parsed(std::string_view key, std::string_view entry) {
  const auto vouched_for = body_of(key, entry);
  if (!vouched_for) return {};
  std::string_view body = *vouched_for;
  auto ptx = take_field(body);
  auto cubin = take_field(body);
  if (!ptx || !cubin) return {};
  Artifact artifact{.ptx = std::move(*ptx), .cubin = std::move(*cubin)};
  while (!body.empty()) {
    auto kernel = take_kernel(body);
    if (!kernel) return {};
    artifact.entries.push_back(std::move(*kernel));
  }
  return artifact;
}

// Whether the opened file is a regular one of our own: reading a FIFO would block, and a link leads
// elsewhere.
bool is_own_file(int file) {
  struct stat is = {};
  return ::fstat(file, &is) == 0 && S_ISREG(is.st_mode) &&
         (is.st_uid == ::geteuid() || is.st_uid == 0);
}

std::optional<std::string> entry_on_disk(const std::string& key) {
  const auto folder = directory();
  if (folder.empty() || !trusted(folder)) return {};
  const Descriptor file(
      ::open((folder / key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (*file < 0 || !is_own_file(*file)) return {};
  std::string contents;
  char some[1 << 16];
  for (;;) {
    const ssize_t got = ::read(*file, some, sizeof some);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) return contents;
    contents.append(some, static_cast<std::size_t>(got));
  }
}

void say_damaged(const std::string& key) {
  log(LogLevel::info,
      text("the cache entry ", (directory() / key).string(), " is damaged: made anew"));
}

std::optional<Artifact> read_from_disk(const std::string& key) {
  const auto entry = entry_on_disk(key);
  if (!entry) return {};
  auto artifact = parsed(key, *entry);
  if (!artifact) say_damaged(key);
  return artifact;
}

void write_to_disk(const std::string& key, const std::string& entry) {
  const auto folder = directory();
  if (folder.empty() || !ready(folder)) return;
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
  if (elsewhere.empty())
    if (const auto known = memory().find(key); known != memory().end()) return known->second;
  auto artifact = read_from_disk(key);
  if (!artifact) return nullptr;
  const auto read = std::make_shared<const Artifact>(std::move(*artifact));
  if (elsewhere.empty()) memory()[key] = read;
  return read;
}

void cache_program(const std::string& key, std::shared_ptr<const Artifact> artifact) {
  const std::lock_guard lock(mutex);
  write_to_disk(key, vouched(key, serialised(*artifact)));
  if (elsewhere.empty()) memory()[key] = std::move(artifact);
}

std::optional<std::string> cached_text(const std::string& key) {
  const auto entry = entry_on_disk(key);
  if (!entry) return {};
  const auto body = body_of(key, *entry);
  if (!body) say_damaged(key);
  return body ? std::optional<std::string>(*body) : std::nullopt;
}

void cache_text(const std::string& key, const std::string& content) {
  write_to_disk(key, vouched(key, content));
}

void forget_cached_programs() {
  const std::lock_guard lock(mutex);
  memory().clear();
}

ProgramsKeptIn::ProgramsKeptIn(fs::path folder)
    : before_(std::exchange(elsewhere, std::move(folder))) {}
ProgramsKeptIn::~ProgramsKeptIn() {
  elsewhere = std::move(before_);
}

}  // namespace holdfast
