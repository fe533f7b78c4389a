// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/policy.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <set>

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string_view> scope_variants = {"optimized", "reference", "case"};

Gate parse_gate(const Reader& reader) {
  if (reader.string() == "block") return Gate::block;
  if (reader.string() == "warn") return Gate::warn;
  if (reader.string() == "off") return Gate::off;
  throw reader.wrong(text("a gate is block, warn or off, and not '", reader.string(), "'"));
}

// A limit that nothing could be beyond is no limit.
double parse_absolute(const Reader& reader) {
  const double value = reader.number();
  if (value < 0) throw reader.wrong(text("a limit of ", value, ", below zero, holds for nothing"));
  refuse_absurd(reader, value, false);
  return value;
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
    if (name != "nvrtc" && name != "nvjitlink" && name != "driver" && name != "compiler")
      throw item.wrong(
          text("'same' holds nvrtc, nvjitlink, driver or compiler, and not '", name, "'"));
  }
  return reader.strings();
}

KindRow parse_kind(const Reader& reader) {
  Object object = reader.object();
  KindRow row{.gate = parse_gate(object.take("gate"))};
  if (const auto value = object.optional("tolerance")) row.tolerance = parse_tolerance(*value);
  if (const auto value = object.optional("host_tolerance"))
    row.host_tolerance = parse_tolerance(*value);
  if (const auto value = object.optional("same")) row.same = parse_versions(*value);
  if (const auto value = object.optional("two_sided"))
    for (const Reader& item : value->items()) row.two_sided.push_back(item.one_of(scope_variants));
  if (const auto value = object.optional("drift"))
    row.drift_blocks = value->one_of({"warn", "block"}) == "block";
  object.close();
  return row;
}

MetricRow parse_metric(const std::string& name, const Reader& reader) {
  Object object = reader.object();
  for (const char* said : {"kind", "better", "unit"})
    if (const auto there = object.optional(said))
      throw there->wrong(text("the '", said, "' of ", name,
                              " is told by the list of its suite; take it out of the policy, which "
                              "has only what differs from its kind"));
  MetricRow row{.place = text(reader.file(), ':', reader.line())};
  if (const auto value = object.optional("gate")) row.gate = parse_gate(*value);
  if (const auto value = object.optional("tolerance")) row.tolerance = parse_tolerance(*value);
  if (const auto value = object.optional("patch_tolerance"))
    row.patch_tolerance = parse_tolerance(*value);
  if (const auto value = object.optional("same")) row.same = parse_versions(*value);
  if (const auto value = object.optional("impossible_above"))
    row.impossible_above = parse_absolute(*value);
  if (const auto value = object.optional("on_request")) {
    row.on_request = value->string();
    if (!row.on_request.starts_with("--"))
      throw value->wrong("'on_request' is the option of holdfast run that asks for the metric");
  }
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
  scope.match = match.string();
  scope.place = text(match.file(), ':', match.line());
  if (const auto value = object.optional("device")) scope.device = value->string();
  if (const auto value = object.optional("variant")) scope.variant = value->one_of(scope_variants);
  scope.metrics = split_sum(object.take("metric").string());
}

Bound parse_bound(const Reader& reader) {
  Object object = reader.object();
  Bound bound;
  if (const auto value = object.optional("min")) bound.min = parse_absolute(*value);
  if (const auto value = object.optional("max")) bound.max = parse_absolute(*value);
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
  object.close();
  if (!rule.tolerance && !rule.gate && !rule.bound)
    throw reader.wrong("a rule says nothing: give it a tolerance, a gate or a bound");
  if (rule.metrics.size() > 1 && (!rule.bound || rule.tolerance))
    throw reader.wrong("a rule on a sum of metrics has a bound, and no tolerance");
  return rule;
}

bool is_date(const std::string& date) {
  if (date.size() != 10) return false;
  for (std::size_t i = 0; i < date.size(); ++i) {
    const bool dash = i == 4 || i == 7;
    if (dash ? date[i] != '-' : (date[i] < '0' || date[i] > '9')) return false;
  }
  return true;
}

