// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/verdict.hpp"

#include <algorithm>
#include <array>

#include "gate/documents/baseline.hpp"
#include "gate/documents/verdict_names.hpp"

namespace holdfast::gate {
namespace {

const std::vector<std::string_view> standards = {held_against::accepted, held_against::beside,
                                                 held_against::bound};

const std::vector<std::string_view> verdicts(verdicts_by_severity().begin(),
                                             verdicts_by_severity().end());

Row parse_row(const Reader& reader) {
  Object object = reader.object();
  Row row{.case_id = object.take("case").string(),
          .device_class = object.take("device_class").string(),
          .variant = object.take("variant").string(),
          .metric = object.take("metric").string(),
          .kind = object.take("kind").string(),
          .unit = object.take("unit").string(),
          .verdict = object.take("verdict").one_of(verdicts),
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
    const Reader loss = inner.take("loss");
    row.resolution = loss.number();
    if (*row.resolution <= 0) throw loss.wrong("'loss' is the smallest that fails, and positive");
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
      {"change", finite(row.change)},
      {"limit", finite(row.limit)},
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

}  // namespace

Verdict parse_verdict(const Document& document) {
  Object object = open_schema(document, "holdfast-verdict/1");
  const Reader exit = object.take("exit");
  constexpr std::array<std::int64_t, 6> codes = {0, 1, 2, 3, 4, 77};
  if (std::find(codes.begin(), codes.end(), exit.integer()) == codes.end())
    throw exit.wrong(text("'exit' is ", exit.integer(), ", which is no exit code of holdfast"));
  Verdict verdict{.exit = static_cast<int>(exit.integer())};
  for (const auto& [name, count] : object.take("counts").object().rest()) {
    if (std::find(verdicts.begin(), verdicts.end(), name) == verdicts.end())
      throw count.wrong(text("'", name, "' is no verdict of holdfast"));
    if (count.integer() < 1) throw count.wrong(text("'", name, "' counts the rows that there are"));
    verdict.counts[name] = count.integer();
  }
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
