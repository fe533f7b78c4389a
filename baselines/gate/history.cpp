// SPDX-License-Identifier: Apache-2.0
#include "gate/history.hpp"

#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <tuple>

#include "gate/part.hpp"
#include "gate/process.hpp"
#include "gate/result_files.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

std::string commit_of(const Run& run) {
  return run.git_sha && !run.git_dirty ? *run.git_sha : run.content;
}

using RunKey =
    std::tuple<std::string, std::string, std::string, std::string>;  // class, commit, utc, suite

RunKey key_of(const HistoryLine& line) {
  return {line.device_class, line.commit, line.utc, line.case_id.substr(0, line.case_id.find('/'))};
}

// What the store has already.
struct Known {
  std::map<std::string, std::int64_t> orders = {};  // by commit
  std::set<RunKey> runs = {};

  explicit Known(const std::vector<HistoryLine>& lines) {
    for (const HistoryLine& line : lines) {
      orders[line.commit] = line.order;
      runs.insert(key_of(line));
    }
  }
  std::int64_t order_of(const std::string& commit) {
    std::int64_t last = 0;
    for (const auto& [name, order] : orders) last = std::max(last, order);
    return orders.emplace(commit, last + 1).first->second;
  }
};

void refuse_what_no_commit_has(const Results& results, const fs::path& file) {
  if (results.run.sources)
    throw Error(Fault::bad_input,
                text(file.string(), " was measured with HOLDFAST_SOURCES=", *results.run.sources,
                     ", which no commit contains; run it again without"));
  if (!results.run.custom.empty())
    throw Error(Fault::bad_input,
                text(file.string(), " is a custom run (", results.run.custom.front(),
                     " ...); run the suite without its own options"));
}

int history(const Options& options) {
  const std::string& verb = options.operands()[0];
  if (verb != "append")
    throw Error(Fault::bad_input,
                text("holdfast history cannot '", verb, "'; it can append DIR --store=DIR"));
  const auto store = options.value("store");
  if (!store)
    throw Error(Fault::bad_input,
                "holdfast history append needs --store=DIR, the folder of the history");
  const Appended appended = append_history(options.operands()[1], *store);
  std::cout << *store << ": " << plural(appended.lines, "line") << " from "
            << plural(appended.runs, "run") << " appended";
  if (appended.known > 0)
    std::cout << ", " << plural(appended.known, "run") << (appended.known == 1 ? " was" : " were")
              << " there already";
  std::cout << '\n';
  return 0;
}

}  // namespace

std::string begin_history(const fs::path& store) {
  return text("begin a history with holdfast history append DIR --store=", store.string());
}

HistoryLine parse_history_line(const Document& document) {
  Object object = document.root().object();
  HistoryLine line{.utc = object.take("utc").string(),
                   .commit = object.take("commit").string(),
                   .order = object.take("order").integer(),
                   .device_class = object.take("class").string(),
                   .fingerprint = object.take("fp").string(),
                   .case_id = object.take("case").string(),
                   .variant = object.take("variant").string(),
                   .metric = object.take("metric").string(),
                   .value = object.take("value").number(),
                   .mad = object.take("mad").number_or_null(),
                   .verdict = object.take("verdict").string_or_null()};
  object.close();
  return line;
}

nlohmann::json to_json(const HistoryLine& line) {
  return {{"utc", line.utc},
          {"commit", line.commit},
          {"order", line.order},
          {"class", line.device_class},
          {"fp", line.fingerprint},
          {"case", line.case_id},
          {"variant", line.variant},
          {"metric", line.metric},
          {"value", line.value},
          {"mad", nullable(line.mad)},
          {"verdict", nullable(line.verdict)}};
}