Waiver parse_waiver(const Reader& reader, const std::string& today) {
  Object object = reader.object();
  Waiver waiver;
  parse_scope(object, waiver);
  const Reader until = object.take("until");
  waiver.until = until.string();
  waiver.why = object.take("why").string();
  object.close();
  if (!is_date(waiver.until)) throw until.wrong("'until' is a date, YYYY-MM-DD");
  if (waiver.why.empty()) throw reader.wrong("a waiver says why");
  if (waiver.until < today)
    throw until.wrong(text("the waiver for ", waiver.match, " expired on ", waiver.until,
                           "; mend what it excuses, or renew it with a reason"));
  return waiver;
}

// Whether a class of `kind` (host, cuda, cuda-dry) can match the glob: decided by what stands
// before its first star. Classes of real GPUs are called after the GPU, "nvidia-h200".
bool kind_can_match(const std::string& device, const std::string& kind) {
  const std::string prefix = device.substr(0, device.find('*'));
  if (kind == "cuda") return !prefix.starts_with("host") && !prefix.starts_with("cuda");
  return prefix.starts_with(kind) || kind.starts_with(prefix);
}

bool matches_something(const Scope& scope, const std::vector<List>& lists) {
  for (const List& list : lists) {
    for (const ListedCase& listed : list.cases) {
      if (!matches_glob(scope.match, listed.id)) continue;
      for (const auto& [kind, named] : listed.devices) {
        const std::vector<std::string>& metrics = named;
        if (!scope.device.empty() && !kind_can_match(scope.device, kind)) continue;
        const bool all =
            std::all_of(scope.metrics.begin(), scope.metrics.end(), [&](const std::string& name) {
              return std::find(metrics.begin(), metrics.end(), name) != metrics.end();
            });
        if (all) return true;
      }
    }
  }
  return false;
}

constexpr const char* common_file = "common.json";

Error one_file(const fs::path& file) {
  return Error(Fault::bad_input,
               text(file.string(),
                    ": the policy is a folder now: put 'kinds', and of 'metrics' what "
                    "differs from them, into policy/",
                    common_file,
                    ", the rules and waivers of each "
                    "suite into policy/<suite>.json, and remove this file"));
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

const char* name_of(Gate gate) {
  return gate == Gate::block ? "block" : gate == Gate::warn ? "warn" : "off";
}

}  // namespace

bool matches_glob(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.starts_with("**")) {
    for (std::size_t skip = 0; skip <= text.size(); ++skip)
      if (matches_glob(pattern.substr(2), text.substr(skip))) return true;
    return false;
  }
  if (pattern.front() == '*') {
    for (std::size_t skip = 0;; ++skip) {
      if (matches_glob(pattern.substr(1), text.substr(skip))) return true;
      if (skip == text.size() || text[skip] == '/') return false;
    }
  }
  return !text.empty() && pattern.front() == text.front() &&
         matches_glob(pattern.substr(1), text.substr(1));
}

bool differ_in_patch_level(const std::optional<std::string>& compiler,
                           const std::optional<std::string>& other) {
  if (!compiler || !other || *compiler == *other) return false;
  const auto branch = [](const std::string& version) {
    return version.substr(0, version.find('.'));
  };
  return branch(*compiler) == branch(*other);
}

bool Scope::covers_case(const std::string& case_id, const std::string& device_class) const {
  return (device.empty() || matches_glob(device, device_class)) && matches_glob(match, case_id);
}

std::string Scope::metric_name() const {
  std::string name;
  for (const std::string& part : metrics) name += (name.empty() ? "" : "+") + part;
  return name;
}

Policy Policy::read(const fs::path& folder, const std::string& today) {
  for (const fs::path& former : {folder, fs::path(folder.string() + ".json")})
    if (fs::is_regular_file(former)) throw one_file(former);
  const fs::path common = folder / common_file;
  if (!fs::exists(folder))
    throw Error(Fault::bad_input, text("there is no policy ", folder.string(),
                                       "; name it with --policy, or its folder with --baselines"));
  if (!fs::exists(common))
    throw Error(Fault::bad_input, text(folder.string(), ": has no ", common_file,
                                       ", which says what holds for all suites"));
  Policy policy = parse(Document::open(common, Comments::allowed), today);
  if (!policy.for_all_)
    throw Error(Fault::bad_input, text(policy.file_, ": has no 'kinds', which all suites need"));
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json" && entry.path() != common) files.insert(entry.path());
  for (const fs::path& file : files)
    policy.add(file.stem(), parse(Document::open(file, Comments::allowed), today));
  return policy;
}

