// SPDX-License-Identifier: Apache-2.0
// Lists and verdicts; results are in results.cpp, baselines in baseline.cpp.
#include "gate/documents/documents.hpp"

#include <algorithm>
#include <array>

#include "gate/documents/names.hpp"
#include "gate/documents/verdict.hpp"

namespace holdfast::gate {
namespace {

const std::vector<std::string_view> standards = {held_against::accepted, held_against::beside,
                                                 held_against::bound};

Row parse_row(const Reader& reader) {
  Object object = reader.object();
  Row row{.case_id = object.take("case").string(),
          .device_class = object.take("device_class").string(),
          .variant = object.take("variant").string(),
          .metric = object.take("metric").string(),
          .kind = object.take("kind").string(),
          .unit = object.take("unit").string(),
          .verdict = object.take("verdict").string(),
          .blocking = object.take("blocking").boolean()};
  if (const Reader value = object.take("value"); !value.is_null()) row.value = parse_value(value);
  if (const Reader value = object.take("baseline"); !value.is_null())
    row.baseline = parse_value(value);
  row.change = object.take("change").number_or_null();
  row.limit = object.take("limit").number_or_null();
  row.sentence = object.take("sentence").string();
  for (const auto& [name, line] : object.take("evidence").object().rest())
    row.evidence[name] = line.string();
  row.next = object.take("next").string_or_null();
  if (const auto standard = object.optional("standard")) row.standard = standard->one_of(standards);
  if (const auto resolution = object.optional("resolution")) {
    Object inner = resolution->object();
    row.resolution = inner.take("loss").number();
    row.resolved_by = inner.take("by").one_of(standards);
    inner.close();
  }
  object.close();
  return row;
}

nlohmann::json to_json(const Row& row) {
  nlohmann::json json = {
      {"case", row.case_id},
      {"device_class", row.device_class},
      {"variant", row.variant},
      {"metric", row.metric},
      {"kind", row.kind},
      {"unit", row.unit},
      {"verdict", row.verdict},
      {"blocking", row.blocking},
      {"value", row.value ? value_json(*row.value) : nlohmann::json(nullptr)},
      {"baseline", row.baseline ? value_json(*row.baseline) : nlohmann::json(nullptr)},
      {"change", nullable(row.change)},
      {"limit", nullable(row.limit)},
      {"sentence", row.sentence},
      {"evidence", row.evidence},
      {"next", nullable(row.next)}};
  if (!row.standard.empty()) json["standard"] = row.standard;
  if (row.resolution) json["resolution"] = {{"loss", *row.resolution}, {"by", row.resolved_by}};
  return json;
}

Detection parse_finding(const Reader& reader) {
  Object object = reader.object();
  Detection finding{.case_id = object.take("case").string(),
                    .device_class = object.take("device_class").string(),
                    .variant = object.take("variant").string(),
                    .detector = object.take("detector").string(),
                    .sentence = object.take("sentence").string(),
                    .value = object.take("value").number(),
                    .threshold = object.take("threshold").number(),
                    .fix = object.take("fix").string(),
                    .source = object.take("source").one_of({"profile", "result"})};
  if (const auto why = object.optional("expected")) finding.expected = why->string();
  object.close();
  return finding;
}

nlohmann::json to_json(const Detection& finding) {
  nlohmann::json json = {{"case", finding.case_id},        {"device_class", finding.device_class},
                         {"variant", finding.variant},     {"detector", finding.detector},
                         {"sentence", finding.sentence},   {"value", finding.value},
                         {"threshold", finding.threshold}, {"fix", finding.fix},
                         {"source", finding.source}};
  if (finding.expected) json["expected"] = *finding.expected;
  return json;
}

const std::vector<std::string_view> directions = {"lower", "higher", "same"};

void refuse_repeated(const Reader& where, std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw where.wrong(text("'", *twice, "' stands twice here"));
}

// What a case has must be among the `metrics` of its list.
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

RuleChange parse_change(const Reader& reader) {
  Object object = reader.object();
  RuleChange change{.rule = object.take("rule").string(),
                    .before = object.take("before").string(),
                    .after = object.take("after").string(),
                    .why = object.take("why").string(),
                    .loosens = object.take("loosens").boolean(),
                    .blocking = object.take("blocking").boolean()};
  object.close();
  return change;
}

nlohmann::json to_json(const RuleChange& change) {
  return {{"rule", change.rule}, {"before", change.before},   {"after", change.after},
          {"why", change.why},   {"loosens", change.loosens}, {"blocking", change.blocking}};
}

double parse_limit(const Reader& reader) {
  const double limit = reader.number();
  if (limit < 0) throw reader.wrong(text("a limit of ", limit, ", below zero, holds for nothing"));
  refuse_absurd(reader, limit, false);
  return limit;
}

}  // namespace

std::string text_of(const Meaning& meaning) {
  const bool same = meaning.better == Better::same;
  return text(meaning.kind, " in ", meaning.unit, ", ",
              same ? "neither way" : directions[static_cast<std::size_t>(meaning.better)],
              " is better");
}

std::string unit_of(const Meanings& metrics, const std::string& metric) {
  const auto at = metrics.find(metric);
  return at == metrics.end() ? unit_of_name(metric) : at->second.unit;
}

Meanings parse_meanings(const Reader& reader) {
  Meanings metrics;
  for (const auto& [name, held] : reader.object().rest()) {
    require_name(held, name);
    Object object = held.object();
    Meaning& meaning = metrics[name];
    meaning.kind = object.take("kind").one_of(metric_kinds);
    const std::string& better = object.take("better").one_of(directions);
    meaning.better = static_cast<Better>(std::find(directions.begin(), directions.end(), better) -
                                         directions.begin());
    const Reader unit = object.take("unit");
    meaning.unit = unit.string();
    if (meaning.unit.empty())
      throw unit.wrong("a metric has a unit; of a plain number it is \"1\"");
    object.close();
  }
  return metrics;
}

nlohmann::json to_json(const Meaning& meaning) {
  return {{"kind", meaning.kind},
          {"better", directions[static_cast<std::size_t>(meaning.better)]},
          {"unit", meaning.unit}};
}

List parse_list(const Document& document) {
  Object object = open_schema(document, "holdfast-list/2");
  List list{.suite = name_of(object.take("suite")),
            .metrics = parse_meanings(object.take("metrics"))};
  for (const Reader& item : object.take("cases").items()) {
    Object row = item.object();
    ListedCase& listed = list.cases.emplace_back();
    listed.id = case_id_of(row.take("id"), list.suite);
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

bool is_host_class(const std::string& device_class) {
  return device_class.starts_with("host");
}

Verdict parse_verdict(const Document& document) {
  Object object = open_schema(document, "holdfast-verdict/1");
  const Reader exit = object.take("exit");
  constexpr std::array<std::int64_t, 6> codes = {0, 1, 2, 3, 4, 77};
  if (std::find(codes.begin(), codes.end(), exit.integer()) == codes.end())
    throw exit.wrong(text("'exit' is ", exit.integer(), ", which is no exit code of holdfast"));
  Verdict verdict{.exit = static_cast<int>(exit.integer())};
  for (const auto& [name, count] : object.take("counts").object().rest())
    verdict.counts[name] = count.integer();
  for (const Reader& row : object.take("rows").items()) verdict.rows.push_back(parse_row(row));
  verdict.notes = object.take("notes").strings();
  verdict.not_checked = object.take("not_checked").strings();
  if (const auto findings = object.optional("findings"))  // an older verdict has none
    for (const Reader& found : findings->items()) verdict.findings.push_back(parse_finding(found));
  if (const auto caveats = object.optional("caveats")) verdict.caveats = caveats->strings();
  if (const auto changes = object.optional("changes"))
    for (const Reader& change : changes->items()) verdict.changes.push_back(parse_change(change));
  object.close();
  return verdict;
}

Verdict read_verdict(const std::filesystem::path& path) {
  return parse_verdict(Document::open(path));
}

nlohmann::json to_json(const Verdict& verdict) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Row& row : verdict.rows) rows.push_back(to_json(row));
  nlohmann::json findings = nlohmann::json::array();
  for (const Detection& finding : verdict.findings) findings.push_back(to_json(finding));
  nlohmann::json changes = nlohmann::json::array();
  for (const RuleChange& change : verdict.changes) changes.push_back(to_json(change));
  return {{"schema", "holdfast-verdict/1"},
          {"exit", verdict.exit},
          {"counts", verdict.counts},
          {"rows", rows},
          {"notes", verdict.notes},
          {"not_checked", verdict.not_checked},
          {"findings", findings},
          {"caveats", verdict.caveats},
          {"changes", changes}};
}

}  // namespace holdfast::gate
