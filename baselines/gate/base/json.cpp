// SPDX-License-Identifier: Apache-2.0
#include "gate/base/json.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "gate/base/shown_text.hpp"

namespace holdfast::gate {
namespace {

constexpr std::size_t max_depth = 64;

// Feeds the parser and remembers how far it has read, which is all that counting lines needs.
class Tracked {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Tracked(const char* at, const char** reached) : at_(at), reached_(reached) {}
  const char& operator*() const { return *at_; }
  Tracked& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  bool operator==(const Tracked& other) const { return at_ == other.at_; }
  bool operator!=(const Tracked& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

// Builds the tree of nodes from the parser's events.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(const std::string& file, std::string_view text, Node& root)
      : file_(file),
        counted_(text.data()),
        reached_(text.data()),
        end_(text.data() + text.size()),
        root_(root) {}

  const char** reached() { return &reached_; }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value, 1); }
  bool number_unsigned(std::uint64_t value) override {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return add(static_cast<double>(value), 1);
    return add(static_cast<std::int64_t>(value), 1);
  }
  bool number_float(double value, const std::string&) override { return add(value, 1); }
  bool string(std::string& value) override {
    refuse_nul(value);
    return add(shown_text(value));
  }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Node::Map{}); }
  bool start_array(std::size_t) override { return open(Node::Array{}); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    auto& members = std::get<Node::Map>(open_.back()->value);
    refuse_nul(name);
    if (const std::string shown = shown_text(name); shown != name)
      throw fault(line(0),
                  text("the key '", shown, "' contains characters that cannot be displayed"));
    const auto [at, is_new] = members.try_emplace(name);
    if (!is_new) throw fault(line(0), text("the key '", name, "' stands twice in one object"));
    slot_ = &at->second;
    return true;
  }

  bool parse_error(std::size_t, const std::string& token,
                   const nlohmann::json::exception& problem) override {
    const std::string what = problem.what();
    const bool after_the_end = what.find("; expected end of input") != std::string::npos;
    if (reached_ == end_ && !after_the_end)
      throw fault(line(0), "the file is cut short: it ends inside a JSON value; write it again");
    if (std::string_view(reached_ - 1, end_).starts_with("<<<<<<<"))
      throw fault(line(1), "a merge left its conflict here; keep one side of it");
    if (what.find("number overflow") != std::string::npos)
      throw fault(line(1), text("the number ", token, " is too large"));
    const auto reason = what.find("; last read");
    const auto colon = what.find(": ", what.find("column"));
    throw fault(line(1), text("not JSON: ", what.substr(colon + 2, reason - colon - 2)));
  }

 private:
  const std::string& file_;
  const char* counted_;  // lines_ counts the text before this
  const char* reached_;
  const char* end_;
  std::size_t lines_ = 1;
  Node& root_;
  std::vector<Node*> open_;
  Node* slot_ = nullptr;

  // The line of the token that was just read. The parser reads `ahead` characters past the end of a
  // number.
  std::size_t line(std::ptrdiff_t ahead) {
    lines_ += static_cast<std::size_t>(std::count(counted_, reached_, '\n'));
    counted_ = reached_;
    return ahead > 0 && lines_ > 1 && *(reached_ - ahead) == '\n' ? lines_ - 1 : lines_;
  }

  // A sentence that quotes the text would end at the NUL.
  void refuse_nul(const std::string& value) {
    if (value.find('\0') != std::string::npos) throw fault(line(0), "a text with a NUL in it");
  }

  Error fault(std::size_t at, std::string_view what) const {
    return Error(Fault::bad_input, text(file_, ":", at, ": ", what));
  }

  template <class Value>
  Node& place(Value&& value, std::ptrdiff_t ahead) {
    Node* node = &root_;
    if (!open_.empty()) {
      if (auto* array = std::get_if<Node::Array>(&open_.back()->value))
        node = &array->emplace_back();
      else
        node = slot_;
    }
    node->value = std::forward<Value>(value);
    node->line = line(ahead);
    return *node;
  }

  template <class Value>
  bool add(Value&& value, std::ptrdiff_t ahead = 0) {
    place(std::forward<Value>(value), ahead);
    return true;
  }

  template <class Container>
  bool open(Container&& container) {
    if (open_.size() == max_depth)
      throw fault(line(0), text("nested deeper than ", max_depth, " levels"));
    open_.push_back(&place(std::forward<Container>(container), 0));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }
};

}  // namespace

