// SPDX-License-Identifier: Apache-2.0
// Schema and parser accept the same language: of thousands of documents with one thing changed,
// both accept the same.
#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <regex>

#include "gate/base/store.hpp"
#include "gate/documents/aliases.hpp"
#include "gate/documents/policy/policy.hpp"
#include "gate/documents/results.hpp"
#include "gate/documents/selftest.hpp"
#include "gate/documents/verdict.hpp"
#include "gate/testing/mutants.hpp"
#include "gate/testing/parser_promises.hpp"

namespace holdfast::gate {
namespace {

using nlohmann::json;

// Whether a value is what a schema describes, for the words that our schemas use.
class Schema {
 public:
  explicit Schema(const std::string& name)
      : root_(json::parse(read_file(std::filesystem::path(HOLDFAST_SCHEMAS) / name))) {}

  bool allows(const json& value) const { return allows(value, root_); }

 private:
  json root_;

  bool allows(const json& value, const json& schema) const {
    if (schema.is_boolean()) return schema.get<bool>();
    for (const auto& [word, said] : schema.items())
      if (!allows(value, schema, word, said)) return false;
    return true;
  }

  bool allows(const json& value, const json& schema, const std::string& word,
              const json& said) const {
    const auto in = [&](const json& part) { return allows(value, part); };
    const auto all = [](const json& items, const auto& test) {
      return std::all_of(items.begin(), items.end(), test);
    };
    if (word == "$ref") return in(root_.at(json::json_pointer(said.get<std::string>().substr(1))));
    if (word == "const") return value == said;
    if (word == "enum") return std::find(said.begin(), said.end(), value) != said.end();
    if (word == "type") return is_of(value, said);
    if (word == "not") return !in(said);
    if (word == "anyOf") return std::any_of(said.begin(), said.end(), in);
    if (word == "if") return in(schema.value(in(said) ? "then" : "else", json(true)));
    if (word == "minimum") return !value.is_number() || value >= said;
    if (word == "maximum") return !value.is_number() || value <= said;
    if (word == "exclusiveMinimum") return !value.is_number() || value > said;
    if (word == "exclusiveMaximum") return !value.is_number() || value < said;
    if (word == "pattern") return !value.is_string() || matches(value, said);
    if (word == "minLength") return !value.is_string() || value.get<std::string>().size() >= said;
    if (word == "maxLength") return !value.is_string() || value.get<std::string>().size() <= said;
    if (word == "minItems") return !value.is_array() || value.size() >= said;
    if (word == "items")
      return !value.is_array() || all(value, [&](const json& item) { return allows(item, said); });
    if (word == "required")
      return !value.is_object() || all(said, [&](const json& key) { return value.contains(key); });
    if (word == "dependentRequired") return !value.is_object() || has_dependents(value, said);
    if (word == "properties" || word == "additionalProperties" || word == "propertyNames")
      return !value.is_object() || has_members(value, schema, word, said);
    static const std::set<std::string> silent = {"$schema",     "$id",  "$defs", "title",
                                                 "description", "then", "else"};
    if (!silent.contains(word)) throw std::logic_error("the schema says '" + word + "'");
    return true;
  }

  bool has_members(const json& value, const json& schema, const std::string& word,
                   const json& said) const {
    const json named = schema.value("properties", json::object());
    for (const auto& [key, member] : value.items()) {
      if (word == "properties" && said.contains(key) && !allows(member, said[key])) return false;
      if (word == "additionalProperties" && !named.contains(key) && !allows(member, said))
        return false;
      if (word == "propertyNames" && !allows(key, said)) return false;
    }
    return true;
  }

  static bool has_dependents(const json& value, const json& said) {
    for (const auto& [key, others] : said.items())
      for (const json& other : others)
        if (value.contains(key) && !value.contains(other)) return false;
    return true;
  }

  static bool matches(const json& value, const json& pattern) {
    return std::regex_search(value.get<std::string>(), std::regex(pattern.get<std::string>()));
  }

