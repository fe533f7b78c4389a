// SPDX-License-Identifier: Apache-2.0
// For tests: whether a document is what its JSON Schema says, as far as ours go: type, const, enum,
// required, properties, additionalProperties, items, minimum, maximum, minItems, maxItems, and $ref
// to a part of itself or to a file beside it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace holdfast {

inline nlohmann::json schema(const char* name) {
  std::ifstream file(std::filesystem::path(HOLDFAST_SCHEMAS) / name);
  return nlohmann::json::parse(file);
}

inline void check_type(const nlohmann::json& value, const nlohmann::json& schema,
                       const std::string& where) {
  const auto types = schema["type"].is_array() ? schema["type"].get<std::vector<std::string>>()
                                               : std::vector{schema["type"].get<std::string>()};
  const std::string type = value.is_number_integer() ? "integer" : value.type_name();
  const auto has = [&](const std::string& word) {
    return std::find(types.begin(), types.end(), word) != types.end();
  };
  EXPECT_TRUE(has(type) || (type == "integer" && has("number"))) << where << " is " << type;
}

inline void validate(const nlohmann::json& value, const nlohmann::json& schema,
                     const nlohmann::json& root, const std::string& where) {
  using nlohmann::json;
  if (schema.contains("$ref")) {
    const auto place = schema["$ref"].get<std::string>();
    if (place.starts_with('#'))
      return validate(value, root.at(json::json_pointer(place.substr(1))), root, where);
    const json other = holdfast::schema(place.c_str());
    return validate(value, other, other, where);
  }
  const json allowed =
      schema.contains("const") ? json{schema["const"]} : schema.value("enum", json::array());
  EXPECT_TRUE(allowed.empty() || std::find(allowed.begin(), allowed.end(), value) != allowed.end())
      << where << " is " << value;
  if (schema.contains("type")) check_type(value, schema, where);
  if (value.is_number()) {
    EXPECT_GE(value.get<double>(), schema.value("minimum", value.get<double>())) << where;
    EXPECT_LE(value.get<double>(), schema.value("maximum", value.get<double>())) << where;
  }
  if (value.is_object()) {
    for (const auto& name : schema.value("required", json::array()))
      EXPECT_TRUE(value.contains(name)) << where << " lacks " << name;
    const json properties = schema.value("properties", json::object());
    for (const auto& [name, member] : value.items()) {
      if (properties.contains(name))
        validate(member, properties[name], root, where + "/" + name);
      else if (schema.value("additionalProperties", json(true)).is_object())
        validate(member, schema["additionalProperties"], root, where + "/" + name);
      else
        EXPECT_NE(schema.value("additionalProperties", json(true)), json(false))
            << where << " has " << name;
    }
  }
  if (value.is_array()) {
    EXPECT_GE(value.size(), schema.value("minItems", std::size_t{0})) << where;
    EXPECT_LE(value.size(), schema.value("maxItems", value.size())) << where;
    if (schema.contains("items"))
      for (const json& item : value) validate(item, schema["items"], root, where + "/[]");
  }
}

}  // namespace holdfast