// A suite's file follows common.json, so that its rules override those for all.
void Policy::add(const std::string& suite, Policy rules) {
  if (rules.for_all_)
    throw Error(Fault::bad_input, text(rules.file_, ": 'kinds' hold for all suites and stand in ",
                                       common_file, "; here stand the rules of ", suite));
  const auto refuse_others = [&](const Scope& scope, const char* what) {
    if (!scope.match.starts_with(suite + '/'))
      throw Error(Fault::bad_input, text(scope.place, ": this ", what, " speaks of ", scope.match,
                                         ", and its file is that of ", suite, "; move it"));
  };
  for (Rule& rule : rules.rules_) {
    refuse_others(rule, "rule");
    rules_.push_back(std::move(rule));
  }
  for (Waiver& waiver : rules.waivers_) {
    refuse_others(waiver, "waiver");
    waivers_.push_back(std::move(waiver));
  }
  files_[suite] = rules.file_;
}

Policy Policy::parse(const Document& document, const std::string& today) {
  Policy policy;
  policy.file_ = document.root().file();
  Object object = open_schema(document, "holdfast-policy/1");
  if (const auto kinds = object.optional("kinds")) {
    policy.for_all_ = true;
    for (const auto& [name, reader] : kinds->object().rest())
      policy.kinds_[name] = parse_kind(reader);
    if (const auto metrics = object.optional("metrics"))
      for (const auto& [name, reader] : metrics->object().rest())
        policy.rows_[name] = parse_metric(name, reader);
    if (const auto most = object.optional("most_suspects"))
      policy.most_suspects_ = parse_most_suspects(*most);
  }
  for (const Reader& reader : object.take("rules").items())
    policy.rules_.push_back(parse_rule(reader));
  for (const Reader& reader : object.take("waivers").items())
    policy.waivers_.push_back(parse_waiver(reader, today));
  object.close();
  return policy;
}

Policy Policy::with(const Meanings& metrics) const {
  Policy policy = *this;
  policy.metrics_ = metrics;
  for (const auto& [name, meaning] : metrics)
    if (!kinds_.contains(meaning.kind))
      throw Error(Fault::bad_input, text(file_, ": the metric ", name, " is of the kind '",
                                         meaning.kind, "', which 'kinds' does not have"));
  return policy;
}

std::string Policy::on_request(const std::string& metric) const {
  const auto row = rows_.find(metric);
  return row == rows_.end() ? "" : row->second.on_request;
}

