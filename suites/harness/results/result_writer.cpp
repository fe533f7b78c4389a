// SPDX-License-Identifier: Apache-2.0
#include "harness/results/result_writer.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/files.hpp"
#include "base/time.hpp"
#include "harness/results/environment.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

using nlohmann::json;

double finite(const Case& one, std::string_view metric, double value) {
  if (std::isfinite(value)) return value;
  throw Error(Fault::broken_rule,
              text(one.id, ": the metric ", metric, " is ", value,
                   ", and a result holds finite numbers only; mend what computes it"));
}

// Whole numbers are written as integers: a count of 4 is not 4.0.
json number(double value) {
  constexpr double exactly_representable = 9007199254740992;  // 2^53
  if (value == std::floor(value) && std::abs(value) < exactly_representable)
    return static_cast<std::int64_t>(value);
  return value;
}

json metric_json(const Case& one, std::string_view name, std::string_view kind, Reading reading,
                 std::int64_t samples, const std::string& absent = {}) {
  json out = {{"kind", kind}};
  if (!reading) {
    out["value"] = nullptr;
    out["reason"] =
        absent.empty() ? "there is no such reading on this device or in this run" : absent;
    return out;
  }
  const double value = finite(one, name, *reading);
  if (kind != "time" && kind != "ratio") {
    out["value"] = number(value);
    return out;
  }
  // One process; `holdfast run` merges several.
  out["processes"] = {value};
  out["median"] = value;
  if (samples > 0) out["samples"] = samples;
  return out;
}

// Facts that explain changed machine code: a kernel's launches and its instructions.
json evidence_json(const KernelUse& kernel) {
  json evidence = {{"local_bytes", kernel.local_bytes},
                   {"blocks", kernel.blocks},
                   {"block_threads", kernel.block_threads},
                   {"dynamic_shared_bytes", kernel.dynamic_shared_bytes},
                   {"occupancy", number(kernel.occupancy)},
                   {"waves", number(kernel.waves)},
                   {"argument_sum", kernel.argument_sum}};
  if (kernel.code)
    for (const auto& [name, count] : *kernel.code) evidence[name] = count;
  return evidence;
}

json kernels_json(const VariantMeasurement& variant) {
  json rows = json::array();
  for (const KernelUse& kernel : variant.kernels) {
    rows.push_back({{"name", kernel.name},
                    {"kind", name(kernel.kind)},
                    {"registers", kernel.registers},
                    {"spill_bytes", kernel.spill_bytes},
                    {"shared_bytes", kernel.shared_bytes},
                    {"launches", kernel.launches},
                    {"cubin", kernel.cubin}});
    if (kernel.used) rows.back()["evidence"] = evidence_json(kernel);
  }
  return rows;
}

std::string kind_of_reading(const Case& one, const std::string& name) {
  for (const MetricDeclaration& declared : one.metrics)
    if (declared.name == name) return declared.kind;
  return "advisory";
}

std::string kind_of_derived(const Case& one, const std::string& name) {
  for (const Derived& derived : one.derived)
    if (derived.name == name) return derived.kind;
  return "advisory";
}

json variant_json(const Measured& measured, const VariantMeasurement& variant,
                  const std::string& device) {
  const Case& one = *measured.which;
  json rows = json::object();
  for (const Metric& metric : metrics())
    if (metric.of == Of::variant && applies(metric, one, device))
      rows[metric.name] =
          metric_json(one, metric.name, metric.kind, metric.read(measured.measurement, variant),
                      variant.samples,
                      std::string_view(metric.kind) == "codegen" ? variant.no_code : std::string());
  for (const auto& [name, value] : variant.readings)
    rows[name] = metric_json(one, name, kind_of_reading(one, name), value, 0);
  return {{"identity", variant.identity ? json(*variant.identity) : json(nullptr)},
          {"kernels", kernels_json(variant)},
          {"metrics", rows}};
}

// A share of the device's peak was timed, and cannot be told where that is not known.
void add_unknown_shares(const Case& one, const VariantMeasurement& optimized, json& rows) {
  if (!optimized.seconds) return;
  for (const Rate& rate : one.rates)
    if (rate.peak && !rows.contains(rate.name))
      rows[rate.name] = metric_json(one, rate.name, "advisory", std::nullopt, 0,
                                    "no peak of this device is known");
}

json check_json(const Case& one, const Measurement& measurement) {
  const auto nullable = [&](const std::optional<double>& value, const char* name) {
    return value ? json(finite(one, name, *value)) : json(nullptr);
  };
  const char* status = measurement.check == CheckStatus::passed   ? "passed"
                       : measurement.check == CheckStatus::failed ? "failed"
                                                                  : "not_executed";
  json out = {{"status", status},
              {"error", nullable(measurement.check_error, "check error")},
              {"limit", nullable(measurement.check_limit, "check limit")},
              {"oracle", measurement.oracle.empty() ? json(nullptr) : json(measurement.oracle)}};
  if (measurement.again)
    out["again"] = {{"seed", measurement.again->seed}, {"steps", measurement.again->steps}};
  return out;
}

std::filesystem::path beside(std::filesystem::path path) {
  return path += ".new";
}

}  // namespace

