// SPDX-License-Identifier: Apache-2.0
#include "gate/commands/export.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iostream>
#include <set>

#include "gate/base/numbers.hpp"
#include "gate/base/shown_text.hpp"
#include "gate/commands/commands.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/verdict_names.hpp"
#include "gate/report/terminal.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

constexpr double nanoseconds = 1e9;

// "cubed_sphere_swe/rk4_step/n:48/f64/optimized", with the device class in front if a folder holds
// several.
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

// Visits every group of numbers of every case with status ok.
void visit(const std::vector<StoredResults>& all, const Visit& each) {
  for (const StoredResults& stored : all)
    for (const CaseResult& result : stored.results.cases) {
      if (result.status != "ok") continue;
      for (const auto& [variant, content] : result.variants)
        each(stored.results, result, variant, content.metrics);
      each(stored.results, result, case_variant, result.metrics);
      each(stored.results, result, case_variant, result.derived);
    }
}

// Names of measures are slugs in Bencher.
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
  for (const StoredResults& stored : all) metrics.merge(list_beside(stored).metrics);
  return metrics;
}

Verdict kept_verdict(const fs::path& directory) {
  const fs::path kept = directory / "verdict.json";
  if (!fs::exists(kept))
    throw Error(Fault::bad_input,
                text("there is no ", kept.string(), "; judge first: holdfast check ",
                     shell_word(directory.string())));
  return read_verdict(kept);
}

// Keeps the requested metrics: by name, and by what the verdict beside the results says of them.
void keep_wished(std::vector<StoredResults>& all, const Options& options,
                 const fs::path& directory) {
  const std::vector<std::string> names = options.values("metric");
  const bool changed = options.has("changed-only");
  std::set<std::vector<std::string>> told;
  if (changed)
    for (const Row& row : kept_verdict(directory).rows)
      if (row.verdict != verdict::pass)
        told.insert({row.device_class, row.case_id, row.variant, row.metric});
  std::size_t left = 0;
  const auto keep = [&](const Results& results, const std::string& id, const std::string& variant,
                        Metrics& metrics) {
    std::erase_if(metrics, [&](const auto& held) {
      const bool wished =
          names.empty() || std::find(names.begin(), names.end(), held.first) != names.end();
      return !wished ||
             (changed && !told.contains({results.env.device_class, id, variant, held.first}));
    });
    left += metrics.size();
  };
  for (StoredResults& stored : all)
    for (CaseResult& result : stored.results.cases) {
      for (auto& [variant, content] : result.variants)
        keep(stored.results, result.id, variant, content.metrics);
      keep(stored.results, result.id, case_variant, result.metrics);
      keep(stored.results, result.id, case_variant, result.derived);
    }
  if (!names.empty() && !changed && left == 0)
    throw Error(Fault::bad_input,
                text("no case in ", directory.string(), " has the metric ", names.front()));
}

// Rows are times: if there is none, prints why on the standard error.
void tell_why_empty(const nlohmann::json& made, const std::vector<StoredResults>& all,
                    const Options& options) {
  if (!made.at("benchmarks").empty()) return;
  const bool executed = std::any_of(all.begin(), all.end(), [](const StoredResults& stored) {
    return std::any_of(stored.results.cases.begin(), stored.results.cases.end(),
                       [](const CaseResult& result) { return result.executed; });
  });
  std::cerr << "holdfast: no benchmark is exported: Google Benchmark's rows are times, and ";
  if (!executed)
    std::cerr << all.front().results.env.device_class
              << " executes nothing; --format=bmf and --format=gha have its counts\n";
  else if (options.has("metric") || options.has("changed-only"))
    std::cerr << "no time_s is among what --metric and --changed-only leave\n";
  else
    std::cerr << "no case that is well has one\n";
}

