// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/list.hpp"

#include <algorithm>

#include "gate/documents/baseline.hpp"
#include "gate/documents/case_name.hpp"
#include "gate/documents/names.hpp"

namespace holdfast::gate {
namespace {

void refuse_repeated(const Reader& where, std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw where.wrong(text("'", *twice, "' stands twice here"));
}

// A case's metrics must be among the `metrics` of its list.
void refuse_unknown(const Reader& where, const std::vector<std::string>& names,
                    const Meanings& metrics) {
  for (const std::string& name : names)
    if (!metrics.contains(name))
      throw where.wrong(text("'", name, "' is not among the 'metrics' of this list"));
}

std::string filled(const Reader& reader) {
  if (reader.string().empty()) throw reader.wrong("an expected finding has a name and a reason");
  return reader.string();
}

ExpectedFinding parse_expected(const Reader& reader) {
  Object object = reader.object();
  ExpectedFinding expected{.finding = filled(object.take("finding")),
                           .why = filled(object.take("why"))};
  for (const Reader& device : object.take("devices").items())
    expected.devices.push_back(device.one_of({"host", "cuda", "cuda-dry"}));
  object.close();
  return expected;
}

nlohmann::json to_json(const ExpectedFinding& expected) {
  return {{"finding", expected.finding}, {"why", expected.why}, {"devices", expected.devices}};
}

}  // namespace

bool ListedCase::has(const std::string& kind, const std::string& metric) const {
  const auto here = devices.find(kind);
  return here != devices.end() && std::ranges::count(here->second, metric) > 0;
}

const ListedCase* List::find(std::string_view id) const {
  const auto at = std::ranges::find(cases, id, &ListedCase::id);
  return at == cases.end() ? nullptr : &*at;
}

const List* find_list(std::span<const List> lists, std::string_view suite) {
  const auto at = std::ranges::find(lists, suite, &List::suite);
  return at == lists.end() ? nullptr : &*at;
}

std::optional<std::string> tier_on(const std::string& kind, const std::string& case_id,
                                   std::span<const List> lists, bool complete) {
  const List* list = find_list(lists, suite_of(case_id));
  if (!list && !complete) return std::nullopt;
  const ListedCase* listed = list ? list->find(case_id) : nullptr;
  return listed && listed->devices.contains(kind) ? listed->tier : "";
}

List parse_list(const Document& document) {
  Object object = open_schema(document, "holdfast-list/2");
  List list{.suite = suite_name_of(object.take("suite")),
            .metrics = parse_meanings(object.take("metrics"))};
  const Reader cases = object.take("cases");
  std::vector<std::string> ids;
  for (const Reader& item : cases.items()) {
    Object row = item.object();
    ListedCase& listed = list.cases.emplace_back();
    listed.id = ids.emplace_back(case_id_of(row.take("id"), list.suite));
    listed.tier = row.take("tier").one_of(tiers);
    listed.reference = row.take("reference").boolean();
    if (const auto limit = row.optional("limit")) listed.limit = parse_limit(*limit);
    if (const auto why = row.optional("uncounted")) listed.uncounted = why->string();
    if (const auto expected = row.optional("expected"))
      for (const Reader& each : expected->items()) listed.expected.push_back(parse_expected(each));
    for (const auto& [kind, reader] : row.take("devices").object().rest()) {
      Object device = reader.object();
      const Reader metrics = device.take("metrics");
      listed.devices[kind] = metrics.strings();
      refuse_repeated(metrics, listed.devices[kind]);
      refuse_unknown(metrics, listed.devices[kind], list.metrics);
      device.close();
    }
    row.close();
  }
  refuse_repeated(cases, std::move(ids));
  object.close();
  return list;
}

List read_list(const std::filesystem::path& path) {
  return parse_list(Document::open(path));
}

nlohmann::json to_json(const List& list) {
  nlohmann::json cases = nlohmann::json::array();
  for (const ListedCase& listed : list.cases) {
    nlohmann::json devices = nlohmann::json::object();
    for (const auto& [kind, metrics] : listed.devices) devices[kind] = {{"metrics", metrics}};
    nlohmann::json row = {{"id", listed.id},
                          {"tier", listed.tier},
                          {"reference", listed.reference},
                          {"devices", devices}};
    if (listed.limit) row["limit"] = *listed.limit;
    if (listed.uncounted) row["uncounted"] = *listed.uncounted;
    for (const ExpectedFinding& expected : listed.expected)
      row["expected"].push_back(to_json(expected));
    cases.push_back(std::move(row));
  }
  nlohmann::json metrics = nlohmann::json::object();
  for (const auto& [name, meaning] : list.metrics) metrics[name] = to_json(meaning);
  return {
      {"schema", "holdfast-list/2"}, {"suite", list.suite}, {"cases", cases}, {"metrics", metrics}};
}

}  // namespace holdfast::gate
