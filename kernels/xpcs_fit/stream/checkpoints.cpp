// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/stream/checkpoints.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/files.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/count/scope.hpp"
#include "xpcs_fit/stream/checksum.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr std::string_view magic = "HFXPCSCK", stem = "xpcs_state_", ending = ".ckpt";
constexpr std::uint32_t version = 2, header_bytes = 64;

// Little-endian, as on every supported machine.
struct Header {
  char mark[8] = {};
  std::uint32_t version = 0, header_bytes = 0;
  std::uint64_t payload_bytes = 0, configuration = 0, sequence = 0;
  std::uint32_t payload_sum = 0, header_sum = 0;
  char zeros[16] = {};
};
static_assert(sizeof(Header) == header_bytes);
constexpr std::size_t summed_bytes = 44;  // of a header, before its own checksum

std::string_view bytes_of(const Header& header) {
  return {reinterpret_cast<const char*>(&header), sizeof header};
}

std::string failed(std::string_view doing, const std::filesystem::path& where, int error) {
  return text("checkpoint_io: failed to ", doing, " ", where.string(), ": ", std::strerror(error));
}

// The reason not to use a file; empty if it is usable.
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

// Empty if it is no file: reading a FIFO would block, and a folder would throw.
std::string read_whole(const std::filesystem::path& path) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem)) return {};
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

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
      before_write_(std::move(before_write)),
      writer_([this, employer = Employer::here()](const std::string& payload) {
        const Worker worker(employer, "checkpoints");
        const Scope scope("write checkpoint");
        return write(payload);
      }) {
  std::error_code failure;
  std::filesystem::create_directories(folder_, failure);
  if (failure || ::access(folder_.c_str(), W_OK) != 0)
    throw Error(Fault::bad_input, failed("write into", folder_, failure ? failure.value() : errno));
  for (const auto& path : files()) {
    const std::string name = path.stem().string().substr(stem.size());
    sequence_ = std::max<std::uint64_t>(sequence_, std::stoull(name));
  }
}

void Checkpoints::drain() {
  if (const std::string failure = writer_.drain(); !failure.empty())
    throw Error(Fault::bad_input, failure);
}

std::string Checkpoints::write(const std::string& payload) {
  if (before_write_) before_write_();
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
  if (file.error() != 0) return failed("write", path, file.error());
  if (const int error = sync_folder(folder_); error != 0) return failed("sync", folder_, error);
  delete_old();
  return {};
}

void Checkpoints::delete_old() const {
  const auto all = files();
  std::error_code ignored;  // another process may have deleted it
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

std::optional<std::string> Checkpoints::newest() {
  skipped_ = 0;
  for (const auto& path : files()) {
    const std::string file = read_whole(path);
    Header header;
    const std::string why = refusal(file, configuration_, header);
    if (why.empty()) return file.substr(sizeof header);
    log(LogLevel::warn, text("checkpoint ", path.string(), " is skipped: ", why));
    ++skipped_;
  }
  return std::nullopt;
}

}  // namespace holdfast::xpcs_fit
