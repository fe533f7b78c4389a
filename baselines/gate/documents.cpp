// SPDX-License-Identifier: Apache-2.0
// Baselines, lists and verdicts; results, the largest document, are in results_document.cpp.
#include "gate/documents.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "gate/merge.hpp"

namespace holdfast::gate {
namespace {

std::optional<std::string> optional_string(Object& object, std::string_view key) {
  return object.take(key).string_or_null();
}

Acceptance parse_acceptance(const Reader& reader) {
  Object object = reader.object();
  Acceptance accepted{.utc = object.take("utc").string(),
                      .content = object.take("content").string(),
                      .runs = object.take("runs").strings(),
                      .why = object.take("why").string()};
  if (const Reader previous = object.take("previous"); !previous.is_null())
    accepted.previous = parse_value(previous);
  object.close();
  return accepted;
}

Entry parse_entry(const Reader& reader) {
  Object object = reader.object();
  Entry entry{.value = parse_value(object.take("value"))};
  const auto* number = std::get_if<double>(&entry.value);
  if (number && *number < 0) throw reader.wrong("an accepted value cannot be negative");
  if (const auto medians = object.optional("medians")) {
    entry.medians = medians->numbers();
    entry.mad_between = object.take("mad_between").number();
    const Reader days = object.take("days");
    entry.days = days.integer();
    entry.anchor = object.take("anchor").number();
    entry.bootstrap = object.take("bootstrap").boolean();
    const Reader runs = object.take("runs");
    if (runs.integer() != static_cast<std::int64_t>(entry.medians.size()))
      throw runs.wrong(
          text("'runs' is ", runs.integer(), " and 'medians' holds ", entry.medians.size()));
    if (entry.days < 1 || entry.days > runs.integer())
      throw days.wrong(
          text("'days' is ", entry.days, " for ", plural(entry.medians.size(), "run")));
    const double middle = entry.medians.empty() ? 0 : median(entry.medians);
    if (!number || middle <= 0 || std::abs(*number - middle) > 1e-9 * middle)
      throw reader.wrong("'value' must be the median of 'medians', and positive");
    if (*entry.mad_between < 0 || *entry.anchor <= 0)
      throw reader.wrong("'mad_between' cannot be negative, and 'anchor' must be positive");
    for (const double median : entry.medians)
      if (median <= 0) throw reader.wrong("'medians' are positive");
    for (const double held : {middle, *entry.mad_between, *entry.anchor})
      refuse_absurd(reader, held, false);
  }
  if (number) refuse_absurd(reader, *number, entry.medians.empty());
  entry.accepted = parse_acceptance(object.take("accepted"));
  object.close();
  return entry;
}

nlohmann::json to_json(const Entry& entry) {
  const Acceptance& accepted = entry.accepted;
  nlohmann::json json = {{"value", value_json(entry.value)},
                         {"accepted",
                          {{"utc", accepted.utc},
                           {"content", accepted.content},
                           {"runs", accepted.runs},
                           {"why", accepted.why},
                           {"previous", accepted.previous ? value_json(*accepted.previous)
                                                          : nlohmann::json(nullptr)}}}};
  if (!entry.medians.empty()) {
    json["mad_between"] = entry.mad_between.value_or(0);
    json["medians"] = entry.medians;
    json["runs"] = entry.medians.size();
    json["days"] = entry.days;
    json["anchor"] = entry.anchor.value_or(entry.medians.front());
    json["bootstrap"] = entry.bootstrap;
  }
  return json;
}

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
  row.next = optional_string(object, "next");
  object.close();
  return row;
}

nlohmann::json to_json(const Row& row) {
  return {{"case", row.case_id},
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
  object.close();
  return finding;
}

nlohmann::json to_json(const Detection& finding) {
  return {{"case", finding.case_id},        {"device_class", finding.device_class},
          {"variant", finding.variant},     {"detector", finding.detector},
          {"sentence", finding.sentence},   {"value", finding.value},
          {"threshold", finding.threshold}, {"fix", finding.fix},
          {"source", finding.source}};
}

void refuse_repeated(const Reader& where, std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw where.wrong(text("'", *twice, "' stands twice here"));
}

}  // namespace

void refuse_absurd(const Reader& where, double number, bool counted) {
  constexpr double largest_count = 9007199254740992;  // beyond it not every count has a double
  constexpr double largest = 1e18;                    // more than any machine does in a second
  if (std::abs(number) < (counted ? largest_count : largest)) return;
  throw where.wrong(text("the number ", number, " is larger than anything that is ",
                         counted ? "counted" : "measured"));
}

Value parse_value(const Reader& reader) {
  if (reader.is_string()) return reader.string();
  return reader.number();
}

nlohmann::json value_json(const Value& value) {
  return std::visit([](const auto& held) { return nlohmann::json(held); }, value);
}

List parse_list(const Document& document) {
  Object object = open_schema(document, "holdfast-list/1");
  List list{.suite = object.take("suite").string()};
  for (const Reader& item : object.take("cases").items()) {
    Object row = item.object();
    ListedCase& listed = list.cases.emplace_back();
    listed.id = row.take("id").string();
    listed.tier = row.take("tier").one_of(tiers);
    listed.reference = row.take("reference").boolean();
    for (const auto& [kind, reader] : row.take("devices").object().rest()) {
      Object device = reader.object();
      const Reader metrics = device.take("metrics");
      listed.devices[kind] = metrics.strings();
      refuse_repeated(metrics, listed.devices[kind]);
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
    cases.push_back({{"id", listed.id},
                     {"tier", listed.tier},
                     {"reference", listed.reference},
                     {"devices", devices}});
  }
  return {{"schema", "holdfast-list/1"}, {"suite", list.suite}, {"cases", cases}};
}

std::string device_kind(const std::string& device_name) {
  return device_name.substr(0, device_name.find(':'));
}

Fingerprint fingerprint(const Environment& environment) {
  return {.nvrtc = environment.nvrtc,
          .nvjitlink = environment.nvjitlink,
          .driver = environment.driver,
          .compiler = environment.compiler};
}

Baseline parse_baseline(const Document& document) {
  Object object = open_schema(document, "holdfast-baseline/1");
  Baseline baseline{.device_class = object.take("device_class").string()};
  Object print = object.take("fingerprint").object();
  baseline.fingerprint = {.nvrtc = optional_string(print, "nvrtc"),
                          .nvjitlink = optional_string(print, "nvjitlink"),
                          .driver = optional_string(print, "driver"),
                          .compiler = optional_string(print, "compiler")};
  print.close();
  for (const auto& [key, reader] : object.take("entries").object().rest()) {
    if (std::count(key.begin(), key.end(), '|') != 2)
      throw reader.wrong(text("the entry '", key, "' is not named 'case id|variant|metric'"));
    baseline.entries[key] = parse_entry(reader);
  }
  object.close();
  return baseline;
}

Baseline read_baseline(const std::filesystem::path& path) {
  return parse_baseline(Document::open(path));
}

std::string baseline_text(const Baseline& baseline) {
  const Fingerprint& print = baseline.fingerprint;
  std::string out =
      "{\n\"device_class\": " + canonical_line(baseline.device_class) + ",\n\"entries\": {";
  const char* separator = "\n";
  for (const auto& [key, entry] : baseline.entries) {
    out += separator + canonical_line(key) + ": " + canonical_line(to_json(entry));
    separator = ",\n";
  }
  return out + "\n},\n\"fingerprint\": " +
         canonical_line({{"nvrtc", nullable(print.nvrtc)},
                         {"nvjitlink", nullable(print.nvjitlink)},
                         {"driver", nullable(print.driver)},
                         {"compiler", nullable(print.compiler)}}) +
         ",\n\"schema\": \"holdfast-baseline/1\"\n}\n";
}

std::string entry_key(const std::string& case_id, const std::string& variant,
                      const std::string& metric) {
  return case_id + '|' + variant + '|' + metric;
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
  return {{"schema", "holdfast-verdict/1"},
          {"exit", verdict.exit},
          {"counts", verdict.counts},
          {"rows", rows},
          {"notes", verdict.notes},
          {"not_checked", verdict.not_checked},
          {"findings", findings}};
}

}  // namespace holdfast::gate
