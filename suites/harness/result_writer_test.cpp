// SPDX-License-Identifier: Apache-2.0
#include "harness/result_writer.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <limits>

#include "harness/toy.hpp"
#include "runtime/error.hpp"

namespace holdfast {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const MeasureOptions quick = {.budget = {.seconds = 0, .fewest_rounds = 3, .most_rounds = 3}};

json report_of(const Case& one) {
  const auto backend = open_backend("host");
  Report report{.suite = "toy", .tier = "smoke", .list_hash = "sha256:0"};
  report.cases.push_back({&one, measure(one, "host", quick)});
  return report_json(report, *backend);
}

// Enough of JSON Schema for our own two: type, const, enum, required, properties,
// additionalProperties, items, $ref.
void validate(const json& value, const json& schema, const json& root, const std::string& where) {
  if (schema.contains("$ref")) {
    const auto pointer = json::json_pointer(schema["$ref"].get<std::string>().substr(1));
    return validate(value, root.at(pointer), root, where);
  }
  const json allowed =
      schema.contains("const") ? json{schema["const"]} : schema.value("enum", json::array());
  EXPECT_TRUE(allowed.empty() || std::find(allowed.begin(), allowed.end(), value) != allowed.end())
      << where << " is " << value;
  if (schema.contains("type")) {
    const auto types = schema["type"].is_array() ? schema["type"].get<std::vector<std::string>>()
                                                 : std::vector{schema["type"].get<std::string>()};
    const std::string type = value.is_number_integer() ? "integer" : value.type_name();
    const bool known =
        std::find(types.begin(), types.end(), type) != types.end() ||
        (type == "integer" && std::find(types.begin(), types.end(), "number") != types.end());
    EXPECT_TRUE(known) << where << " is " << type;
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
  if (value.is_array() && schema.contains("items"))
    for (const json& item : value) validate(item, schema["items"], root, where + "/[]");
}

json schema(const char* name) {
  std::ifstream file(std::filesystem::path(HOLDFAST_SCHEMAS) / name);
  return json::parse(file);
}

TEST(Results, ObeyTheirSchema) {
  const json root = schema("results.schema.json");
  validate(report_of(toy_case()), root, root, "");
}

TEST(Results, OfAFailedCaseObeyTheSchemaToo) {
  Case one = toy_case();
  std::get<Steps>(one.recipe).oracle.expected = [](int) { return std::vector{1.}; };
  const json root = schema("results.schema.json");
  const json report = report_of(one);
  validate(report, root, root, "");
  EXPECT_EQ(report["cases"][0]["check"]["status"], "failed");
}

TEST(Lists, ObeyTheirSchema) {
  const json root = schema("list.schema.json");
  validate(list_json("toy", {toy_case()}), root, root, "");
}

TEST(Results, HoldWhatTheListPromises) {
  const Case one = toy_case();
  const json measured = report_of(one)["cases"][0];
  for (const std::string& name : promised(one, "host"))
    EXPECT_TRUE(measured["metrics"].contains(name) ||
                measured["variants"]["optimized"]["metrics"].contains(name))
        << name;
}

TEST(Results, RefuseANumberThatIsNotFiniteAndNameCaseAndMetric) {
  const Case one = toy_case();
  Measured measured{&one, measure(one, "host", quick)};
  measured.measurement.speedup = std::numeric_limits<double>::quiet_NaN();
  try {
    (void)case_json(measured, "host");
    FAIL() << "NaN was written";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("toy/count/n:1/f64: the metric speedup"));
  }
}

TEST(Results, WriteCountsAsWholeNumbers) {
  const json measured = report_of(toy_case())["cases"][0];
  EXPECT_TRUE(
      measured["variants"]["optimized"]["metrics"]["peak_bytes"]["value"].is_number_integer());
}

TEST(Documents, HaveSortedKeysAndOneNewlineAtTheEnd) {
  EXPECT_EQ(document({{"b", 1}, {"a", 2}}), "{\n \"a\": 2,\n \"b\": 1\n}\n");
}

class InAFolder : public testing::Test {
 protected:
  InAFolder() {
    folder = std::filesystem::path(testing::TempDir()) /
             testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  std::filesystem::path folder;
};

TEST_F(InAFolder, AWrittenDocumentLeavesNothingBeside) {
  write_document(folder / "out.json", "{}\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST_F(InAFolder, AFolderThatIsNotThereIsNamed) {
  try {
    check_writable(folder / "absent" / "out.json");
    FAIL() << "it is not there";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("create it first"));
  }
}

TEST_F(InAFolder, AFolderIsNoFile) {
  EXPECT_THROW(check_writable(folder), Error);
}

}  // namespace
}  // namespace holdfast
