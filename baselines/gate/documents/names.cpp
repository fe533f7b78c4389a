// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/names.hpp"

#include <algorithm>

#include "gate/base/shown_text.hpp"
#include "gate/documents/case_name.hpp"

namespace holdfast::gate {
namespace {

constexpr std::size_t most_bytes_of_a_name = 100, most_bytes_of_an_id = 400;

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_';
}

// A part never begins with a mark, so it is neither ".." nor an option.
bool is_part(std::string_view content, std::string_view marks) {
  return !content.empty() && is_letter(content.front()) &&
         std::all_of(content.begin(), content.end(), [&](char letter) {
           return is_letter(letter) || marks.find(letter) != marks.npos;
         });
}

// Quoted, and cut to fit a sentence.
std::string in_quotes(std::string_view content) {
  constexpr std::size_t enough = 80;
  return content.size() > enough ? text('\'', beginning(content, enough), "...'")
                                 : text('\'', content, '\'');
}

bool is_number(std::string_view digits) {
  return !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos;
}

bool is_device(std::string_view content) {
  for (const std::string_view numbered : {"cuda:", "cuda-dry:sm_"})
    if (content.starts_with(numbered) && is_number(content.substr(numbered.size()))) return true;
  return content == "host" || content == "cuda";
}

bool is_name(std::string_view content) {
  return content.size() <= most_bytes_of_a_name && is_part(content, ".+-");
}

}  // namespace

bool is_case_id(std::string_view content) {
  if (content.size() > most_bytes_of_an_id || content.find('/') == content.npos) return false;
  while (true) {
    const std::size_t end = content.find('/');
    if (!is_part(content.substr(0, end), ".+-:=")) return false;
    if (end == content.npos) return true;
    content.remove_prefix(end + 1);
  }
}

void require_name(const Reader& reader, std::string_view key) {
  if (!is_name(key))
    throw reader.wrong(text(in_quotes(key), " is no name: letters, digits and _ . + - make one, ",
                            most_bytes_of_a_name, " at most"));
}

const std::string& name_of(const Reader& reader) {
  require_name(reader, reader.string());
  return reader.string();
}

const std::string& suite_name_of(const Reader& reader) {
  const std::string& suite = name_of(reader);
  if (suite.find('.') != suite.npos)
    throw reader.wrong(text(in_quotes(suite),
                            " is no name of a suite, which has no dot: its files are called "
                            "SUITE.json and SUITE.list.json; name it with _ or -"));
  return suite;
}

const std::string& glob_of(const Reader& reader) {
  const std::string& pattern = reader.string();
  if (pattern.size() > most_bytes_of_an_id)
    throw reader.wrong(text(in_quotes(pattern), " is longer than any id, which has ",
                            most_bytes_of_an_id, " bytes at most"));
  return pattern;
}

const std::string& device_of(const Reader& reader) {
  const std::string& device = reader.string();
  if (device.size() > most_bytes_of_a_name || !is_device(device))
    throw reader.wrong(
        text(in_quotes(device), " is no device; they are host, cuda, cuda:N and cuda-dry:sm_NN"));
  return device;
}

const std::string& case_id_of(const Reader& reader, std::string_view suite) {
  const std::string& id = reader.string();
  if (!is_case_id(id))
    throw reader.wrong(text(in_quotes(id),
                            " is no id of a case: letters, digits and _ . + - : = make one, in two "
                            "parts or more that '/' divides, ",
                            most_bytes_of_an_id, " at most"));
  if (suite_of(id) != suite)
    throw reader.wrong(text(in_quotes(id), " is no case of the suite ", suite));
  return id;
}

void require_entry_key(const Reader& reader, std::string_view key) {
  const std::size_t first = key.find('|'), second = key.rfind('|');
  if (first == key.npos || !is_case_id(key.substr(0, first)) || first == second ||
      !is_name(key.substr(first + 1, second - first - 1)) || !is_name(key.substr(second + 1)))
    throw reader.wrong(
        text("the entry ", in_quotes(key), " is not named 'case id|variant|metric'"));
}

const std::string& reason_of(const Reader& reader) {
  if (as_seen(reader.string()).empty()) throw reader.wrong("'why' is a reason, and is empty");
  return reader.string();
}

}  // namespace holdfast::gate
