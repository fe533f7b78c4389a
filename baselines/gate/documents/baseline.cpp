// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/baseline.hpp"
#include "gate/base/shown_text.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "gate/base/numbers.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/names.hpp"

namespace holdfast::gate {
namespace {

// The origins of entries, by the id that their `by` gives.
using Acceptances = std::map<std::string, Acceptance>;

Acceptance parse_acceptance(Object& object) {
  return {.utc = object.take("utc").string(),
          .content = object.take("content").string(),
          .runs = object.take("runs").strings(),
          .why = object.take("why").string()};
}

Acceptances parse_acceptances(const Reader& reader) {
  constexpr std::size_t fewest_digits = 8;
  Acceptances acceptances;
  for (const auto& [id, held] : reader.object().rest()) {
    if (id.size() < fewest_digits || id.find_first_not_of("0123456789abcdef") != id.npos)
      throw held.wrong(text("'", id, "' is no name of an acceptance, which has ", fewest_digits,
                            " hexadecimal digits or more"));
    Object object = held.object();
    acceptances[id] = parse_acceptance(object);
    object.close();
  }
  return acceptances;
}

// The origin of an entry: in the entry itself if there are no `acceptances`.
Acceptance parse_origin(Object& entry, const Acceptances* acceptances) {
  if (!acceptances) {
    Object object = entry.take("accepted").object();
    Acceptance accepted = parse_acceptance(object);
    if (const Reader previous = object.take("previous"); !previous.is_null())
      accepted.previous = parse_value(previous);
    object.close();
    return accepted;
  }
  const Reader by = entry.take("by");
  const auto at = acceptances->find(by.string());
  if (at == acceptances->end())
    throw by.wrong(text("'by' is '", by.string(), "', which 'acceptances' does not have"));
  Acceptance accepted = at->second;
  if (const auto previous = entry.optional("previous")) accepted.previous = parse_value(*previous);
  return accepted;
}

Entry parse_entry(const Reader& reader, const Acceptances* acceptances) {
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
  entry.accepted = parse_origin(object, acceptances);
  object.close();
  return entry;
}

// The acceptances of a file being written, by their text: equal ones are written once.
class Origins {
 public:
  // The first digits of the text's hash, enough to be unique.
  const std::string& id(const Acceptance& accepted) {
    const std::string content = canonical_line({{"utc", accepted.utc},
                                                {"content", accepted.content},
                                                {"runs", accepted.runs},
                                                {"why", accepted.why}});
    std::string& id = ids_[content];
    if (!id.empty()) return id;
    const std::string digits = sha256(content).substr(sha256_prefix.size());
    std::size_t count = 8;
    while (texts_.contains(digits.substr(0, count))) ++count;
    id = digits.substr(0, count);
    texts_[id] = content;
    return id;
  }
  const std::map<std::string, std::string>& texts() const { return texts_; }

