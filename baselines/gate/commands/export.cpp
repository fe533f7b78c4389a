// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/export.hpp"

#include <algorithm>
#include <functional>
#include <iostream>

#include "gate/base/numbers.hpp"
#include "gate/commands/commands.hpp"
#include "gate/commands/common_options.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/report/terminal.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr double nanoseconds = 1e9;

// "cubed_sphere_swe/rk4_step/n:48/f64/optimized", and the device class in front where a folder
// holds several.
std::string series(const std::vector<StoredResults>& all, const Results& results,
                   const std::string& id, const std::string& variant) {
  const bool several = std::any_of(all.begin(), all.end(), [&](const StoredResults& other) {
    return other.results.env.device_class != results.env.device_class;
  });
  return text(several ? results.env.device_class + '/' : "", id,
              variant == case_variant ? "" : '/' + variant);
}

using Visit = std::function<void(const Results& results, const CaseResult& result,
                                 const std::string& variant, const Metrics& metrics)>;

// Every group of numbers of every case that is well.
void visit(const std::vector<StoredResults>& all, const Visit& each) {
  for (const StoredResults& stored : all)
    for (const CaseResult& result : stored.results.cases) {
      if (result.status != "ok") continue;
      for (const auto& [variant, content] : result.variants)
        each(stored.results, result, variant, content.metrics);
      each(stored.results, result, case_variant, result.metrics);
    }
}

// The measures of Bencher are slugs.
std::string measure(const std::string& metric) {
  std::string out = metric == "time_s" ? "latency" : metric;
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

nlohmann::json bencher_value(const std::string& name, const Metric& metric) {
  const double scale = name == "time_s" ? nanoseconds : 1;
  nlohmann::json value = {{"value", scale * *metric.number()}};
  if (metric.processes.empty()) return value;
  const auto [least, most] = std::minmax_element(metric.processes.begin(), metric.processes.end());
  value["lower_value"] = scale * *least;
  value["upper_value"] = scale * *most;
  return value;
}

// What the lists beside the results say of their metrics.
Meanings metrics_beside(const std::vector<StoredResults>& all) {
  Meanings metrics;
  for (const StoredResults& stored : all) {
    const fs::path list = list_path(stored.file.parent_path(), stored.results.suite);
    if (fs::exists(list)) metrics.merge(read_list(list).metrics);
  }
  return metrics;
}

int export_results(const Options& options) {
  const fs::path directory = options.operands().front();
  const std::string format = options.value_or("format", "");
  const auto print = [](const nlohmann::json& json) { std::cout << json.dump(2) << "\n"; };
  if (format == "junit") {
    const fs::path kept = directory / "verdict.json";
    if (!fs::exists(kept))
      throw Error(Fault::bad_input, text("there is no ", kept.string(),
                                         "; judge first: holdfast check ", directory.string()));
    std::cout << junit(read_verdict(kept));
  } else if (format == "gbench") {
    print(google_benchmark(read_all_results(directory)));
  } else if (format == "bmf") {
    print(bencher_metrics(read_all_results(directory)));
  } else if (format == "gha") {
    const std::vector<StoredResults> all = read_all_results(directory);
    print(action_benchmark(all, metrics_beside(all), options.has("bigger")));
  } else {
    throw Error(Fault::bad_input,
                text("--format=", format, ": the formats are gbench, bmf, gha and junit"));
  }
  return 0;
}

}  // namespace

nlohmann::json google_benchmark(const std::vector<StoredResults>& all) {
  nlohmann::json rows = nlohmann::json::array();
  nlohmann::json context = {{"executable", "holdfast"}, {"library_build_type", "release"}};
  if (!all.empty()) {
    const Results& first = all.front().results;
    context["date"] = first.run.utc;
    context["host_name"] = first.env.device_class;
    context["num_cpus"] = first.env.threads.value_or(1);
  }
  visit(all, [&](const Results& results, const CaseResult& result, const std::string& variant,
                 const Metrics& metrics) {
    const auto time = metrics.find("time_s");
    if (time == metrics.end() || time->second.processes.empty()) return;
    const std::vector<double>& processes = time->second.processes;
    const std::string name = series(all, results, result.id, variant);
    for (std::size_t i = 0; i < processes.size(); ++i) {
      nlohmann::json row = {{"name", name},
                            {"run_name", name},
                            {"run_type", "iteration"},
                            {"repetitions", processes.size()},
                            {"repetition_index", i},
                            {"threads", 1},
                            {"iterations", time->second.samples.value_or(1)},
                            {"real_time", nanoseconds * processes[i]},
                            {"cpu_time", nanoseconds * processes[i]},
                            {"time_unit", "ns"},
                            {"label", result.id}};
      for (const auto& [metric, held] : metrics)
        if (metric != "time_s" && held.number()) row[metric] = *held.number();
      rows.push_back(std::move(row));
    }
  });
  return {{"context", context}, {"benchmarks", rows}};
}

nlohmann::json bencher_metrics(const std::vector<StoredResults>& all) {
  nlohmann::json out = nlohmann::json::object();
  visit(all, [&](const Results& results, const CaseResult& result, const std::string& variant,
                 const Metrics& metrics) {
    for (const auto& [name, metric] : metrics)
      if (metric.number())
        out[series(all, results, result.id, variant)][measure(name)] = bencher_value(name, metric);
  });
  return out;
}

nlohmann::json action_benchmark(const std::vector<StoredResults>& all, const Meanings& metrics,
                                bool bigger) {
  nlohmann::json out = nlohmann::json::array();
  visit(all, [&](const Results& results, const CaseResult& result, const std::string& variant,
                 const Metrics& held) {
    for (const auto& [name, metric] : held) {
      const auto row = metrics.find(name);
      if (row == metrics.end() || !metric.number()) continue;
      if (row->second.better != (bigger ? Better::higher : Better::lower)) continue;
      nlohmann::json one = {{"name", text(series(all, results, result.id, variant), ' ', name)},
                            {"unit", row->second.unit},
                            {"value", *metric.number()},
                            {"extra", text(results.env.device_class, ", ", results.run.id)}};
      if (metric.mad_between)
        one["range"] = text("\u00b1 ", readable(*metric.mad_between, row->second.unit));
      out.push_back(std::move(one));
    }
  });
  return out;
}

Command export_command() {
  return {
      .name = "export",
      .summary = "Prints results for other readers, or a verdict as JUnit.",
      .operands = "DIR",
      .fewest_operands = 1,
      .most_operands = 1,
      .options = {{"format", "FORMAT",
                   "gbench (Google Benchmark), bmf (Bencher), gha (github-action-benchmark) or "
                   "junit (the verdict)"},
                  {"bigger", "", "with gha: what is better when bigger, for customBiggerIsBetter"},
                  common::baselines,
                  common::policy},
      .examples =
          "  holdfast export build/release/results --format=gbench > now.json\n"
          "  holdfast export build/release/results --format=gha --bigger > speedups.json\n",
      .run = export_results};
}

}  // namespace holdfast::gate
