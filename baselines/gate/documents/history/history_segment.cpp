// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/history/history_segment.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/time.hpp"
#include "gate/base/numbers.hpp"
#include "gate/documents/case_name.hpp"

namespace holdfast::gate {
namespace {

using nlohmann::json;

constexpr const char* schema = "holdfast-history/2";
constexpr const char* no_verdict = "none";  // among the verdicts of series
constexpr double parts = 1e4;               // offsets are ten-thousandths
constexpr double most_parts = 1e9;

double rounded(double value) {
  std::array<char, 32> digits = {};
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                  std::chars_format::scientific, 5)
                        .ptr;
  std::from_chars(digits.data(), end, value);
  return value;
}

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - std::floor(place)) * (sorted[above] - sorted[below]);
}

// Without blanks, since a store is kept for good. Bytes of a commit's subject that are not UTF-8
// are replaced.
std::string packed(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// The line of one object: `key`, which tells what it is, stands first.
std::string line_of(const std::string& key, const json& value, const json& others) {
  const std::string rest = packed(others);
  return text("{\"", key, "\":", packed(value), ',', std::string_view(rest).substr(1), '\n');
}

// A number; a count has no decimal point.
json json_of(double number) {
  constexpr double exact = 1e15;
  if (number == std::floor(number) && std::abs(number) < exact)
    return static_cast<std::int64_t>(number);
  return number;
}

json json_of(const HistoryValue& value) {
  if (!value.offsets.empty()) {
    json all = json::array({json_of(value.value)});
    for (const std::int64_t offset : value.offsets) all.push_back(offset);
    return all;
  }
  if (value.mad) return json::array({json_of(value.value), json_of(*value.mad)});
  return json_of(value.value);
}

HistoryValue value_of(const Reader& reader) {
  if (reader.is_number()) return {.value = reader.number()};
  const std::vector<Reader> items = reader.items();
  if (items.size() != 2 && items.size() != 5)
    throw reader.wrong("a value is a number, two of them or five");
  HistoryValue value{.value = items[0].number()};
  if (items.size() == 2) value.mad = items[1].number();
  if (value.mad && *value.mad < 0) throw reader.wrong("a spread cannot be negative");
  for (std::size_t i = 1; items.size() == 5 && i < 5; ++i)
    value.offsets.push_back(items[i].integer());
  if (!std::is_sorted(value.offsets.begin(), value.offsets.end()))
    throw reader.wrong("least, quartiles and most of a value are not in order");
  return value;
}

json json_of(const HistoryCommit& commit) {
  return {{"name", commit.name},
          {"order", commit.order},
          {"branch", nullable(commit.branch)},
          {"subject", nullable(commit.subject)},
          {"author_time", nullable(commit.author_time)},
          {"parent", nullable(commit.parent)},
          {"ci", nullable(commit.ci)}};
}

HistoryCommit commit_of(const Reader& reader) {
  Object object = reader.object();
  const Reader order = object.take("order");
  HistoryCommit commit{.name = object.take("name").string(),
                       .order = order.integer(),
                       .branch = object.take("branch").string_or_null(),
                       .subject = object.take("subject").string_or_null(),
                       .author_time = object.take("author_time").string_or_null(),
                       .parent = object.take("parent").string_or_null(),
                       .ci = object.take("ci").string_or_null()};
  object.close();
  if (commit.name.empty()) throw reader.wrong("a commit without a name");
  if (commit.order < 1 || commit.order > most_commits)
    throw order.wrong(text("'order' counts commits from 1 on, and is ", commit.order));
  return commit;
}

// The JSON of an environment: strings, numbers, booleans, null, and objects of those.
json json_of(const Reader& reader) {
  if (reader.is_null()) return nullptr;
  if (reader.is_string()) return reader.string();
  if (reader.is_number()) return json_of(reader.number());
  if (reader.is_boolean()) return reader.boolean();
  json object = json::object();
  for (const auto& [key, member] : reader.object().rest()) object[key] = json_of(member);
  return object;
}

// The ranges of sorted numbers, as [[2,2],[5,9]].
json ranges_of(const std::vector<std::size_t>& numbers) {
  json ranges = json::array();
  for (const std::size_t number : numbers) {
    if (!ranges.empty() && ranges.back()[1].get<std::size_t>() + 1 == number)
      ranges.back()[1] = number;
    else
      ranges.push_back({number, number});
  }
  return ranges;
}

std::vector<std::string> strings_of(Object& line, std::string_view key) {
  const auto found = line.optional(key);
  return found ? found->strings() : std::vector<std::string>();
}

HistoryVerdict verdict_of(Object& object) {
  HistoryVerdict verdict{.exit = object.take("exit").integer(),
                         .blocking = object.take("blocking").integer()};
  for (const auto& [name, count] : object.take("counts").object().rest())
    verdict.counts[name] = count.integer();
  if (const auto caveats = object.optional("caveats")) verdict.caveats = caveats->strings();
  return verdict;
}

}  // namespace