 private:
  static constexpr std::string_view sha256_prefix = "sha256:";
  std::map<std::string, std::string> ids_ = {}, texts_ = {};
};

nlohmann::json to_json(const Entry& entry, Origins& origins) {
  nlohmann::json json = {{"value", value_json(entry.value)}, {"by", origins.id(entry.accepted)}};
  if (entry.accepted.previous) json["previous"] = value_json(*entry.accepted.previous);
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

// Where the times and ratios of a file stand: a host's belong to one processor each.
enum class Times { here, elsewhere, alone };

Entries parse_entries(const Reader& reader, Times times, const Acceptances* acceptances) {
  Entries entries;
  for (const auto& [key, held] : reader.object().rest()) {
    require_entry_key(held, key);
    const Entry entry = parse_entry(held, acceptances);
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

void require_case(const Reader& held, const std::string& id) {
  if (id.empty() || id.find('|') != std::string::npos)
    throw held.wrong(text("'", id, "' is no case"));
}

// Limits by case id; they do not depend on a clock.
Entries parse_limits(const Reader& reader, const Acceptances* acceptances) {
  Entries limits;
  for (const auto& [id, held] : reader.object().rest()) {
    require_case(held, id);
    Object object = held.object();
    Entry& limit = limits[id] = {.value = parse_limit(object.take("value"))};
    limit.accepted = parse_origin(object, acceptances);
    object.close();
  }
  return limits;
}

MetricNames parse_bounded(const Reader& reader) {
  MetricNames bounded;
  for (const auto& [id, names] : reader.object().rest()) {
    require_case(names, id);
    for (const Reader& name : names.items()) bounded[id].insert(name_of(name));
    if (!bounded.contains(id)) throw names.wrong("an empty list is none; leave the case out");
  }
  return bounded;
}

// One member per line, each with the text of its value.
template <class Members, class Text>
std::string lines(const Members& members, Text value) {
  std::string out = "{";
  const char* separator = "\n";
  for (const auto& [key, member] : members) {
    out += separator + canonical_line(key) + ": " + value(member);
    separator = ",\n";
  }
  return out + "\n}";
}

std::set<std::string> metrics_of(const Baseline& baseline) {
  std::set<std::string> names;
  for (const auto& [processor, entries] : by_processor(baseline))
    for (const auto& [key, entry] : *entries) names.insert(metric_of(key));
  names.erase(kernels_metric);
  return names;
}

}  // namespace

void refuse_absurd(const Reader& where, double number, bool counted) {
  constexpr double largest_count = 9007199254740992;  // not every larger count is a double
  constexpr double largest = 1e18;                    // more than any machine does in a second
  if (std::abs(number) < (counted ? largest_count : largest)) return;
  throw where.wrong(text("the number ", number, " is larger than anything that is ",
                         counted ? "counted" : "measured"));
}

double parse_limit(const Reader& reader) {
  const double limit = reader.number();
  if (limit < 0)
    throw reader.wrong(text("a limit of ", limit, " is negative, so nothing can meet it"));
  refuse_absurd(reader, limit, false);
  return limit;
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
          .compiler = environment.compiler,
          .nvdisasm = environment.nvdisasm};
}

bool is_timed(const Entry& entry) {
  return !entry.medians.empty();
}

std::vector<std::pair<std::string, const Entries*>> by_processor(const Baseline& baseline) {
  std::vector<std::pair<std::string, const Entries*>> all = {{"", &baseline.entries}};
  for (const auto& [processor, entries] : baseline.processors)
    all.emplace_back(processor, &entries);
  return all;
}

std::size_t count_entries(const Baseline& baseline) {
  std::size_t count = 0;
  for (const auto& [processor, entries] : by_processor(baseline)) count += entries->size();
  return count;
}

bool has_times(const Baseline& view) {
  return std::any_of(view.entries.begin(), view.entries.end(),
                     [](const auto& held) { return is_timed(held.second); });
}

std::set<std::string> reasons(const Baseline& baseline) {
  std::set<std::string> reasons;
  auto all = by_processor(baseline);
  all.emplace_back("", &baseline.limits);
  for (const auto& [processor, entries] : all)
    for (const auto& [key, entry] : *entries) reasons.insert(as_seen(entry.accepted.why));
  return reasons;
}

Baseline seen_on(const std::string& processor, Baseline baseline) {
  const auto own = baseline.processors.find(processor);
  if (own == baseline.processors.end()) return baseline;
  baseline.entries.merge(own->second);
  baseline.processors.erase(own);
  return baseline;
}

Baseline judged_by(const Results& results, Baseline baseline) {
  const bool apart = stood_apart(results);
  const std::string own = timed_on(results.env, apart), other = timed_on(results.env, !apart);
  const bool is_own = baseline.processors.contains(own);
  return seen_on(is_own ? own : other, std::move(baseline));
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

void keep_metrics(Baseline& baseline, const Meanings& listed) {
  Meanings kept;
  for (const std::string& name : metrics_of(baseline))
    for (const Meanings* known : {&listed, &std::as_const(baseline.metrics)})
      if (const auto at = known->find(name); at != known->end()) kept[name] = at->second;
  baseline.metrics = std::move(kept);
}

Baseline parse_baseline(const Document& document) {
  constexpr std::string_view older = "holdfast-baseline/1";
  Object object = open_schema(document, "holdfast-baseline/2", older);
  const bool is_first = document.root().object().take("schema").string() == older;
  Baseline baseline{.device_class = name_of(object.take("device_class"))};
  Acceptances all;
  const Acceptances* acceptances = is_first ? nullptr : &all;
  if (acceptances) {
    all = parse_acceptances(object.take("acceptances"));
    baseline.metrics = parse_meanings(object.take("metrics"));
  }
  const bool host = is_host_class(baseline.device_class);
  Object print = object.take("fingerprint").object();
  baseline.fingerprint = {.nvrtc = print.take("nvrtc").string_or_null(),
                          .nvjitlink = print.take("nvjitlink").string_or_null(),
                          .driver = print.take("driver").string_or_null(),
                          .compiler = print.take("compiler").string_or_null()};
  if (const auto nvdisasm = print.optional("nvdisasm"))
    baseline.fingerprint.nvdisasm = nvdisasm->string_or_null();
  print.close();
  const Reader entries = object.take("entries");
  baseline.entries = parse_entries(entries, host ? Times::elsewhere : Times::here, acceptances);
  if (const auto processors = object.optional("processors")) {
    if (!host)
      throw processors->wrong(text("the class ", baseline.device_class,
                                   " is of one processor; only classes of hosts have several"));
    for (const auto& [processor, reader] : processors->object().rest()) {
      if (processor.empty()) throw reader.wrong("a processor has a name, and this one has none");
      const Entries& own = baseline.processors[processor] =
          parse_entries(reader, Times::alone, acceptances);
      const auto twice = std::find_if(own.begin(), own.end(), [&](const auto& held) {
        return baseline.entries.contains(held.first);
      });
      if (twice != own.end())
        throw reader.wrong(
            text("the entry '", twice->first, "' stands in 'entries' as well; remove one of them"));
    }
  }
  if (acceptances) {
    if (const auto limits = object.optional("limits"))
      baseline.limits = parse_limits(*limits, acceptances);
    if (const auto bounded = object.optional("bounded")) baseline.bounded = parse_bounded(*bounded);
  }
  object.close();
  if (acceptances)
    for (const std::string& name : metrics_of(baseline))
      if (!baseline.metrics.contains(name))
        throw entries.wrong(text("'metrics' does not say what '", name, "' is, which has entries"));
  return baseline;
}

Baseline read_baseline(const std::filesystem::path& path) {
  return parse_baseline(Document::open(path));
}

std::string baseline_text(const Baseline& baseline) {
  const Fingerprint& print = baseline.fingerprint;
  nlohmann::json versions = {{"nvrtc", nullable(print.nvrtc)},
                             {"nvjitlink", nullable(print.nvjitlink)},
                             {"driver", nullable(print.driver)},
                             {"compiler", nullable(print.compiler)}};
  if (print.nvdisasm) versions["nvdisasm"] = *print.nvdisasm;
  Origins origins;
  const auto of_entry = [&](const Entry& entry) { return canonical_line(to_json(entry, origins)); };
  const auto of_entries = [&](const Entries& entries) { return lines(entries, of_entry); };
  std::map<std::string, std::string> members = {
      {"device_class", canonical_line(baseline.device_class)},
      {"entries", of_entries(baseline.entries)},
      {"fingerprint", canonical_line(versions)},
      {"metrics", lines(baseline.metrics,
                        [](const Meaning& meaning) { return canonical_line(to_json(meaning)); })},
      {"schema", canonical_line("holdfast-baseline/2")}};
  if (!baseline.processors.empty()) members["processors"] = lines(baseline.processors, of_entries);
  if (!baseline.limits.empty()) members["limits"] = of_entries(baseline.limits);
  if (baseline.bounded)
    members["bounded"] = lines(*baseline.bounded, [](const std::set<std::string>& names) {
      return canonical_line(names);
    });
  members["acceptances"] = lines(origins.texts(), std::identity());
  return lines(members, std::identity()) + "\n";
}

std::string entry_key(const std::string& case_id, const std::string& variant,
                      const std::string& metric) {
  return case_id + '|' + variant + '|' + metric;
}

EntryName entry_name(const std::string& entry_key) {
  const std::size_t first = entry_key.find('|'), second = entry_key.rfind('|');
  return {.case_id = entry_key.substr(0, first),
          .variant = entry_key.substr(first + 1, second - first - 1),
          .metric = entry_key.substr(second + 1)};
}

std::string metric_of(const std::string& entry_key) {
  return entry_key.substr(entry_key.rfind('|') + 1);
}

}  // namespace holdfast::gate
