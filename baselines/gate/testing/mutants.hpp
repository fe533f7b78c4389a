// SPDX-License-Identifier: Apache-2.0
// For tests: a document with one thing spoilt, for every thing in it and every way to spoil it.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace holdfast::gate::toy {

struct Mutant {
  std::string path;  // where: "/cases/0/status"
  std::string edit;  // how: "deleted", "NaN" ...
  std::string content;
};

namespace mutants {

using Json = nlohmann::json;
using Pointer = Json::json_pointer;

inline void collect(const Json& value, const Pointer& at, std::vector<Pointer>& all) {
  if (!at.empty()) all.push_back(at);
  if (value.is_object())
    for (const auto& [key, member] : value.items()) collect(member, at / key, all);
  else if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) collect(value[i], at / i, all);
}

// The document is as before afterwards: copying it for each mutant would cost more than its text.
inline std::string replaced(Json& document, const Pointer& at, Json value) {
  document[at].swap(value);
  std::string content = document.dump();
  document[at].swap(value);
  return content;
}

// What a JSON tree cannot hold is put into its text: `raw` in the place of the value at `at`.
inline std::string with_raw_text(Json& document, const Pointer& at, const std::string& raw) {
  const std::string mark = "@here@";
  std::string content = replaced(document, at, mark);
  return content.replace(content.find('"' + mark + '"'), mark.size() + 2, raw);
}

inline std::string without(Json document, const Pointer& at) {
  Json& parent = document[at.parent_pointer()];
  if (parent.is_array())
    parent.erase(std::stoul(at.back()));
  else
    parent.erase(at.back());
  return document.dump();
}

inline std::string renamed(Json document, const Pointer& at) {
  Json& parent = document[at.parent_pointer()];
  parent[at.back() + "_"] = parent[at.back()];
  parent.erase(at.back());
  return document.dump();
}

inline std::string twice(Json document, const Pointer& at) {
  const Json value = document[at];
  Json& parent = document[at.parent_pointer()];
  if (parent.is_object())
    return with_raw_text(document, at,
                         value.dump() + ", " + Json(at.back()).dump() + ": " + value.dump());
  parent.insert(parent.begin() + std::stol(at.back()), value);
  return document.dump();
}

}  // namespace mutants

// Every member and item of `document`: taken out, renamed, doubled, and in the place of its value
// nothing, no number, a number beyond measure or below zero, and a value of every other type.
inline void for_each_mutant(const std::string& text,
                            const std::function<void(const Mutant&)>& use) {
  using namespace mutants;
  Json document = Json::parse(text, nullptr, true, true);
  std::vector<Pointer> places;
  collect(document, Pointer(), places);
  const std::vector<std::pair<const char*, Json>> values = {{"null", nullptr},
                                                            {"huge", 1e300},
                                                            {"huge and whole", INT64_MAX},
                                                            {"a text", "x"},
                                                            {"a number", 7},
                                                            {"true", true},
                                                            {"an array", Json::array()},
                                                            {"an object", Json::object()}};
  for (const Pointer& at : places) {
    const Json& value = document[at];
    const std::string path = at.to_string();
    use({path, "deleted", without(document, at)});
    if (document[at.parent_pointer()].is_object()) use({path, "renamed", renamed(document, at)});
    use({path, "twice", twice(document, at)});
    for (const char* raw : {"NaN", "Infinity", "1e999"})
      use({path, raw, with_raw_text(document, at, raw)});
    if (value.is_number_integer())
      use({path, "negative", replaced(document, at, -1 - value.get<std::int64_t>())});
    else if (value.is_number())
      use({path, "negative", replaced(document, at, -value.get<double>())});
    for (const auto& [edit, other] : values) {
      // A value of the same type is another measurement, not a broken one; numbers out of all range
      // are the exception.
      const bool same_type = other.type() == value.type() ||
                             (other.is_number() && value.is_number() && other == Json(7));
      if (!same_type || (value.is_number() && other != Json(7)))
        use({path, edit, replaced(document, at, other)});
    }
  }
}

}  // namespace holdfast::gate::toy
