// SPDX-License-Identifier: Apache-2.0
#include "gate/documents/results.hpp"

#include <cmath>
#include <set>

#include "gate/base/numbers.hpp"
#include "gate/documents/baseline.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/names.hpp"

namespace holdfast::gate {
namespace {

std::optional<std::int64_t> integer_or_null(const Reader& reader) {
  if (reader.is_null()) return std::nullopt;
  return reader.integer();
}

std::optional<bool> boolean_or_null(const Reader& reader) {
  if (reader.is_null()) return std::nullopt;
  return reader.boolean();
}

const std::vector<std::string_view> case_statuses = {"ok",      "failed",  "skipped",
                                                     "crashed", "timeout", "missing"};
const std::vector<std::string_view> check_statuses = {"passed", "failed", "not_executed"};
const std::vector<std::string_view> run_statuses = {"ok", "no_device"};
const std::vector<std::string_view> kernel_kinds = {"fused",  "scatter", "gemm",
                                                    "reduce", "copy",    "loop"};

// Median and spread must match the processes, so that no edit moves only what judges.
void check_numbers(const Reader& reader, const Metric& metric) {
  if (metric.mad_between && *metric.mad_between < 0)
    throw reader.wrong("'mad_between' is a spread and cannot be negative");
  const bool positive = metric.kind == "ratio" || metric.kind == "time";
  const bool counted = metric.kind == "exact" || metric.kind == "codegen";
  for (const auto& number : {metric.value, metric.median, metric.mad_between})
    if (number) refuse_absurd(reader, *number, counted);
  if ((positive || counted) && metric.number().value_or(0) < 0)
    throw reader.wrong("a count, a time or a ratio cannot be negative");
  for (const double value : metric.processes) {
    refuse_absurd(reader, value, false);
    if (positive && value <= 0) throw reader.wrong("a time or ratio of a process is positive");
  }
  if (metric.processes.empty() || !metric.median) return;
  const double middle = median(metric.processes);
  if (std::abs(*metric.median - middle) > 1e-9 * std::abs(middle))
    throw reader.wrong(
        text("'median' is ", *metric.median, ", and that of its processes is ", middle));
  const double spread = median_absolute_deviation(metric.processes);
  if (std::abs(metric.mad_between.value_or(spread) - spread) > 1e-9 * std::abs(middle))
    throw reader.wrong(
        text("'mad_between' is ", *metric.mad_between, ", and that of its processes is ", spread));
}

Metric parse_metric(const Reader& reader) {
  Object object = reader.object();
  Metric metric{.kind = object.take("kind").one_of(metric_kinds)};
  if (const auto value = object.optional("value")) metric.value = value->number_or_null();
  if (const auto reason = object.optional("reason")) metric.reason = reason->string_or_null();
  if (const auto processes = object.optional("processes")) metric.processes = processes->numbers();
  if (const auto median = object.optional("median")) metric.median = median->number_or_null();
  if (const auto mad = object.optional("mad_between")) metric.mad_between = mad->number_or_null();
  if (const auto samples = object.optional("samples")) metric.samples = integer_or_null(*samples);
  object.close();
  check_numbers(reader, metric);
  if (!metric.number() && !metric.reason)
    throw reader.wrong("a metric has neither a value, nor a median, nor a reason for having none");
  return metric;
}

nlohmann::json to_json(const Metric& metric) {
  nlohmann::json json = {{"kind", metric.kind}};
  if (metric.value) json["value"] = *metric.value;
  if (metric.reason) json["reason"] = *metric.reason;
  if (!metric.processes.empty()) json["processes"] = metric.processes;
  if (metric.median) json["median"] = *metric.median;
  if (metric.mad_between) json["mad_between"] = *metric.mad_between;
  if (metric.samples) json["samples"] = *metric.samples;
  if (!metric.number()) json["value"] = nullptr;
  return json;
}

Metrics parse_metrics(const Reader& reader) {
  Metrics metrics;
  for (const auto& [name, metric] : reader.object().rest()) {
    require_name(metric, name);
    metrics[name] = parse_metric(metric);
  }
  return metrics;
}

nlohmann::json to_json(const Metrics& metrics) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, metric] : metrics) json[name] = to_json(metric);
  return json;
}

KernelRow parse_kernel(const Reader& reader) {
  Object object = reader.object();
  KernelRow row{.name = object.take("name").string(),
                .registers = integer_or_null(object.take("registers")),
                .spill_bytes = integer_or_null(object.take("spill_bytes")),
                .shared_bytes = integer_or_null(object.take("shared_bytes")),
                .launches = integer_or_null(object.take("launches")),
                .cubin = object.take("cubin").string_or_null()};
  if (const auto value = object.optional("kind")) row.kind = value->one_of(kernel_kinds);
  if (const auto evidence = object.optional("evidence"))
    for (const auto& [name, value] : evidence->object().rest()) row.evidence[name] = value.number();
  object.close();
  return row;
}