bool is_utc(std::string_view text) {
  constexpr std::string_view form = "dddd-dd-ddTdd:dd:ddZ";
  return text.size() == form.size() &&
         std::equal(text.begin(), text.end(), form.begin(),
                    [](char byte, char wanted) {
                      return wanted == 'd' ? byte >= '0' && byte <= '9' : byte == wanted;
                    }) &&
         is_day(text.substr(0, 10));
}

std::optional<double> HistoryValue::spread() const {
  if (offsets.empty()) return mad;
  std::vector<double> five = {value};
  for (const std::int64_t offset : offsets)
    five.push_back(value * (1 + static_cast<double>(offset) / parts));
  return median_absolute_deviation(five);
}

HistoryValue five_numbers(std::vector<double> processes) {
  std::sort(processes.begin(), processes.end());
  HistoryValue made{.value = rounded(quantile(processes, 0.5))};
  for (const double share : {0.0, 0.25, 0.75, 1.0}) {
    const double offset = parts * (quantile(processes, share) / made.value - 1);
    if (!(made.value > 0) || !(std::abs(offset) < most_parts)) return {.value = made.value};
    made.offsets.push_back(std::llround(offset));
  }
  return made;
}

std::string HistoryRun::fingerprint() const {
  return env.value("fingerprint", std::string());
}

std::string HistoryRun::tools() const {
  if (env.size() <= 1) return fingerprint();
  json known = json::object();
  for (const char* tool : {"compiler", "flags", "driver", "nvrtc", "nvjitlink", "nvdisasm"})
    known[tool] = env.value(tool, json());
  return known.dump();
}

std::string HistoryRun::processor() const {
  const json host = env.value("host", json());
  if (!host.is_object() || !host.value("processor", json()).is_string()) return "";
  Environment of;
  of.processor = host["processor"].get<std::string>();
  of.awake = host.value("awake", json()) == true;
  return timed_on(of, false);
}

void HistorySegment::number(HistorySeries series) {
  suites_[std::string(suite_of(series.case_id))].numbers.push_back(series_.size());
  numbers_[series] = series_.size();
  series_.push_back(std::move(series));
  last_.emplace_back();
}

std::optional<HistoryRun> HistorySegment::read(const Document& line) {
  Object object = line.root().object();
  if (!begun_) {
    read_first(std::move(object));
    return std::nullopt;
  }
  if (const auto metric = object.optional("metric")) {
    read_meaning(line.root().object());
    return std::nullopt;
  }
  if (const auto first = object.optional("series")) {
    read_series(std::move(object), *first);
    return std::nullopt;
  }
  const Reader count = object.take("run");
  return read_run(std::move(object), count);
}

void HistorySegment::read_first(Object line) {
  const Reader said = line.take("schema"), of = line.take("class");
  if (said.string() != schema)
    throw said.wrong(text("the schema is '", said.string(), "', and this holdfast reads '", schema,
                          "'; take the holdfast that wrote it, or a newer one"));
  if (of.string() != device_class_)
    throw of.wrong(text("the history of the class '", of.string(), "' in the folder of another"));
  line.close();
  begun_ = true;
}

void HistorySegment::read_meaning(Object line) {
  const Reader metric = line.take("metric"), kind = line.take("kind"), better = line.take("better");
  HistoryMeaning meaning{.unit = line.take("unit").string()};
  if (!kind.is_null()) meaning.kind = kind.one_of(metric_kinds);
  if (!better.is_null()) meaning.better = better.one_of({"lower", "higher", "same"});
  line.close();
  meanings_[metric.string()] = meaning;
}

