// SPDX-License-Identifier: Apache-2.0
// One file of the policy, from its text.
#include <algorithm>

#include "gate/documents/baseline.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/names.hpp"
#include "gate/documents/policy/policy.hpp"

namespace holdfast::gate {
namespace {

const std::vector<std::string_view> variants(metric_variants.begin(), metric_variants.end());

Gate parse_gate(const Reader& reader) {
  if (reader.string() == "block") return Gate::block;
  if (reader.string() == "warn") return Gate::warn;
  if (reader.string() == "off") return Gate::off;
  throw reader.wrong(text("a gate is block, warn or off, and not '", reader.string(), "'"));
}

double parse_tolerance(const Reader& reader) {
  const double value = reader.number();
  if (value < 0 || value > 1)
    throw reader.wrong(text("a tolerance lies between 0 and 1, and is ", value,
                            "; what may double needs no gate"));
  return value;
}

std::vector<std::string> parse_versions(const Reader& reader) {
  for (const Reader& item : reader.items()) {
    const std::string& name = item.string();
    if (std::ranges::none_of(known_tools, [&](const auto& tool) { return tool.first == name; }))
      throw item.wrong(text(
          "'same' holds nvrtc, nvjitlink, nvdisasm, driver or compiler, and not '", name, "'"));
  }
  return reader.strings();
}

// Where a part stands, and why it is laxer than before; without a reason it must not be.
Said parse_said(Object& object, const Reader& reader) {
  Said said{.place = text(reader.file(), ':', reader.line())};
  if (const auto why = object.optional("why")) said.why = reason_of(*why);
  return said;
}

KindRow parse_kind(const Reader& reader) {
  Object object = reader.object();
  KindRow row{.gate = parse_gate(object.take("gate"))};
  if (const auto value = object.optional("tolerance")) row.tolerance = parse_tolerance(*value);
  if (const auto value = object.optional("host_tolerance"))
    row.host_tolerance = parse_tolerance(*value);
  if (const auto value = object.optional("same")) row.same = parse_versions(*value);
  if (const auto value = object.optional("two_sided"))
    for (const Reader& item : value->items()) row.two_sided.push_back(item.one_of(variants));
  if (const auto value = object.optional("drift"))
    row.drift_blocks = value->one_of({"warn", "block"}) == "block";
  row.said = parse_said(object, reader);
  object.close();
  return row;
}

// The metrics whose worsening makes a fall no gain; * if a fall never is one.
std::vector<std::string> parse_fall(const Reader& reader) {
  std::vector<std::string> beside = reader.strings();
  if (beside.empty())
    throw reader.wrong("'fall_is_change' names the metrics beside which a fall is no gain, or *");
  return beside;
}

// "--count-instructions": it stands in commands to paste.
bool is_option(std::string_view words) {
  const auto is_of_one = [](char letter) {
    return letter == '-' || (letter >= 'a' && letter <= 'z');
  };
  return words.size() > 2 && words.starts_with("--") &&
         std::all_of(words.begin(), words.end(), is_of_one);
}

// A metric's kind, direction and unit once stood here; in an earlier policy they are ignored.
MetricRow parse_metric(const std::string& name, const Reader& reader, Policy::Age age) {
  Object object = reader.object();
  for (const char* said : {"kind", "better", "unit"})
    if (const auto there = object.optional(said); there && age == Policy::Age::current)
      throw there->wrong(text("the '", said, "' of ", name,
                              " is told by the list of its suite; take it out of the policy, which "
                              "has only what differs from its kind"));
  MetricRow row;
  if (const auto value = object.optional("gate")) row.gate = parse_gate(*value);
  if (const auto value = object.optional("tolerance")) row.tolerance = parse_tolerance(*value);
  if (const auto value = object.optional("patch_tolerance"))
    row.patch_tolerance = parse_tolerance(*value);
  if (const auto value = object.optional("same")) row.same = parse_versions(*value);
  if (const auto value = object.optional("impossible_above"))
    row.impossible_above = parse_limit(*value);
  if (const auto value = object.optional("on_request")) {
    row.on_request = value->string();
    if (!is_option(row.on_request))
      throw value->wrong("'on_request' is the option of holdfast run that asks for the metric");
  }
  if (const auto value = object.optional("fall_is_change")) row.fall_is_change = parse_fall(*value);
  row.said = parse_said(object, reader);
  object.close();
  return row;
}

std::size_t parse_most_suspects(const Reader& reader) {
  constexpr std::int64_t cases_of_a_fleet = 1'000'000;
  if (reader.integer() < 1 || reader.integer() > cases_of_a_fleet)
    throw reader.wrong(text("'most_suspects' lies between 1 and ", cases_of_a_fleet));
  return static_cast<std::size_t>(reader.integer());
}

std::vector<std::string> split_sum(const std::string& names) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t plus = 0; plus != std::string::npos; begin = plus + 1) {
    plus = names.find('+', begin);
    parts.push_back(names.substr(begin, plus - begin));
  }
  return parts;
}

