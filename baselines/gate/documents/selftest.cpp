// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/selftest.hpp"

#include <algorithm>
#include <cmath>

#include "gate/documents/history/history_segment.hpp"
#include "gate/documents/names.hpp"
#include "gate/documents/verdict_names.hpp"

namespace holdfast::gate {
namespace {

constexpr std::string_view self_test_schema = "holdfast-selftest/1";
constexpr double rounding_of_rate = 1e-9;  // of a rate that is written as a decimal fraction

double chance_of(const Reader& reader) {
  const double chance = reader.number();
  if (!(chance >= 0 && chance <= 1)) throw reader.wrong("a rate is 0 to 1");
  return chance;
}

SelfTest::Rate rate_of(const Reader& reader, const SelfTest& test) {
  Object object = reader.object();
  const SelfTest::Rate rate{.value = chance_of(object.take("value")),
                            .lower = chance_of(object.take("lower")),
                            .upper = chance_of(object.take("upper"))};
  object.close();
  const double seen =
      static_cast<double>(test.alarms()) / static_cast<double>(test.decisions.size());
  if (std::abs(rate.value - seen) > rounding_of_rate)
    throw reader.wrong(text("the rate is ", rate.value, ", and the decisions have ", seen));
  if (rate.lower > rate.value || rate.value > rate.upper)
    throw reader.wrong("the rate lies outside of its own interval");
  return rate;
}

}  // namespace

std::filesystem::path self_test_path(const std::filesystem::path& folder,
                                     const std::string& suite) {
  return folder / text(suite, self_test_ending);
}

std::size_t SelfTest::alarms() const {
  return static_cast<std::size_t>(
      std::count_if(decisions.begin(), decisions.end(), [](const Decision& one) {
        return one.verdict == verdict::regression || one.verdict == verdict::improved;
      }));
}

std::size_t SelfTest::undecided() const {
  return static_cast<std::size_t>(
      std::count_if(decisions.begin(), decisions.end(),
                    [](const Decision& one) { return one.verdict == verdict::noisy; }));
}

SelfTest parse_self_test(const Document& document) {
  Object object = open_schema(document, self_test_schema);
  SelfTest test{.suite = suite_name_of(object.take("suite")),
                .device = device_of(object.take("device")),
                .content = object.take("content").string()};
  const Reader utc = object.take("utc"), tolerance = object.take("tolerance");
  test.utc = utc.string();
  if (!is_utc(test.utc)) throw utc.wrong(text("'", test.utc, "' is no YYYY-MM-DDTHH:MM:SSZ"));
  test.tolerance = tolerance.number();
  if (test.tolerance < 0) throw tolerance.wrong("a tolerance is not negative");
  const Reader decisions = object.take("decisions");
  for (const Reader& reader : decisions.items()) {
    Object decision = reader.object();
    test.decisions.push_back({.case_id = case_id_of(decision.take("case"), test.suite),
                              .verdict = decision.take("verdict").one_of(
                                  {verdict::pass, verdict::regression, verdict::improved,
                                   verdict::environment, verdict::noisy})});
    decision.close();
  }
  if (test.decisions.empty()) throw decisions.wrong("a self-test has a decision");
  test.alarm_rate = rate_of(object.take("alarm_rate"), test);
  object.close();
  return test;
}

SelfTest read_self_test(const std::filesystem::path& path) {
  return parse_self_test(Document::open(path));
}

nlohmann::json to_json(const SelfTest& test) {
  nlohmann::json decisions = nlohmann::json::array();
  for (const SelfTest::Decision& one : test.decisions)
    decisions.push_back({{"case", one.case_id}, {"verdict", one.verdict}});
  return {{"schema", self_test_schema},
          {"suite", test.suite},
          {"device", test.device},
          {"content", test.content},
          {"utc", test.utc},
          {"tolerance", test.tolerance},
          {"decisions", decisions},
          {"alarm_rate",
           {{"value", test.alarm_rate.value},
            {"lower", test.alarm_rate.lower},
            {"upper", test.alarm_rate.upper}}}};
}

}  // namespace holdfast::gate