json case_json(const Measured& measured, const std::string& device) {
  const Case& one = *measured.which;
  const Measurement& measurement = measured.measurement;
  const bool failed = measurement.status == Measurement::Status::failed;
  json variants = json::object();
  json whole = json::object();
  json derived = json::object();
  // An interrupted case has no complete account: its reason is worth more than half of its metrics.
  const bool accounted = !failed || measurement.check == CheckStatus::failed;
  if (accounted) {
    variants["optimized"] = variant_json(measured, measurement.optimized, device);
    add_unknown_shares(one, measurement.optimized, variants["optimized"]["metrics"]);
    if (measurement.reference)
      variants["reference"] = variant_json(measured, *measurement.reference, device);
    for (const Metric& metric : metrics())
      if (metric.of == Of::whole_case && applies(metric, one, device))
        whole[metric.name] = metric_json(one, metric.name, metric.kind,
                                         metric.read(measurement, measurement.optimized),
                                         measurement.optimized.samples);
    for (const auto& [name, value] : measurement.derived)
      derived[name] = metric_json(one, name, kind_of_derived(one, name), value, 0);
  }
  json out = {{"id", one.id},
              {"tier", name(one.tier)},
              {"status", !failed                 ? "ok"
                         : measurement.broke_off ? "crashed"
                                                 : "failed"},
              {"reason", failed ? json(measurement.reason) : json(nullptr)},
              {"executed", measurement.executed},
              {"check", check_json(one, measurement)},
              {"variants", variants},
              {"metrics", whole}};
  if (!derived.empty()) out["derived"] = derived;
  return out;
}

json report_json(const Report& report, const Backend& backend) {
  json run = provenance();
  const std::string utc = utc_now();
  run["id"] = run_id(utc);
  run["utc"] = utc;
  run["processes"] = 1;
  if (const char* sources = std::getenv("HOLDFAST_SOURCES"); sources && *sources)
    run["sources"] = sources;
  if (!report.custom.empty()) run["custom"] = report.custom;

  json ceilings = json::object();
  if (report.ceilings)
    for (const auto& [name, value] : report.ceilings->named())
      ceilings[name] = value ? json(*value) : json(nullptr);
  json cases = json::array();
  for (const Measured& measured : report.cases) cases.push_back(case_json(measured, backend.name));
  return {{"schema", "holdfast-results/1"},
          {"suite", report.suite},
          {"tier", report.tier},
          {"partial", report.partial},
          {"list_hash", report.list_hash},
          {"run", run},
          {"env", environment(backend)},
          {"quality", quality(report.quality)},
          {"ceilings", ceilings},
          {"cases", cases}};
}

json list_json(const std::string& suite, const std::vector<Case>& cases) {
  json rows = json::array();
  for (const Case& one : cases) {
    json devices = json::object();
    for (const std::string& device : one.devices)
      devices[device] = {{"metrics", promised(one, device)}};
    json row = {{"id", one.id},
                {"tier", name(one.tier)},
                {"reference", one.reference && one.unreferenced.empty()},
                {"devices", devices}};
    const auto* steps = std::get_if<Steps>(&one.recipe);
    if (steps) row["limit"] = steps->oracle.limit;
    if (one.limit) row["limit"] = *one.limit;
    if (const auto why = one.why_uncounted()) row["uncounted"] = *why;
    for (const ExpectedFinding& expected : one.expected)
      row["expected"].push_back(
          {{"finding", expected.finding}, {"why", expected.why}, {"devices", expected.devices}});
    rows.push_back(std::move(row));
  }
  constexpr const char* directions[] = {"lower", "higher", "same"};
  json described = json::object();
  for (const auto& [metric, meaning] : meanings(cases))
    described[metric] = {{"kind", meaning.kind},
                         {"better", directions[static_cast<std::size_t>(meaning.better)]},
                         {"unit", meaning.unit}};
  return {{"schema", "holdfast-list/2"}, {"suite", suite}, {"cases", rows}, {"metrics", described}};
}

std::string document(const json& json) {
  return json.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

void check_writable(const std::filesystem::path& path, std::string_view option) {
  const std::string given = text("--", option, "=", path.string());
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::error_code problem;
  if (!std::filesystem::is_directory(folder, problem) && problem != std::errc::permission_denied)
    throw Error(Fault::bad_input,
                text(given, ": there is no folder ", folder.string(), "; create it first"));
  if (std::filesystem::is_directory(path, problem))
    throw Error(Fault::bad_input, text(given, " is a folder; name a file in it"));
  // Google Benchmark writes into whatever exists at the path.
  if (option != "benchmark_out" && std::filesystem::exists(path, problem) &&
      !std::filesystem::is_regular_file(path, problem))
    throw Error(Fault::bad_input,
                text(given, " is a device or a FIFO, which takes no file's place; name a file"));
  // Permissions do not suffice: root may write anywhere except on a read-only file system.
  const auto probe = beside(path);
  const bool made = std::ofstream(probe).is_open();
  std::filesystem::remove(probe, problem);
  if (!made)
    throw Error(Fault::bad_input,
                text(given, ": the folder ", folder.string(),
                     " cannot be written to; choose another or change its permissions"));
}

void write_document(const std::filesystem::path& path, std::string_view content) {
  WrittenFile file(path, beside(path));
  file.append(content);
  const bool filled = file.error() == 0;
  file.publish();
  if (file.error() == 0) return;
  throw Error(Fault::bad_input, text(path.string(), ": cannot be written (",
                                     filled ? std::strerror(file.error()) : "is the disk full?",
                                     "); choose another place"));
}

}  // namespace holdfast