void parse_scope(Object& object, Scope& scope) {
  const Reader match = object.take("match");
  scope.match = glob_of(match);
  scope.place = text(match.file(), ':', match.line());
  if (const auto value = object.optional("device")) scope.device = glob_of(*value);
  if (const auto value = object.optional("variant")) scope.variant = value->one_of(variants);
  scope.metrics = split_sum(glob_of(object.take("metric")));
}

Bound parse_bound(const Reader& reader) {
  Object object = reader.object();
  Bound bound;
  if (const auto value = object.optional("min")) bound.min = parse_limit(*value);
  if (const auto value = object.optional("max")) bound.max = parse_limit(*value);
  bound.source = object.take("source").string();
  object.close();
  if (!bound.min && !bound.max) throw reader.wrong("a bound has a min or a max");
  return bound;
}

Rule parse_rule(const Reader& reader) {
  Object object = reader.object();
  Rule rule;
  parse_scope(object, rule);
  if (const auto value = object.optional("tolerance")) rule.tolerance = parse_tolerance(*value);
  if (const auto value = object.optional("gate")) rule.gate = parse_gate(*value);
  if (const auto value = object.optional("bound")) rule.bound = parse_bound(*value);
  if (const auto value = object.optional("why")) rule.why = reason_of(*value);
  object.close();
  if (!rule.tolerance && !rule.gate && !rule.bound)
    throw reader.wrong("a rule says nothing: give it a tolerance, a gate or a bound");
  if (rule.metrics.size() > 1 && (!rule.bound || rule.tolerance))
    throw reader.wrong("a rule on a sum of metrics has a bound, and no tolerance");
  return rule;
}

Waiver parse_waiver(const Reader& reader, const std::string& today) {
  Object object = reader.object();
  Waiver waiver;
  parse_scope(object, waiver);
  const Reader until = object.take("until");
  waiver.until = until.string();
  waiver.why = reason_of(object.take("why"));
  object.close();
  if (!is_day(waiver.until))
    throw until.wrong(
        text("'until' is '", waiver.until, "', and no day of the calendar: YYYY-MM-DD"));
  if (waiver.until < today)
    throw until.wrong(text("the waiver for ", waiver.match, " expired on ", waiver.until,
                           "; mend what it excuses, or renew it with a reason"));
  return waiver;
}

Removal parse_removal(const Reader& reader) {
  Object object = reader.object();
  Removal removal;
  parse_scope(object, removal);
  if (const auto value = object.optional("processor")) {
    removal.processor = glob_of(*value);
    if (removal.processor.empty()) throw value->wrong("a processor has a name, or * for all");
  }
  if (const auto value = object.optional("tier")) removal.tier = value->one_of({"full"});
  removal.why = reason_of(object.take("why"));
  object.close();
  if (removal.metrics.size() > 1)
    throw reader.wrong("what is removed is a metric, or * for all, and no sum");
  return removal;
}

Absence parse_absence(const Reader& reader) {
  Object object = reader.object();
  Absence absence{.metric = glob_of(object.take("metric")),
                  .device = glob_of(object.take("device")),
                  .reason = object.take("reason").string(),
                  .why = reason_of(object.take("why")),
                  .place = text(reader.file(), ':', reader.line())};
  object.close();
  if (absence.reason.empty()) throw reader.wrong("'reason' is words that the reason must hold");
  return absence;
}

}  // namespace

Policy Policy::parse(const Document& document, const std::string& today, Age age) {
  Policy policy;
  policy.file_ = document.root().file();
  Object object = open_schema(document, "holdfast-policy/1");
  if (const auto kinds = object.optional("kinds")) {
    policy.for_all_ = true;
    for (const auto& [name, reader] : kinds->object().rest())
      policy.kinds_[name] = parse_kind(reader);
    if (const auto metrics = object.optional("metrics"))
      for (const auto& [name, reader] : metrics->object().rest())
        policy.rows_[name] = parse_metric(name, reader, age);
    if (const auto most = object.optional("most_suspects"))
      policy.most_suspects_ = parse_most_suspects(*most);
    if (const auto why = object.optional("why")) policy.why_ = reason_of(*why);
    if (const auto absent = object.optional("absent"))
      for (const Reader& reader : absent->items())
        policy.absences_.push_back(parse_absence(reader));
  }
  for (const Reader& reader : object.take("rules").items())
    policy.rules_.push_back(parse_rule(reader));
  for (const Reader& reader : object.take("waivers").items())
    if (Waiver waiver = parse_waiver(reader, age == Age::current ? today : "");
        waiver.until >= today)
      policy.waivers_.push_back(std::move(waiver));
    else
      policy.expired_reasons_.insert(std::move(waiver.why));
  if (const auto removed = object.optional("removed"))
    for (const Reader& reader : removed->items()) policy.removals_.push_back(parse_removal(reader));
  object.close();
  return policy;
}

}  // namespace holdfast::gate
