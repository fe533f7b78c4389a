// SPDX-License-Identifier: Apache-2.0
// Baselines: what was accepted, one entry per line.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "gate/base/numbers.hpp"
#include "gate/documents/documents.hpp"

namespace holdfast::gate {
namespace {

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

// Where the times and ratios of a file stand: a host's are of one processor each.
enum class Times { here, elsewhere, alone };

Entries parse_entries(const Reader& reader, Times times) {
  Entries entries;
  for (const auto& [key, held] : reader.object().rest()) {
    if (std::count(key.begin(), key.end(), '|') != 2)
      throw held.wrong(text("the entry '", key, "' is not named 'case id|variant|metric'"));
    const Entry entry = parse_entry(held);
    if (times == Times::elsewhere && is_timed(entry))
      throw held.wrong(
          "a host's times and ratios stand under 'processors', by the processor that they are of; "
          "take this one out and accept again");
    if (times == Times::alone && !is_timed(entry))
      throw held.wrong("under 'processors' stand times and ratios alone, which have 'medians'");
    entries[key] = entry;
  }
  return entries;
}

std::string entries_text(const Entries& entries) {
  std::string out = "{";
  const char* separator = "\n";
  for (const auto& [key, entry] : entries) {
    out += separator + canonical_line(key) + ": " + canonical_line(to_json(entry));
    separator = ",\n";
  }
  return out + "\n}";
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

Fingerprint fingerprint(const Environment& environment) {
  return {.nvrtc = environment.nvrtc,
          .nvjitlink = environment.nvjitlink,
          .driver = environment.driver,
          .compiler = environment.compiler};
}

bool is_timed(const Entry& entry) {
  return !entry.medians.empty();
}

std::size_t count_entries(const Baseline& baseline) {
  std::size_t count = baseline.entries.size();
  for (const auto& [processor, entries] : baseline.processors) count += entries.size();
  return count;
}

bool has_times(const Baseline& view) {
  return std::any_of(view.entries.begin(), view.entries.end(),
                     [](const auto& held) { return is_timed(held.second); });
}

Baseline seen_on(const std::string& processor, Baseline baseline) {
  const auto own = baseline.processors.find(processor);
  if (own == baseline.processors.end()) return baseline;
  baseline.entries.merge(own->second);
  baseline.processors.erase(own);
  return baseline;
}

Baseline stored_from(const std::string& processor, Baseline view) {
  if (!is_host_class(view.device_class)) return view;
  Entries timed;
  for (auto at = view.entries.begin(); at != view.entries.end();) {
    const auto next = std::next(at);
    if (is_timed(at->second)) timed.insert(view.entries.extract(at));
    at = next;
  }
  if (!timed.empty()) view.processors[processor] = std::move(timed);
  return view;
}

Baseline parse_baseline(const Document& document) {
  Object object = open_schema(document, "holdfast-baseline/1");
  Baseline baseline{.device_class = object.take("device_class").string()};
  const bool host = is_host_class(baseline.device_class);
  Object print = object.take("fingerprint").object();
  baseline.fingerprint = {.nvrtc = print.take("nvrtc").string_or_null(),
                          .nvjitlink = print.take("nvjitlink").string_or_null(),
                          .driver = print.take("driver").string_or_null(),
                          .compiler = print.take("compiler").string_or_null()};
  print.close();
  baseline.entries = parse_entries(object.take("entries"), host ? Times::elsewhere : Times::here);
  if (const auto processors = object.optional("processors")) {
    if (!host)
      throw processors->wrong(text("the class ", baseline.device_class,
                                   " is of one processor; only classes of hosts have several"));
    for (const auto& [processor, reader] : processors->object().rest()) {
      const Entries& own = baseline.processors[processor] = parse_entries(reader, Times::alone);
      const auto twice = std::find_if(own.begin(), own.end(), [&](const auto& held) {
        return baseline.entries.contains(held.first);
      });
      if (twice != own.end())
        throw reader.wrong(
            text("the entry '", twice->first, "' stands in 'entries' as well; remove one of them"));
    }
  }
  object.close();
  return baseline;
}

Baseline read_baseline(const std::filesystem::path& path) {
  return parse_baseline(Document::open(path));
}

std::string baseline_text(const Baseline& baseline) {
  const Fingerprint& print = baseline.fingerprint;
  std::string out = "{\n\"device_class\": " + canonical_line(baseline.device_class) +
                    ",\n\"entries\": " + entries_text(baseline.entries) + ",\n\"fingerprint\": " +
                    canonical_line({{"nvrtc", nullable(print.nvrtc)},
                                    {"nvjitlink", nullable(print.nvjitlink)},
                                    {"driver", nullable(print.driver)},
                                    {"compiler", nullable(print.compiler)}});
  const char* separator = ",\n\"processors\": {\n";
  for (const auto& [processor, entries] : baseline.processors) {
    out += separator + canonical_line(processor) + ": " + entries_text(entries);
    separator = ",\n";
  }
  if (!baseline.processors.empty()) out += "\n}";
  return out + ",\n\"schema\": \"holdfast-baseline/1\"\n}\n";
}

std::string entry_key(const std::string& case_id, const std::string& variant,
                      const std::string& metric) {
  return case_id + '|' + variant + '|' + metric;
}

}  // namespace holdfast::gate