// Prints the cases left out: a reader would take a crashed case for one that is no longer measured.
void tell_left_out(const std::vector<StoredResults>& all) {
  std::vector<std::string> lost;
  for (const StoredResults& stored : all)
    for (const CaseResult& result : stored.results.cases)
      if (result.status != "ok" && result.status != "skipped")
        lost.push_back(
            text(result.id, " on ", stored.results.env.device_class, " (", result.status, ')'));
  if (!lost.empty())
    std::cerr << "holdfast: warning: left out " << plural(lost.size(), "case")
              << " without a result: " << lost.front() << (lost.size() > 1 ? ", ..." : "") << "\n";
}

// Refuses an option that the format would ignore.
void refuse_idle(const Options& options, const std::string& format) {
  if (options.has("out") && format != "otava")
    throw Error(Fault::bad_input, text("--out is for --format=otava; what --format=", format,
                                       " prints, redirect: > FILE"));
  if (options.has("bigger") && format != "gha")
    throw Error(Fault::bad_input, text("--bigger is for --format=gha; --format=", format,
                                       " has values of both directions: leave it out"));
  if (options.has("baselines") && format != "otava")
    throw Error(Fault::bad_input, text("--baselines is for --format=otava, whose history may know "
                                       "renamed cases; with --format=",
                                       format, " leave it out"));
  for (const char* choice : {"metric", "changed-only"})
    if (options.has(choice) && format == "junit")
      throw Error(Fault::bad_input,
                  text("--format=junit prints the whole verdict; leave out --", choice));
}

int export_results(const Options& options) {
  const fs::path directory = options.operands().front();
  if (!options.has("format"))
    throw Error(Fault::bad_input,
                "holdfast export needs --format=FORMAT: gbench, bmf, gha, otava or junit");
  const std::string format = options.value_or("format", "");
  constexpr std::array<std::string_view, 5> formats = {"gbench", "bmf", "gha", "otava", "junit"};
  if (std::find(formats.begin(), formats.end(), format) == formats.end())
    throw Error(Fault::bad_input,
                text("--format=", format, ": the formats are gbench, bmf, gha, otava and junit"));
  refuse_idle(options, format);
  if (format == "otava") {
    export_otava(options);
    return 0;
  }
  if (format == "junit") {
    std::cout << junit(kept_verdict(directory));
    return 0;
  }
  const auto print = [](const nlohmann::json& json) { std::cout << json.dump(2) << "\n"; };
  std::vector<StoredResults> all = read_all_results(directory);
  tell_left_out(all);
  keep_wished(all, options, directory);
  if (format == "gbench") {
    const nlohmann::json made = google_benchmark(all);
    print(made);
    tell_why_empty(made, all, options);
  } else if (format == "bmf") {
    print(bencher_metrics(all));
  } else {
    print(action_benchmark(all, metrics_beside(all), options.has("bigger")));
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
  return {.name = "export",
          .summary = "Prints results for other readers, or a verdict as JUnit.",
          .operands = "DIR",
          .fewest_operands = 1,
          .most_operands = 1,
          .options =
              {{"format", "FORMAT",
                "gbench (Google Benchmark), bmf (Bencher), gha (github-action-benchmark), otava "
                "(Apache Otava; DIR is a history) or junit (the verdict)"},
               {"metric", "NAME", "only this metric", true},
               {"changed-only", "",
                "only what is not PASS in the verdict; for a history, only what changed its level"},
               {"out", "DIR", "with otava: the folder that receives otava.yaml and the CSV files"},
               {"bigger", "", "with gha: what is better when bigger, for customBiggerIsBetter"},
               {"baselines", "DIR",
                "with otava: which tell what cases were renamed and, with --changed-only, what was "
                "accepted (default: baselines)"}},
          .examples =
              "  holdfast export build/release/results --format=gbench > now.json\n"
              "  holdfast export build/release/results --format=gha --bigger > speedups.json\n"
              "  holdfast export history --format=otava --metric=time_s --out=otava\n",
          .run = export_results};
}

}  // namespace holdfast::gate