Standard Policy::standard(const std::string& case_id, const std::string& device_class,
                          const std::string& variant, const std::string& metric,
                          const std::string& declared_kind) const {
  Standard standard;
  if (const auto known = metrics_.find(metric); known != metrics_.end()) {
    standard.kind = known->second.kind;
    standard.better = known->second.better;
    standard.unit = known->second.unit;
  } else {
    standard.kind = declared_kind;
  }
  const auto kind = kinds_.find(standard.kind);
  if (kind == kinds_.end() || (!metrics_.contains(metric) && standard.kind != "advisory"))
    throw Error(Fault::bad_input,
                text("the metric ", metric, " of ", case_id, " (", declared_kind,
                     ") is not among the 'metrics' of its suite's list; declare it in the suite, "
                     "with its kind, its unit and which way is better"));
  standard.gate = kind->second.gate;
  standard.tolerance = is_host_class(device_class)
                           ? kind->second.host_tolerance.value_or(kind->second.tolerance)
                           : kind->second.tolerance;
  standard.same = kind->second.same;
  standard.two_sided = contains(kind->second.two_sided, variant);
  standard.drift_blocks = kind->second.drift_blocks;
  if (const auto row = rows_.find(metric); row != rows_.end()) {
    standard.gate = row->second.gate.value_or(standard.gate);
    standard.tolerance = row->second.tolerance.value_or(standard.tolerance);
    standard.patch_tolerance = row->second.patch_tolerance;
    standard.on_request = row->second.on_request;
    standard.same = row->second.same.value_or(standard.same);
    standard.impossible_above = row->second.impossible_above;
  }
  standard.sources.push_back(text("kind ", standard.kind, ": gate ", name_of(standard.gate),
                                  ", tolerance ", 100 * standard.tolerance, " %",
                                  standard.two_sided ? ", both ways" : ""));
  if (standard.patch_tolerance)
    standard.sources.push_back(text("between patch levels of one compiler: tolerance ",
                                    100 * *standard.patch_tolerance, " %"));
  if (!standard.on_request.empty())
    standard.sources.push_back(text("measured where ", standard.on_request, " asks for it"));
  const auto covers = [&](const Scope& scope) {
    return scope.metrics.size() == 1 && scope.metrics.front() == metric &&
           (scope.variant.empty() || scope.variant == variant) &&
           scope.covers_case(case_id, device_class);
  };
  for (const Rule& rule : rules_) {
    if (!covers(rule)) continue;
    std::string said;
    if (rule.tolerance) {
      standard.tolerance = *rule.tolerance;
      standard.own_tolerance = true;
      said += text(", tolerance ", 100 * *rule.tolerance, " %");
    }
    if (rule.bound) {
      standard.bounds.push_back(&rule);
      if (rule.bound->min) said += text(", at least ", *rule.bound->min);
      if (rule.bound->max) said += text(", at most ", *rule.bound->max);
      said += text(" (", rule.bound->source, ")");
    } else if (rule.gate) {
      standard.gate = *rule.gate;  // beside a bound, a gate speaks of the bound alone
    }
    if (rule.gate) said += text(", gate ", name_of(*rule.gate));
    standard.sources.push_back(text(rule.place, ": ", said.substr(2)));
    if (rule.tolerance || !rule.bound) standard.set_by = standard.sources.back();
  }
  for (const Waiver& waiver : waivers_) {
    if (!covers(waiver)) continue;
    standard.waiver = &waiver;
    standard.sources.push_back(
        text(waiver.place, ": waived until ", waiver.until, ": ", waiver.why));
  }
  return standard;
}

std::vector<Sum> Policy::sums(const std::string& case_id, const std::string& device_class,
                              const std::string& variant) const {
  const auto covers = [&](const Scope& scope) {
    return (scope.variant.empty() || scope.variant == variant) &&
           scope.covers_case(case_id, device_class);
  };
  std::vector<Sum> found;
  for (const Rule& rule : rules_) {
    if (rule.metrics.size() == 1 || !covers(rule)) continue;
    auto sum = std::find_if(found.begin(), found.end(),
                            [&](const Sum& one) { return one.metrics == rule.metrics; });
    if (sum == found.end())
      sum = found.insert(sum, {.name = rule.metric_name(), .metrics = rule.metrics});
    sum->standard.bounds.push_back(&rule);
  }
  for (const Waiver& waiver : waivers_)
    for (Sum& sum : found)
      if (sum.metrics == waiver.metrics && covers(waiver)) sum.standard.waiver = &waiver;
  return found;
}

void Policy::check_against(const std::vector<List>& lists, bool complete) const {
  const auto refuse = [&](const Scope& scope, const char* what) {
    const std::string suite = scope.match.substr(0, scope.match.find('/'));
    const bool listed = std::any_of(lists.begin(), lists.end(), [&](const List& list) {
      return matches_glob(suite, list.suite);
    });
    if ((!listed && !complete) || matches_something(scope, lists)) return;
    throw Error(Fault::bad_input,
                text(scope.place, ": this ", what, " matches nothing: no suite lists ", scope.match,
                     scope.device.empty() ? "" : text(" on ", scope.device), " with the metric ",
                     scope.metric_name(), "; mend or remove it"));
  };
  for (const Rule& rule : rules_) refuse(rule, "rule");
  for (const Waiver& waiver : waivers_) refuse(waiver, "waiver");
  if (!complete) return;
  const auto any = [&](const auto& test) { return std::any_of(lists.begin(), lists.end(), test); };
  for (const auto& [suite, file] : files_)
    if (!any([&](const List& list) { return list.suite == suite; }))
      throw Error(Fault::bad_input, text(file, ": there is no suite '", suite,
                                         "'; name the file after the suite whose rules it has"));
  for (const auto& [metric, row] : rows_)
    if (!any([&](const List& list) { return list.metrics.contains(metric); }))
      throw Error(Fault::bad_input, text(row.place, ": no suite lists the metric ", metric,
                                         "; mend or remove its row"));
}

}  // namespace holdfast::gate
