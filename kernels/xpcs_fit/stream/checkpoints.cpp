// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/stream/checkpoints.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/files.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr std::string_view magic = "HFXPCSCK", stem = "xpcs_state_", ending = ".ckpt";
constexpr std::uint32_t version = 1, header_bytes = 64;

// Little-endian, as every machine that this runs on.
struct Header {
  char mark[8] = {};
  std::uint32_t version = 0, header_bytes = 0;
  std::uint64_t payload_bytes = 0, configuration = 0, sequence = 0;
  std::uint32_t payload_sum = 0, header_sum = 0;
  char zeros[16] = {};
};
static_assert(sizeof(Header) == header_bytes);
constexpr std::size_t summed_bytes = 44;  // of a header, before its own sum

std::string_view bytes_of(const Header& header) {
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

[[noreturn]] void fail(std::string_view doing, const std::filesystem::path& where) {
  throw Error(Fault::bad_input, text("checkpoint_io: failed to ", doing, " ", where.string(), ": ",
                                     std::strerror(errno)));
}

// A renamed file outlives a stop of the machine once its folder is synced.
void sync_folder(const std::filesystem::path& folder) {
  const Descriptor open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (*open < 0 || ::fsync(*open) != 0) fail("sync", folder);
}

// Why a file is not to be used; empty where it is.
std::string refusal(const std::string& file, std::uint64_t configuration, Header& header) {
  if (file.size() < sizeof header) return "it is too short";
  std::memcpy(&header, file.data(), sizeof header);
  const std::string_view all = file, payload = all.substr(sizeof header);
  if (std::string_view(header.mark, sizeof header.mark) != magic) return "it is no checkpoint";
  if (header.header_sum != crc32c(all.substr(0, summed_bytes))) return "its header is damaged";
  if (header.version != version || header.header_bytes != header_bytes)
    return text("it has version ", header.version, ", and this program reads ", version);
  if (std::any_of(header.zeros, header.zeros + sizeof header.zeros, [](char c) { return c != 0; }))
    return "its header is damaged";
  if (header.configuration != configuration) return "it is of another configuration";
  if (header.payload_bytes != payload.size()) return "it is cut off";
  return header.payload_sum == crc32c(payload) ? "" : "its payload is damaged";
}

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

// Castagnoli's polynomial, reflected.
std::uint32_t crc32c(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> all = {};
    for (std::uint32_t k = 0; k < all.size(); ++k) {
      all[k] = k;
      for (int bit = 0; bit < 8; ++bit) all[k] = all[k] >> 1 ^ (all[k] & 1 ? 0x82f63b78U : 0U);
    }
    return all;
  }();
  std::uint32_t sum = ~0U;
  for (const char byte : bytes)
    sum = sum >> 8 ^ table[(sum ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~sum;
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
  return hash;
}

Checkpoints::Checkpoints(std::filesystem::path folder, std::string_view configuration, int keep,
                         std::function<void()> before_write)
    : folder_(std::move(folder)),
      configuration_(fnv1a(configuration)),
      keep_(keep),
      before_write_(std::move(before_write)) {
  std::error_code failure;
  std::filesystem::create_directories(folder_, failure);
  if (failure || ::access(folder_.c_str(), W_OK) != 0) {
    if (failure) errno = failure.value();
    fail("write into", folder_);
  }
  for (const auto& path : files()) {
    const std::string name = path.stem().string().substr(stem.size());
    sequence_ = std::max<std::uint64_t>(sequence_, std::stoull(name));
  }
  thread_ = std::thread([this] { work(); });
}

Checkpoints::~Checkpoints() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Checkpoints::save(std::string payload) {
  {
    const std::lock_guard lock(mutex_);
    pending_ = std::move(payload);
  }
  changed_.notify_all();
}

void Checkpoints::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !busy_ && !pending_; });
  if (!failure_.empty()) throw Error(Fault::bad_input, std::exchange(failure_, {}));
}

// What is pending when it ends is written first.
void Checkpoints::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return pending_ || ending_; });
    if (!pending_) return;
    const std::string payload = std::move(*pending_);
    pending_.reset();
    busy_ = true;
    lock.unlock();
    std::string failure;
    const auto begin = std::chrono::steady_clock::now();
    try {
      if (before_write_) before_write_();
      write(payload);
    } catch (const Error& error) {
      failure = error.what();
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    lock.lock();
    seconds_.push_back(took.count());
    if (!failure.empty()) failure_ = failure;
    busy_ = false;
    changed_.notify_all();
  }
}

void Checkpoints::write(const std::string& payload) {
  Header header = {.version = version,
                   .header_bytes = header_bytes,
                   .payload_bytes = payload.size(),
                   .configuration = configuration_,
                   .sequence = ++sequence_,
                   .payload_sum = crc32c(payload)};
  std::copy(magic.begin(), magic.end(), header.mark);
  header.header_sum = crc32c(bytes_of(header).substr(0, summed_bytes));
  char digits[32];
  std::snprintf(digits, sizeof digits, "%012llu", static_cast<unsigned long long>(sequence_));
  const auto path = folder_ / text(stem, digits, ending);
  WrittenFile file(path);
  file.append(bytes_of(header));
  file.append(payload);
  file.sync();
  file.publish();
  errno = file.error();
  if (errno != 0) fail("write", path);
  sync_folder(folder_);
  delete_old();
}

void Checkpoints::delete_old() const {
  const auto all = files();
  std::error_code ignored;  // another may have deleted it
  for (std::size_t k = static_cast<std::size_t>(keep_); k < all.size(); ++k)
    std::filesystem::remove(all[k], ignored);
}

std::vector<std::filesystem::path> Checkpoints::files() const {
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    if (name.size() == stem.size() + 12 + ending.size() && name.starts_with(stem) &&
        name.ends_with(ending) &&
        std::all_of(name.begin() + stem.size(), name.end() - ending.size(),
                    [](char c) { return c >= '0' && c <= '9'; }))
      all.push_back(entry.path());
  }
  std::sort(all.rbegin(), all.rend());
  return all;
}

std::optional<std::string> Checkpoints::newest() const {
  for (const auto& path : files()) {
    const std::string file = read_whole(path);
    Header header;
    const std::string why = refusal(file, configuration_, header);
    if (why.empty()) return file.substr(sizeof header);
    log(LogLevel::warn, text("checkpoint ", path.string(), " is skipped: ", why));
  }
  return std::nullopt;
}

}  // namespace holdfast::xpcs_fit