nlohmann::json to_json(const KernelRow& row) {
  nlohmann::json json = {{"name", row.name},
                         {"registers", nullable(row.registers)},
                         {"spill_bytes", nullable(row.spill_bytes)},
                         {"shared_bytes", nullable(row.shared_bytes)},
                         {"launches", nullable(row.launches)},
                         {"cubin", nullable(row.cubin)}};
  if (row.kind) json["kind"] = *row.kind;
  if (!row.evidence.empty()) json["evidence"] = row.evidence;
  return json;
}

Variant parse_variant(const Reader& reader) {
  Object object = reader.object();
  Variant variant{.identity = object.take("identity").string_or_null()};
  for (const Reader& row : object.take("kernels").items())
    variant.kernels.push_back(parse_kernel(row));
  variant.metrics = parse_metrics(object.take("metrics"));
  object.close();
  return variant;
}

nlohmann::json to_json(const Variant& variant) {
  nlohmann::json kernels = nlohmann::json::array();
  for (const KernelRow& row : variant.kernels) kernels.push_back(to_json(row));
  return {{"identity", nullable(variant.identity)},
          {"kernels", kernels},
          {"metrics", to_json(variant.metrics)}};
}

ResultCheck parse_check(const Reader& reader) {
  Object object = reader.object();
  ResultCheck check{.status = object.take("status").one_of(check_statuses),
                    .error = object.take("error").number_or_null(),
                    .limit = object.take("limit").number_or_null(),
                    .oracle = object.take("oracle").string_or_null()};
  if (const auto again = object.optional("again")) {
    Object verified = again->object();
    check.again_seed = verified.take("seed").integer();
    check.again_steps = verified.take("steps").integer();
    verified.close();
  }
  object.close();
  const bool passed = check.status == "passed";
  if (passed && (!check.error || !check.limit))
    throw reader.wrong("a check that passed tells its 'error' and its 'limit'");
  if (check.error.value_or(0) < 0) throw reader.wrong("'error' is a distance, and not negative");
  if (check.limit) refuse_absurd(reader, *check.limit, false);
  return check;
}

CaseResult parse_case(const Reader& reader, const std::string& suite) {
  Object object = reader.object();
  CaseResult result{.id = case_id_of(object.take("id"), suite),
                    .tier = object.take("tier").one_of(tiers),
                    .status = object.take("status").one_of(case_statuses),
                    .reason = object.take("reason").string_or_null(),
                    .executed = object.take("executed").boolean(),
                    .check = parse_check(object.take("check"))};
  for (const auto& [name, variant] : object.take("variants").object().rest()) {
    require_name(variant, name);
    result.variants[name] = parse_variant(variant);
  }
  result.metrics = parse_metrics(object.take("metrics"));
  if (const auto derived = object.optional("derived")) result.derived = parse_metrics(*derived);
  if (const auto rounds = object.optional("of_other_rounds"))
    result.of_other_rounds = rounds->boolean();
  object.close();
  return result;
}

nlohmann::json to_json(const CaseResult& result) {
  nlohmann::json variants = nlohmann::json::object();
  for (const auto& [name, variant] : result.variants) variants[name] = to_json(variant);
  nlohmann::json json = {{"id", result.id},
                         {"tier", result.tier},
                         {"status", result.status},
                         {"reason", nullable(result.reason)},
                         {"executed", result.executed},
                         {"check",
                          {{"status", result.check.status},
                           {"error", nullable(result.check.error)},
                           {"limit", nullable(result.check.limit)},
                           {"oracle", nullable(result.check.oracle)}}},
                         {"variants", variants},
                         {"metrics", to_json(result.metrics)}};
  if (result.check.again_seed && result.check.again_steps)
    json["check"]["again"] = {{"seed", *result.check.again_seed},
                              {"steps", *result.check.again_steps}};
  if (!result.derived.empty()) json["derived"] = to_json(result.derived);
  if (result.of_other_rounds) json["of_other_rounds"] = true;
  return json;
}

Run parse_run(const Reader& reader) {
  Object object = reader.object();
  Object git = object.take("git").object();
  Run run{.id = object.take("id").string(),
          .utc = object.take("utc").string(),
          .content = object.take("content").string(),
          .git_sha = git.take("sha").string_or_null(),
          .git_dirty = git.take("dirty").boolean(),
          .processes = object.take("processes").integer()};
  if (const auto binary = object.optional("binary")) run.binary = binary->string();
  if (const auto sources = object.optional("sources")) run.sources = sources->string_or_null();
  if (const auto custom = object.optional("custom")) run.custom = custom->strings();
  if (const auto beside = object.optional("beside")) run.beside = beside->string();
  if (const auto base = object.optional("base")) run.base = base->string();
  if (const auto filter = object.optional("filter")) run.filter = filter->string();
  git.close();
  object.close();
  constexpr std::int64_t most_processes = 100'000;
  if (run.processes < 1 || run.processes > most_processes)
    throw reader.wrong(text("a run has one process at least, and not ", run.processes));
  return run;
}