void HistorySegment::read_series(Object line, const Reader& first) {
  if (first.integer() != static_cast<std::int64_t>(series_.size()))
    throw first.wrong(text("series ", first.integer(), " where ", series_.size(),
                           " comes next: lines are lost, or stand twice; restore the file"));
  const Reader id = line.take("case"), names = line.take("names");
  line.close();
  for (const Reader& name : names.items()) {
    const std::string& whole = name.string();
    const std::size_t bar = whole.find('|');
    if (bar == 0 || bar == std::string::npos || bar + 1 == whole.size() || id.string().empty())
      throw name.wrong(text("'", whole, "' is no variant|metric of a case"));
    HistorySeries series{id.string(), whole.substr(0, bar), whole.substr(bar + 1)};
    if (numbers_.contains(series)) throw name.wrong(text("'", whole, "' has a number already"));
    number(std::move(series));
  }
}

std::vector<bool> HistorySegment::read_ranges(const Reader& ranges, const Told& suite) const {
  std::vector<bool> within(series_.size(), false), own(series_.size(), false);
  for (const std::size_t number : suite.numbers) own[number] = true;
  for (const Reader& range : ranges.items()) {
    const std::vector<Reader> ends = range.items();
    if (ends.size() != 2) throw range.wrong("a range has two ends");
    const std::int64_t from = ends[0].integer(), to = ends[1].integer();
    if (from < 0 || to < from || to >= static_cast<std::int64_t>(series_.size()))
      throw range.wrong(text("no series are numbered ", from, " to ", to));
    for (std::int64_t i = from; i <= to; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (!own[at] || within[at])
        throw range.wrong(text("series ", i, " is another suite's, or named twice"));
      within[at] = true;
    }
  }
  return within;
}

HistoryRun HistorySegment::read_run(Object line, const Reader& count) {
  if (count.integer() != runs_ + 1)
    throw count.wrong(text("run ", count.integer(), " where ", runs_ + 1,
                           " comes next: lines are lost, or stand twice; restore the file"));
  const Reader suite = line.take("suite"), utc = line.take("utc");
  HistoryRun run{
      .suite = suite.string(), .utc = utc.string(), .id = line.take("id").string_or_null()};
  if (run.suite.empty()) throw suite.wrong("'suite' is empty");
  if (!is_utc(run.utc)) throw utc.wrong(text("'", run.utc, "' is no YYYY-MM-DDTHH:MM:SSZ"));
  if (const auto commit = line.optional("commit")) commit_ = commit_of(*commit);
  Told& told = suites_[run.suite];
  if (const auto env = line.optional("env")) {
    told.env = json_of(*env);
    if (!told.env.is_object() || !told.env.contains("fingerprint") ||
        !told.env["fingerprint"].is_string() || told.env["fingerprint"].get<std::string>().empty())
      throw env->wrong("an environment without a fingerprint");
  }
  if (const auto sentences = line.optional("not_checked")) told.not_checked = sentences->strings();
  if (!commit_ || told.env.is_null() || !told.not_checked)
    throw count.wrong("the first run of a suite tells its commit, env and not_checked");
  run.commit = *commit_;
  run.env = told.env;
  run.not_checked = *told.not_checked;
  if (const auto partial = line.optional("partial")) run.partial = partial->boolean();
  run.invalid = strings_of(line, "invalid");
  read_points(line, run);
  line.close();
  ++runs_;
  return run;
}

void HistorySegment::read_points(Object& line, HistoryRun& run) {
  const Told& told = suites_[run.suite];
  std::vector<bool> absent(series_.size(), false), blocks(series_.size(), false);
  if (const auto ranges = line.optional("absent")) absent = read_ranges(*ranges, told);
  if (const auto ranges = line.optional("blocks")) blocks = read_ranges(*ranges, told);
  std::vector<std::optional<std::string>> verdicts(series_.size());
  if (const Reader judged = line.take("verdict"); !judged.is_null()) {
    Object object = judged.object();
    run.verdict = verdict_of(object);
    const std::string most = object.take("most").string();
    if (most != no_verdict) std::fill(verdicts.begin(), verdicts.end(), most);
    for (const auto& [name, ranges] : object.take("others").object().rest()) {
      const std::vector<bool> these = read_ranges(ranges, told);
      for (std::size_t i = 0; i < these.size(); ++i)
        if (these[i]) verdicts[i] = name == no_verdict ? std::nullopt : std::optional(name);
    }
    object.close();
  }
  const Reader values = line.take("values");
  for (const auto& [key, value] : values.object().rest()) {
    const auto number = number_of<std::size_t>(key);
    if (!number || std::to_string(*number) != key || *number >= series_.size() ||
        suite_of(series_[*number].case_id) != run.suite || absent[*number])
      throw value.wrong(text("'", key, "' is the number of no series of this run"));
    last_[*number] = value_of(value);
  }
  for (const std::size_t number : told.numbers) {
    if (absent[number]) continue;
    if (!last_[number])
      throw values.wrong(text("series ", number, " has no value, and is not absent"));
    run.points.push_back({.series = &series_[number],
                          .value = *last_[number],
                          .verdict = verdicts[number],
                          .blocks = blocks[number]});
  }
}