  // Unlike JSON Schema, as strict as our readers: 2.0 is no integer.
  static bool is_of(const json& value, const json& types) {
    const std::string type = value.is_number_integer() ? "integer" : value.type_name();
    const json all = types.is_array() ? types : json::array({types});
    return std::any_of(all.begin(), all.end(), [&](const json& one) {
      return one == type || (one == "number" && type == "integer");
    });
  }
};

// What only the parser can check, because it relates two places of the document.
struct Between {
  const char* path;  // glob on the place
  const char* why;
};

struct Language {
  const char* name;
  std::function<void(const Document&)> parse;
  std::vector<std::string> documents;
  std::vector<Between> between = {};
};

void PrintTo(const Language& language, std::ostream* out) {
  *out << language.name;
}

// A policy that says everything a policy can say, with the numbers at their limits.
json policy_of_everything() {
  return json::parse(R"({"schema": "holdfast-policy/1", "most_suspects": 1000000, "why": "w",
 "kinds": {"exact": {"gate": "block", "tolerance": 0, "two_sided": ["reference", "optimized"], "drift": "warn", "why": "w"},
           "ratio": {"gate": "off", "tolerance": 1, "host_tolerance": 1.0, "same": ["nvrtc", "driver"]}},
 "metrics": {"launches": {"gate": "warn", "tolerance": 1, "patch_tolerance": 0.5, "on_request": "--count",
                          "same": ["compiler"], "fall_is_change": ["*"], "why": "w"},
             "speedup": {"impossible_above": 1.1}},
 "rules": [{"match": "toy/**", "metric": "launches", "device": "host-*", "variant": "case", "tolerance": 1.0, "why": "w"},
           {"match": "toy/**", "metric": "launches", "gate": "block"},
           {"match": "toy/**", "metric": "launches+speedup", "bound": {"min": 0, "max": 2.5, "source": "s"}}],
 "waivers": [{"match": "toy/**", "metric": "launches", "variant": "optimized", "until": "2126-11-21", "why": "w"}],
 "removed": [{"match": "toy/sum/**", "device": "host-*", "variant": "case", "metric": "*",
              "processor": "AuthenticAMD-*", "tier": "full", "why": "w"}],
 "absent": [{"metric": "*", "device": "cuda-dry-*", "reason": "r", "why": "w"}]})");
}

// The same with another value at one place; where nearly right values are, mutants are not.
std::vector<std::string> nearly(const json& whole) {
  std::vector<std::string> documents;
  const auto with = [&](const char* place, const json& value) {
    json other = whole;
    other[json::json_pointer(place)] = value;
    documents.push_back(other.dump());
  };
  for (const char* place :
       {"/kinds/exact/tolerance", "/kinds/ratio/host_tolerance", "/metrics/launches/tolerance",
        "/metrics/launches/patch_tolerance", "/rules/0/tolerance", "/rules/2/bound/min",
        "/rules/2/bound/max", "/metrics/speedup/impossible_above", "/most_suspects"})
    for (const json& value : {json(-0.001), json(0), json(0.999), json(1), json(1.001), json(2),
                              json(1000001), json(999999999999999999), json(1e18)})
      with(place, value);
  with("/rules/1/tolerance", 0.5);
  with("/rules/2/tolerance", 0.5);
  with("/rules/0/metric", "launches+speedup");
  with("/waivers/0/until", "2126-11-2");
  for (const char* why :
       {"/waivers/0/why", "/rules/0/why", "/kinds/exact/why", "/why", "/metrics/launches/why",
        "/removed/0/why", "/absent/0/why", "/absent/0/reason"})
    with(why, "");
  with("/removed/0/metric", "launches+speedup");
  with("/removed/0/processor", "");
  with("/removed/0/tier", "gate");
  with("/metrics/launches/fall_is_change", json::array());
  with("/kinds/exact/two_sided/0", "both");
  for (const char* option : {"-count", "--", "--count; sh"})
    with("/metrics/launches/on_request", option);
  for (const char* glob :
       {"/rules/0/match", "/rules/0/device", "/rules/0/metric", "/waivers/0/match",
        "/removed/0/processor", "/absent/0/metric", "/absent/0/device"})
    for (const std::size_t length : {400, 401}) with(glob, std::string(length, '*'));
  return documents;
}

std::vector<std::string> policies() {
  std::vector<std::string> all = nearly(policy_of_everything());
  json of_a_suite = policy_of_everything();
  for (const char* for_all : {"kinds", "metrics", "most_suspects", "absent", "why"}) {
    of_a_suite.erase(for_all);
    all.push_back(of_a_suite.dump());
  }
  all.push_back(policy_of_everything().dump());
  return all;
}

// The seeds of the baseline with a processor that has no name, before the one that is spoilt.
std::vector<std::string> baseline_documents() {
  std::vector<std::string> all = parser_promise("baseline").seeds();
  json nameless = json::parse(all.back());
  nameless["processors"][""] = json::object();
  all.insert(all.begin(), nameless.dump());
  return all;
}

// The seeds with what a command could be planted in, the one that says most at the end.
std::vector<std::string> results_documents() {
  std::vector<std::string> all = parser_promise("results").seeds();
  std::swap(all[all.size() - 2], all.back());
  json whole = json::parse(all.back());
  for (const char* device : {"cuda", "cuda:1", "cuda:", "cuda-dry:sm_90", "host; sh", ""}) {
    whole["env"]["device_name"] = device;
    all.insert(all.begin(), whole.dump());
  }
  return all;
}

std::vector<Language> languages() {
  return {{.name = "policy",
           .parse = [](const Document& read) { (void)Policy::parse(read, "2026-11-21"); },
           .documents = policies()},
          {.name = "list",
           .parse = [](const Document& read) { (void)parse_list(read); },
           .documents = parser_promise("list").seeds(),
           .between = {{"/metrics/*", "what a case has is among the metrics"},
                       {"/cases/*", "a case stands there once"},
                       {"/cases/*/devices/*/metrics/*", "a case names a metric once"}}},
          {.name = "aliases",
           .parse = [](const Document& read) { (void)Aliases::parse(read); },
           .documents = parser_promise("aliases").seeds(),
           .between = {{"/aliases/*", "a reason speaks of an alias"},
                       {"/why/*", "a reason speaks of an alias"}}},
          {.name = "journal",
           .parse = [](const Document& read) { (void)parse_journal(read); },
           .documents = parser_promise("journal").seeds()},
          {.name = "selftest",
           .parse = [](const Document& read) { (void)parse_self_test(read); },
           .documents = parser_promise("selftest").seeds(),
           .between = {{"/decisions/*", "the rate is that of the decisions"}}},
          {.name = "results",
           .parse = [](const Document& read) { (void)parse_results(read); },
           .documents = results_documents(),
           .between = {{"/cases/*", "a case stands there once"},
                       {"/cases/*/check/*", "a check that passed has its numbers"},
                       {"/cases/**/metrics/*/*", "a metric has a number of its kind, or a reason"},
                       {"/cases/*/derived/*/*", "a metric has a number of its kind, or a reason"},
                       {"/cases/**/processes/*", "the median is that of the processes"}}},
          {.name = "verdict",
           .parse = [](const Document& read) { (void)parse_verdict(read); },
           .documents = parser_promise("verdict").seeds()},
          {.name = "baseline",
           .parse = [](const Document& read) { (void)parse_baseline(read); },
           .documents = baseline_documents(),
           .between = {{"/processors/*/*/value", "the value is the median of the runs"},
                       {"/processors/*/*/medians/*", "the value is the median of the runs"},
                       {"/processors/*/*/runs", "there are as many runs as medians"},
                       {"/processors/*/*/days", "there are at most as many days as runs"},
                       {"/acceptances/*", "an entry comes from one that there is"},
                       {"/metrics/*", "of what has an entry it is told what it is"},
                       {"/entries/*", "of what has an entry it is told what it is"},
                       {"/processors/*/*", "of what has an entry it is told what it is"}}}};
}

class OneLanguage : public testing::TestWithParam<Language> {
 protected:
  const Schema schema_{text(GetParam().name, ".schema.json")};