Document::Document(std::string file, std::string_view text, Comments comments)
    : file_(std::move(file)) {
  Builder builder(file_, text, root_);
  // The parser takes a NUL for the end of its input, which would hide what follows.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    const auto lines = 1 + std::count(text.begin(), text.begin() + nul, '\n');
    throw Error(Fault::bad_input,
                holdfast::text(file_, ":", lines, ": a NUL byte; this is not a JSON file"));
  }
  const Tracked first(text.begin(), builder.reached());
  const Tracked last(text.end(), builder.reached());
  nlohmann::json::sax_parse(first, last, &builder, nlohmann::json::input_format_t::json, true,
                            comments == Comments::allowed);
}

Document Document::open(const std::filesystem::path& path, Comments comments) {
  return Document(path.string(), read_file(path), comments);
}

Object open_schema(const Document& document, std::string_view schema, std::string_view older) {
  Object object = document.root().object();
  const Reader name = object.take("schema");
  if (name.string() != schema && (older.empty() || name.string() != older))
    throw name.wrong(text("the schema is '", name.string(), "', and this holdfast reads '", schema,
                          "'; write the file again with the same version of holdfast"));
  return object;
}

Error Reader::wrong(std::string_view what) const {
  return Error(Fault::bad_input, text(*file_, ":", node_->line, ": ", what));
}

Error Reader::not_a(std::string_view type) const {
  constexpr const char* names[] = {"null",     "true or false", "a number", "a number",
                                   "a string", "an array",      "an object"};
  return wrong(text("'", name_, "' must be ", type, " and is ", names[node_->value.index()]));
}

bool Reader::is_number() const {
  return std::holds_alternative<double>(node_->value) ||
         std::holds_alternative<std::int64_t>(node_->value);
}

bool Reader::boolean() const {
  if (const auto* value = std::get_if<bool>(&node_->value)) return *value;
  throw not_a("true or false");
}

double Reader::number() const {
  if (const auto* value = std::get_if<double>(&node_->value)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&node_->value))
    return static_cast<double>(*value);
  throw not_a("a number");
}

std::int64_t Reader::integer() const {
  if (const auto* value = std::get_if<std::int64_t>(&node_->value)) return *value;
  throw not_a("a whole number");
}

const std::string& Reader::string() const {
  if (const auto* value = std::get_if<std::string>(&node_->value)) return *value;
  throw not_a("a string");
}

const std::string& Reader::one_of(const std::vector<std::string_view>& words) const {
  if (std::find(words.begin(), words.end(), string()) != words.end()) return string();
  throw wrong(
      holdfast::text("'", name_, "' is '", string(), "', which is none of ", listed(words)));
}

std::vector<Reader> Reader::items() const {
  const auto* array = std::get_if<Node::Array>(&node_->value);
  if (!array) throw not_a("an array");
  std::vector<Reader> readers;
  readers.reserve(array->size());
  for (const Node& node : *array) readers.push_back(Reader(node, *file_, name_));
  return readers;
}

Object Reader::object() const {
  return Object(*this);
}

std::vector<std::string> Reader::strings() const {
  std::vector<std::string> values;
  for (const Reader& item : items()) values.push_back(item.string());
  return values;
}

std::vector<double> Reader::numbers() const {
  std::vector<double> values;
  for (const Reader& item : items()) values.push_back(item.number());
  return values;
}

std::optional<double> Reader::number_or_null() const {
  if (is_null()) return std::nullopt;
  return number();
}

std::optional<std::string> Reader::string_or_null() const {
  if (is_null()) return std::nullopt;
  return string();
}

Object::Object(const Reader& reader) : reader_(reader) {
  members_ = std::get_if<Node::Map>(&reader.node_->value);
  if (!members_) throw reader.not_a("an object");
}

Reader Object::take(std::string_view key) {
  if (auto member = optional(key)) return *member;
  throw reader_.wrong(text("the key '", key, "' is missing from ", reader_.name_));
}

std::optional<Reader> Object::optional(std::string_view key) {
  const auto at = members_->find(key);
  if (at == members_->end()) return std::nullopt;
  taken_.emplace(key);
  return Reader(at->second, *reader_.file_, at->first);
}

std::vector<std::pair<std::string, Reader>> Object::rest() {
  std::vector<std::pair<std::string, Reader>> members;
  for (const auto& [key, node] : *members_) {
    if (taken_.emplace(key).second) members.emplace_back(key, Reader(node, *reader_.file_, key));
  }
  return members;
}

void Object::close() const {
  for (const auto& [key, node] : *members_) {
    if (!taken_.contains(key))
      throw Error(Fault::bad_input,
                  text(*reader_.file_, ":", node.line, ": unknown key '", key, "'"));
  }
}

}  // namespace holdfast::gate