// The lines that a run needs and the segment does not have yet.
std::string HistorySegment::new_names(const HistoryRun& run, const HistoryMeanings& meanings) {
  std::string lines;
  if (!begun_) lines += line_of("schema", schema, {{"class", device_class_}});
  begun_ = true;
  std::map<std::string, HistoryMeaning> new_meanings;                // by metric
  std::map<std::string, std::vector<const HistorySeries*>> unknown;  // by case
  for (const HistoryPoint& point : run.points) {
    const HistorySeries& series = *point.series;
    if (!numbers_.contains(series)) unknown[series.case_id].push_back(&series);
    const auto meaning = meanings.find(series.metric);
    const HistoryMeaning is = meaning == meanings.end() ? HistoryMeaning{} : meaning->second;
    const auto told = meanings_.find(series.metric);
    // An unknown kind does not replace a known one.
    if (told != meanings_.end() && (told->second == is || !is.kind)) continue;
    meanings_[series.metric] = new_meanings[series.metric] = is;
  }
  for (const auto& [metric, is] : new_meanings)
    lines +=
        line_of("metric", metric,
                {{"kind", nullable(is.kind)}, {"unit", is.unit}, {"better", nullable(is.better)}});
  for (const auto& [id, all] : unknown) {
    json names = json::array();
    const std::size_t first = series_.size();
    for (const HistorySeries* series : all) {
      names.push_back(series->variant + '|' + series->metric);
      number(*series);
    }
    lines += line_of("series", first, {{"case", id}, {"names", names}});
  }
  return lines;
}

std::string HistorySegment::write(const HistoryRun& run, const HistoryMeanings& meanings) {
  std::string lines = new_names(run, meanings);
  Told& told = suites_[run.suite];
  json line = {{"suite", run.suite}, {"utc", run.utc}, {"id", nullable(run.id)}};
  if (commit_ != run.commit) line["commit"] = json_of(run.commit);
  if (told.env != run.env) line["env"] = run.env;
  if (told.not_checked != run.not_checked) line["not_checked"] = run.not_checked;
  commit_ = run.commit;
  told.env = run.env;
  told.not_checked = run.not_checked;
  if (run.partial) line["partial"] = true;
  if (!run.invalid.empty()) line["invalid"] = run.invalid;

  json values = json::object();
  std::vector<bool> here(series_.size(), false);
  std::vector<std::size_t> blocks;
  std::map<std::string, std::vector<std::size_t>> verdicts;
  for (const HistoryPoint& point : run.points) {
    const std::size_t number = numbers_.at(*point.series);
    here[number] = true;
    if (last_[number] != point.value) values[std::to_string(number)] = json_of(point.value);
    last_[number] = point.value;
    if (point.blocks) blocks.push_back(number);
    verdicts[point.verdict.value_or(no_verdict)].push_back(number);
  }
  line["values"] = values;
  std::vector<std::size_t> absent;
  for (const std::size_t number : told.numbers)
    if (!here[number]) absent.push_back(number);
  if (!absent.empty()) line["absent"] = ranges_of(absent);
  std::sort(blocks.begin(), blocks.end());
  if (!blocks.empty()) line["blocks"] = ranges_of(blocks);
  line["verdict"] = nullptr;
  if (run.verdict) {
    const auto most = std::max_element(
        verdicts.begin(), verdicts.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    json others = json::object();
    for (auto& [name, numbers] : verdicts) {
      std::sort(numbers.begin(), numbers.end());
      if (name != most->first) others[name] = ranges_of(numbers);
    }
    line["verdict"] = {{"exit", run.verdict->exit},
                       {"counts", run.verdict->counts},
                       {"blocking", run.verdict->blocking},
                       {"most", most == verdicts.end() ? no_verdict : most->first},
                       {"others", others}};
    if (run.verdict->caveats) line["verdict"]["caveats"] = *run.verdict->caveats;
  }
  return lines + line_of("run", ++runs_, line);
}

}  // namespace holdfast::gate