  bool parses(const std::string& content) const {
    try {
      GetParam().parse(Document("x.json", content));
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  // Empty if it is no document or has a key twice, which no schema covers.
  static std::optional<json> document(const std::string& content) {
    std::vector<std::set<std::string>> keys;
    bool twice = false;
    json read = json::parse(
        content,
        [&](int, json::parse_event_t event, json& value) {
          if (event == json::parse_event_t::object_start) keys.emplace_back();
          if (event == json::parse_event_t::key)
            twice |= !keys.back().insert(value.get<std::string>()).second;
          if (event == json::parse_event_t::object_end) keys.pop_back();
          return true;
        },
        false, true);
    if (read.is_discarded() || twice) return std::nullopt;
    return read;
  }

  // Whether an exception speaks of this place; it is then one that is needed.
  bool is_between(const std::string& path) {
    const auto& between = GetParam().between;
    const auto one = std::find_if(between.begin(), between.end(), [&](const Between& exception) {
      return matches_glob(exception.path, path);
    });
    if (one == between.end()) return false;
    needed_.insert(one->path);
    return true;
  }

  std::set<std::string> needed_ = {};
};

TEST_P(OneLanguage, OfTheSchemaAndTheParser) {
  for (const std::string& content : GetParam().documents)
    EXPECT_EQ(parses(content), schema_.allows(json::parse(content))) << content;
}

TEST_P(OneLanguage, OfTheSchemaAndTheParserWithOneThingSpoilt) {
  std::size_t taken = 0, refused = 0;
  toy::for_each_mutant(GetParam().documents.back(), [&](const toy::Mutant& mutant) {
    const auto read = document(mutant.content);
    if (!read) return;
    const bool allowed = schema_.allows(*read);
    const bool parsed = parses(mutant.content);
    ++(parsed ? taken : refused);
    if (allowed == parsed || (allowed && is_between(mutant.path))) return;
    ADD_FAILURE() << (parsed ? "only the parser takes " : "only the schema allows ") << mutant.path
                  << ' ' << mutant.edit;
  });
  EXPECT_GT(refused, 10u);
  for (const Between& exception : GetParam().between)
    EXPECT_TRUE(needed_.contains(exception.path)) << exception.path << " is needed by nothing";
  std::cout << taken << " taken by both, " << refused << " refused\n";
}

INSTANTIATE_TEST_SUITE_P(Of, OneLanguage, testing::ValuesIn(languages()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace holdfast::gate