std::vector<HistoryLine> read_history(const fs::path& store) {
  require_folder(store, begin_history(store));
  std::vector<HistoryLine> lines;
  for (const fs::path& file : files_by_class(store, ".ndjson")) {
    std::istringstream content(read_file(file));
    std::size_t number = 0;
    for (std::string line; std::getline(content, line);)
      lines.push_back(parse_history_line(Document(text(file.string(), ':', ++number), line)));
  }
  std::stable_sort(lines.begin(), lines.end(), [](const HistoryLine& a, const HistoryLine& b) {
    return std::tie(a.order, a.utc) < std::tie(b.order, b.utc);
  });
  return lines;
}

std::vector<HistoryLine> history_lines(const Results& results, std::int64_t order,
                                       const Verdict* verdict) {
  std::map<std::tuple<std::string, std::string, std::string>, std::string> verdicts;
  if (verdict)
    for (const Row& row : verdict->rows)
      if (row.device_class == results.env.device_class)
        verdicts[{row.case_id, row.variant, row.metric}] = row.verdict;
  std::vector<HistoryLine> lines;
  for (const CaseResult& result : results.cases) {
    if (result.status != "ok") continue;
    for (const NamedMetric& metric : named_metrics(result)) {
      const double* value =
          metric.measured ? std::get_if<double>(&metric.measured->value) : nullptr;
      if (!value) continue;
      HistoryLine& line = lines.emplace_back();
      line = {.utc = results.run.utc,
              .commit = commit_of(results.run),
              .order = order,
              .device_class = results.env.device_class,
              .fingerprint = results.env.fingerprint,
              .case_id = result.id,
              .variant = metric.variant,
              .metric = metric.name,
              .value = *value,
              .mad = metric.measured->mad_between};
      if (const auto at = verdicts.find({result.id, metric.variant, metric.name});
          at != verdicts.end())
        line.verdict = at->second;
    }
  }
  return lines;
}

Appended append_history(const fs::path& root, const fs::path& store) {
  const std::vector<StoredResults> measured = read_all_results(root);
  for (const auto& [file, results] : measured) refuse_what_no_commit_has(results, file);
  std::optional<Verdict> verdict;
  if (fs::exists(root / "verdict.json")) verdict = read_verdict(root / "verdict.json");

  std::error_code problem;
  fs::create_directories(store, problem);
  if (problem)
    throw Error(Fault::bad_input, text("cannot make the folder --store=", store.string(), ": ",
                                       problem.message(), "; name a folder that you may write to"));
  const std::string name =
      sha256(fs::canonical(store).string()).substr(std::string("sha256:").size(), 16);
  const MachineLock lock("history-" + name, [] {});
  Known known(read_history(store));
  Appended appended;
  std::map<fs::path, std::string> additions;  // by file
  for (const auto& [file, results] : measured) {
    const std::string commit = commit_of(results.run);
    if (known.runs.contains({results.env.device_class, commit, results.run.utc, results.suite})) {
      ++appended.known;
      continue;
    }
    const auto lines =
        history_lines(results, known.order_of(commit), verdict ? &*verdict : nullptr);
    if (lines.empty()) continue;
    ++appended.runs;
    appended.lines += lines.size();
    const fs::path year =
        store / results.env.device_class / (results.run.utc.substr(0, 4) + ".ndjson");
    for (const HistoryLine& line : lines) additions[year] += canonical_line(to_json(line)) + '\n';
  }
  for (const auto& [file, content] : additions) {
    fs::create_directories(file.parent_path(), problem);  // write_file() says why, should this fail
    write_file(file, (fs::exists(file) ? read_file(file) : std::string()) + content);
  }
  return appended;
}

Command history_command() {
  return {.name = "history",
          .summary = "Appends results to the history that trends are drawn from.",
          .operands = "append DIR",
          .fewest_operands = 2,
          .most_operands = 2,
          .options = {{"store", "DIR", "the folder of the history; made where it is absent"}},
          .examples = "  holdfast history append build/release/results --store=history\n",
          .run = history};
}

}  // namespace holdfast::gate