nlohmann::json to_json(const Run& run) {
  nlohmann::json json = {{"id", run.id},
                         {"utc", run.utc},
                         {"content", run.content},
                         {"git", {{"sha", nullable(run.git_sha)}, {"dirty", run.git_dirty}}},
                         {"processes", run.processes}};
  if (run.binary) json["binary"] = *run.binary;
  if (run.sources) json["sources"] = *run.sources;
  if (!run.custom.empty()) json["custom"] = run.custom;
  if (run.beside) json["beside"] = *run.beside;
  if (run.base) json["base"] = *run.base;
  if (run.filter) json["filter"] = *run.filter;
  return json;
}

Environment parse_environment(const Reader& reader) {
  Object object = reader.object();
  Object device = object.take("device").object();
  Object host = object.take("host").object();
  const auto processor = host.optional("processor");  // older results have none
  if (processor && processor->string().empty())
    throw processor->wrong("a processor has a name, or is 'unknown'");
  const auto awake = host.optional("awake");
  const auto cpus = host.optional("cpus");
  const auto nvdisasm = object.optional("nvdisasm");
  Environment environment{.device_class = name_of(object.take("device_class")),
                          .device_name = device_of(object.take("device_name")),
                          .device = {.name = device.take("name").string_or_null(),
                                     .sm = device.take("sm").string_or_null(),
                                     .sms = integer_or_null(device.take("sms")),
                                     .memory_bytes = integer_or_null(device.take("memory_bytes"))},
                          .driver = object.take("driver").string_or_null(),
                          .cuda = object.take("cuda").string_or_null(),
                          .nvrtc = object.take("nvrtc").string_or_null(),
                          .nvjitlink = object.take("nvjitlink").string_or_null(),
                          .nvdisasm = nvdisasm ? nvdisasm->string_or_null() : std::nullopt,
                          .compiler = object.take("compiler").string_or_null(),
                          .flags = object.take("flags").string_or_null(),
                          .cpu = host.take("cpu").string_or_null(),
                          .processor = processor ? processor->string() : "unknown",
                          .awake = awake ? std::optional(awake->boolean()) : std::nullopt,
                          .threads = integer_or_null(host.take("threads")),
                          .cpus = cpus ? integer_or_null(*cpus) : std::nullopt,
                          .isa = host.take("isa").string_or_null(),
                          .fingerprint = object.take("fingerprint").string()};
  device.close();
  host.close();
  object.close();
  return environment;
}

nlohmann::json to_json(const Environment& env) {
  nlohmann::json host = {{"cpu", nullable(env.cpu)},
                         {"processor", env.processor},
                         {"threads", nullable(env.threads)},
                         {"isa", nullable(env.isa)}};
  if (env.awake) host["awake"] = *env.awake;
  if (env.cpus) host["cpus"] = *env.cpus;
  return {{"device_class", env.device_class},
          {"device_name", env.device_name},
          {"device",
           {{"name", nullable(env.device.name)},
            {"sm", nullable(env.device.sm)},
            {"sms", nullable(env.device.sms)},
            {"memory_bytes", nullable(env.device.memory_bytes)}}},
          {"driver", nullable(env.driver)},
          {"cuda", nullable(env.cuda)},
          {"nvrtc", nullable(env.nvrtc)},
          {"nvjitlink", nullable(env.nvjitlink)},
          {"nvdisasm", nullable(env.nvdisasm)},
          {"compiler", nullable(env.compiler)},
          {"flags", nullable(env.flags)},
          {"host", host},
          {"fingerprint", env.fingerprint}};
}

constexpr std::pair<const char*, std::optional<double> Quality::*> measured_of_quality[] = {
    {"others_fraction", &Quality::others_fraction},
    {"steal_fraction", &Quality::steal_fraction},
    {"memory_stall_fraction", &Quality::memory_stall_fraction},
    {"cpu_clock_hz", &Quality::cpu_clock_hz},
    {"mem_clock_hz", &Quality::mem_clock_hz}};

Quality parse_quality(const Reader& reader) {
  Object object = reader.object();
  Quality quality{.valid = object.take("valid").boolean(),
                  .reasons = object.take("reasons").strings(),
                  .load = object.take("load").number_or_null(),
                  .sm_clock_hz = object.take("sm_clock_hz").number_or_null(),
                  .throttled = boolean_or_null(object.take("throttled")),
                  .temperature_c = object.take("temperature_c").number_or_null(),
                  .other_processes = integer_or_null(object.take("other_processes"))};
  for (const auto& [key, member] : measured_of_quality)
    if (const auto number = object.optional(key)) quality.*member = number->number_or_null();
  if (const auto errors = object.optional("ecc_errors"))
    quality.ecc_errors = integer_or_null(*errors);
  object.close();
  return quality;
}

