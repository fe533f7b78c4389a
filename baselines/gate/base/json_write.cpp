// SPDX-License-Identifier: Apache-2.0
// The writing half of json.hpp.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/files.hpp"
#include "gate/base/json.hpp"

namespace holdfast::gate {
namespace {

constexpr std::size_t columns = 100;

// Bytes that are not UTF-8, in a suite's last words or a reason that somebody typed, become U+FFFD.
std::string valid_text(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string number_text(double value) {
  if (!std::isfinite(value))
    throw Error(Fault::bad_input,
                text("refusing to write the number ", value, ", which JSON cannot hold"));
  std::array<char, 32> buffer = {};
  // Adding 0 makes a negative zero a plain one, which is what its text would be read as.
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value + 0.0).ptr;
  return std::string(buffer.data(), end);
}

void write_line(const nlohmann::json& value, std::string& out) {
  const char* separator = "";
  if (value.is_object()) {
    out += '{';
    for (const auto& [key, member] : value.items()) {
      out += separator + valid_text(key) + ": ";
      write_line(member, out);
      separator = ", ";
    }
    out += '}';
  } else if (value.is_array()) {
    out += '[';
    for (const auto& item : value) {
      out += separator;
      write_line(item, out);
      separator = ", ";
    }
    out += ']';
  } else if (value.is_number_float()) {
    out += number_text(value.get<double>());
  } else {
    out += valid_text(value);
  }
}

void write_pretty(const nlohmann::json& value, std::size_t depth, std::size_t lead,
                  std::string& out) {
  std::string line;
  write_line(value, line);
  if (!value.is_structured() || value.empty() || lead + line.size() <= columns) {
    out += line;
    return;
  }
  const std::string indent(2 * depth + 2, ' ');
  const char* separator = "\n";
  out += value.is_object() ? '{' : '[';
  for (const auto& [key, member] : value.items()) {
    out += separator + indent;
    std::string name = value.is_object() ? valid_text(key) + ": " : "";
    out += name;
    write_pretty(member, depth + 1, indent.size() + name.size() + 1, out);
    separator = ",\n";
  }
  out += '\n' + std::string(2 * depth, ' ') + (value.is_object() ? '}' : ']');
}

}  // namespace

std::string canonical_line(const nlohmann::json& value) {
  std::string out;
  write_line(value, out);
  return out;
}

std::string canonical(const nlohmann::json& value) {
  std::string out;
  write_pretty(value, 0, 0, out);
  return out + '\n';
}

nlohmann::json finite(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? nlohmann::json(*number) : nlohmann::json();
}

void require_folder(const std::filesystem::path& path, std::string_view advice) {
  std::error_code problem;
  if (std::filesystem::is_directory(path, problem)) return;
  const bool other = std::filesystem::exists(path, problem);
  throw Error(Fault::bad_input, other ? text(path.string(), " is not a folder; ", advice)
                                      : text("there is no folder ", path.string(), "; ", advice));
}

std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder) {
  std::error_code problem;
  std::vector<std::filesystem::path> entries;
  for (std::filesystem::directory_iterator at(folder, problem), end; !problem && at != end;
       at.increment(problem))
    entries.push_back(at->path());
  if (problem)
    throw Error(Fault::bad_input, text("cannot read the folder ", folder.string(), ": ",
                                       problem.message(), "; make it readable, or name another"));
  return entries;
}

std::string read_file(const std::filesystem::path& path) {
  const auto refuse = [&](std::string_view why) {
    throw Error(Fault::bad_input, text("cannot read ", path.string(), ": ", why));
  };
  // Opening a FIFO would block without O_NONBLOCK.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat is = {};
  if (*file < 0 || ::fstat(*file, &is) != 0) refuse(std::strerror(errno));
  if (S_ISDIR(is.st_mode)) refuse("it is a folder, not a file");
  if (!S_ISREG(is.st_mode)) refuse("it is not a regular file");
  std::string content;
  std::array<char, std::size_t{1} << 16> block;
  for (ssize_t got = 0; (got = ::read(*file, block.data(), block.size())) != 0;) {
    if (got > 0)
      content.append(block.data(), static_cast<std::size_t>(got));
    else if (errno != EINTR)
      refuse(std::strerror(errno));
  }
  return content;
}

}  // namespace holdfast::gate
