// SPDX-License-Identifier: Apache-2.0
// Strict JSON: every value knows the line it stands on, and whatever a file must not contain (a
// duplicate or unknown key, NaN, an overflowing number, text after the end) is an error that names
// file, line and key. Strings are read as they may be shown, on one line (shown_text.hpp). Writing
// is canonical.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/sha256.hpp"
#include "gate/base/error.hpp"

namespace holdfast::gate {

struct Node {
  using Array = std::vector<Node>;
  using Map = std::map<std::string, Node, std::less<>>;
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Map> value;
  std::size_t line = 0;
};

enum class Comments { forbidden, allowed };

class Object;

// One value of a file. Asking for another type than it has throws "FILE:LINE: 'name' ...".
class Reader {
 public:
  bool is_null() const { return std::holds_alternative<std::nullptr_t>(node_->value); }
  bool is_string() const { return std::holds_alternative<std::string>(node_->value); }
  bool is_number() const;
  bool is_boolean() const { return std::holds_alternative<bool>(node_->value); }
  bool boolean() const;
  double number() const;  // integers count as numbers
  std::int64_t integer() const;
  const std::string& string() const;
  std::vector<Reader> items() const;
  Object object() const;

  std::vector<std::string> strings() const;
  std::vector<double> numbers() const;
  std::optional<double> number_or_null() const;
  std::optional<std::string> string_or_null() const;

  std::size_t line() const { return node_->line; }
  const std::string& file() const { return *file_; }
  // The string, which must be one of `words`.
  const std::string& one_of(const std::vector<std::string_view>& words) const;
  // The error "FILE:LINE: <what>" for a value that has the right type and is wrong all the same.
  Error wrong(std::string_view what) const;

 private:
  friend class Object;
  friend class Document;
  Reader(const Node& node, const std::string& file, std::string name)
      : node_(&node), file_(&file), name_(std::move(name)) {}
  Error not_a(std::string_view type) const;

  const Node* node_;
  const std::string* file_;
  std::string name_;  // the key that leads here, for messages
};

// An object being read: keys are taken one by one, and close() complains about the first one left.
class Object {
 public:
  Reader take(std::string_view key);  // required
  std::optional<Reader> optional(std::string_view key);
  // All remaining members, in the order of their keys: for objects whose keys are data.
  std::vector<std::pair<std::string, Reader>> rest();
  void close() const;

 private:
  friend class Reader;
  explicit Object(const Reader& reader);
  Reader reader_;
  const Node::Map* members_;
  std::set<std::string, std::less<>> taken_;
};

// A parsed file; the Readers that it hands out point into it.
class Document {
 public:
  Document(std::string file, std::string_view text, Comments comments = Comments::forbidden);
  static Document open(const std::filesystem::path& path, Comments comments = Comments::forbidden);
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  Reader root() const { return {root_, file_, "the document"}; }

 private:
  std::string file_;
  Node root_;
};

// The root object of a document of `schema`, e.g. "holdfast-results/1", or of the `older` schema
// that it replaced; its key `schema` is already taken.
Object open_schema(const Document& document, std::string_view schema, std::string_view older = {});

// Sorted keys, finite numbers (others throw), shortest doubles that read back the same, one newline
// at the end. Whatever fits into 100 columns stands on one line.
std::string canonical(const nlohmann::json& value);
// The same on a single line, without a newline at the end.
std::string canonical_line(const nlohmann::json& value);

// An optional as JSON; empty is null.
template <class T>
nlohmann::json nullable(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

// A number as JSON; one that is not finite is null, as is none.
nlohmann::json finite(const std::optional<double>& number);

// Throws Error(bad_input), which ends with `advice`, unless there is such a folder.
void require_folder(const std::filesystem::path& path, std::string_view advice);

// The entries of a folder. Throws Error(bad_input) if it cannot be read.
std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder);

std::string read_file(const std::filesystem::path& path);
// Readers see the old file or the new one, and a failure leaves nothing behind (WrittenFile).
// Without syncing this holds only while the machine does not stop, which is enough for what can be
// computed again.
enum class Sync { yes, no };
void write_file(const std::filesystem::path& path, std::string_view text, Sync sync = Sync::yes);

}  // namespace holdfast::gate