nlohmann::json to_json(const Quality& quality) {
  nlohmann::json json = {{"valid", quality.valid},
                         {"reasons", quality.reasons},
                         {"load", nullable(quality.load)},
                         {"sm_clock_hz", nullable(quality.sm_clock_hz)},
                         {"throttled", nullable(quality.throttled)},
                         {"temperature_c", nullable(quality.temperature_c)},
                         {"other_processes", nullable(quality.other_processes)}};
  for (const auto& [key, member] : measured_of_quality)
    if (quality.*member) json[key] = *(quality.*member);
  if (quality.ecc_errors) json["ecc_errors"] = *quality.ecc_errors;
  return json;
}

void check_processes(const Metrics& metrics, const CaseResult& result, std::int64_t processes,
                     const Reader& reader) {
  for (const auto& [name, metric] : metrics)
    if (static_cast<std::int64_t>(metric.processes.size()) > processes)
      throw reader.wrong(text(result.id, ": ", name, " has numbers of ", metric.processes.size(),
                              " processes, and the run had ", processes));
}

}  // namespace

std::string timed_on(const Environment& env, bool apart) {
  return text(env.processor, env.awake.value_or(false) ? " kept awake" : "", apart ? " apart" : "");
}

bool stood_apart(const Results& results) {
  constexpr double in_one_cache = 150e-9;
  std::vector<double> handovers;
  for (const CaseResult& result : results.cases)
    if (const auto at = result.metrics.find(handover_metric); at != result.metrics.end())
      if (const auto seconds = at->second.number();
          seconds && *seconds > 0 && *seconds < longest_handover)
        handovers.push_back(*seconds);
  return !handovers.empty() && median(handovers) > in_one_cache;
}

const CaseResult* Results::find(std::string_view id) const {
  const auto at = std::ranges::find(cases, id, &CaseResult::id);
  return at == cases.end() ? nullptr : &*at;
}

std::string timed_on(const Results& results) {
  return timed_on(results.env, stood_apart(results));
}

bool is_host_class(const std::string& device_class) {
  return device_class.starts_with("host");
}

Results parse_results(const Document& document) {
  Object object = open_schema(document, "holdfast-results/1");
  Results results{.suite = suite_name_of(object.take("suite")),
                  .tier = object.take("tier").one_of(tiers),
                  .partial = object.take("partial").boolean()};
  if (const auto status = object.optional("status")) results.status = status->one_of(run_statuses);
  if (const auto reason = object.optional("reason")) results.reason = reason->string_or_null();
  results.list_hash = object.take("list_hash").string();
  results.run = parse_run(object.take("run"));
  results.env = parse_environment(object.take("env"));
  results.quality = parse_quality(object.take("quality"));
  for (const auto& [name, ceiling] : object.take("ceilings").object().rest())
    results.ceilings[name] = ceiling.number_or_null();
  std::set<std::string> ids;
  for (const Reader& reader : object.take("cases").items()) {
    results.cases.push_back(parse_case(reader, results.suite));
    if (!ids.insert(results.cases.back().id).second)
      throw reader.wrong(text("the case ", results.cases.back().id, " stands twice in this file"));
    const CaseResult& result = results.cases.back();
    for (const auto& [name, variant] : result.variants)
      check_processes(variant.metrics, result, results.run.processes, reader);
    for (const Metrics* metrics : {&result.metrics, &result.derived})
      check_processes(*metrics, result, results.run.processes, reader);
  }
  object.close();
  return results;
}

Results read_results(const std::filesystem::path& path) {
  return parse_results(Document::open(path));
}

nlohmann::json to_json(const Results& results) {
  nlohmann::json cases = nlohmann::json::array();
  for (const CaseResult& result : results.cases) cases.push_back(to_json(result));
  nlohmann::json ceilings = nlohmann::json::object();
  for (const auto& [name, ceiling] : results.ceilings) ceilings[name] = nullable(ceiling);
  nlohmann::json json = {{"schema", "holdfast-results/1"}, {"suite", results.suite},
                         {"tier", results.tier},           {"partial", results.partial},
                         {"list_hash", results.list_hash}, {"run", to_json(results.run)},
                         {"env", to_json(results.env)},    {"quality", to_json(results.quality)},
                         {"ceilings", ceilings},           {"cases", cases}};
  if (results.status != "ok") json["status"] = results.status;
  if (results.reason) json["reason"] = *results.reason;
  return json;
}

}  // namespace holdfast::gate
