// SPDX-License-Identifier: Apache-2.0
#include "gate/history/append.hpp"

#include <algorithm>

#include "gate/base/git.hpp"
#include "gate/base/shown_text.hpp"
#include "gate/documents/case_name.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/results_root.hpp"
#include "gate/documents/selftest.hpp"
#include "gate/documents/verdict_names.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

std::string commit_of(const Run& run) {
  return run.git_sha && !run.git_dirty ? *run.git_sha : run.content;
}

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

// The time may become the name of the run's file.
void refuse_what_no_time_has(const Results& results, const fs::path& file) {
  if (is_utc(results.run.utc)) return;
  throw Error(Fault::bad_input,
              text(file.string(), ": 'utc' is '", results.run.utc,
                   "', which is no time as 2026-11-21T12:00:00Z is one; measure again"));
}

// The self-tests, by the results beside them. Throws for one of another suite, device or build.
std::map<fs::path, SelfTest> read_self_tests(const fs::path& root,
                                             const std::vector<StoredResults>& measured) {
  std::map<fs::path, SelfTest> tests;
  for (const fs::path& file : files_by_class(root, self_test_ending)) {
    const SelfTest test = read_self_test(file);
    const auto refuse = [&](const auto&... why) {
      return Error(
          Fault::bad_input,
          text(file.string(), ": ", why..., "; remove it, or test again: holdfast ab ", test.suite,
               " --selftest --device=", test.device, " --out=", shell_word(file.string())));
    };
    if (file != self_test_path(file.parent_path(), test.suite))
      throw refuse("holds a self-test of the suite '", test.suite, "', and its name says another");
    const auto of = std::find_if(measured.begin(), measured.end(), [&](const StoredResults& one) {
      return one.file == file.parent_path() / (test.suite + ".json");
    });
    if (of == measured.end())
      throw refuse("there are no results of ", test.suite, " beside it, with which to keep it");
    if (test.device != of->results.env.device_name)
      throw refuse("was made on the device '", test.device, "', and the results beside it on '",
                   of->results.env.device_name, "'");
    if (test.content != of->results.run.content)
      throw refuse("is of another build than the results beside it");
    tests[of->file] = test;
  }
  return tests;
}

// Adds the self-test as a case of its own, which the gate does not judge.
void add(const SelfTest& test, MeasuredRun& made) {
  const auto add_rate = [&](const char* metric, double value) {
    const HistorySeries& series =
        made.series.emplace_back(HistorySeries{test.suite + "/selftest", case_variant, metric});
    made.run.points.push_back({.series = &series, .value = {.value = value}});
    made.meanings[metric] = {.kind = "advisory", .unit = "1", .better = "lower"};
  };
  add_rate("alarm_rate", test.alarm_rate.value);
  add_rate("alarm_rate_lower", test.alarm_rate.lower);
  add_rate("alarm_rate_upper", test.alarm_rate.upper);
  add_rate("undecided_rate",
           static_cast<double>(test.undecided()) / static_cast<double>(test.decisions.size()));
}

HistoryMeanings kept(const Meanings& metrics) {
  HistoryMeanings meanings;
  for (const auto& [name, meaning] : metrics) {
    const nlohmann::json told = to_json(meaning);
    meanings[name] = {meaning.kind, meaning.unit, told.at("better").get<std::string>()};
  }
  return meanings;
}

// Sentences about this suite, and those that name no suite of the root.
std::vector<std::string> about(const std::string& suite, const std::set<std::string>& suites,
                               const std::vector<std::string>& sentences) {
  std::vector<std::string> kept;
  for (const std::string& sentence : sentences) {
    const auto names = [&](const std::string& one) {
      return sentence.find(one) != std::string::npos;
    };
    if (names(suite) || std::none_of(suites.begin(), suites.end(), names)) kept.push_back(sentence);
  }
  return kept;
}

// The caveats of the whole root; one about ungated values only if this part has such values.
std::vector<std::string> caveats_of_part(const Verdict& verdict, bool all_held) {
  std::vector<std::string> kept = verdict.caveats;
  if (all_held)
    std::erase_if(kept, [](const std::string& one) { return one.ends_with("not gated here"); });
  return kept;
}

// Whether the verdict is of these results: not of those before them, which had other values, nor of
// other suites alone.
bool is_of(const Verdict& verdict, const Results& results) {
  std::map<std::string, std::vector<NamedMetric>> measured;  // by case
  for (const CaseResult& result : results.cases) measured[result.id] = named_metrics(result);
  bool speaks = verdict.rows.empty();  // it says what stopped the check
  for (const Row& row : verdict.rows) {
    if (row.device_class != results.env.device_class || suite_of(row.case_id) != results.suite)
      continue;
    speaks = true;
    const NamedMetric* now = find_measured(measured[row.case_id], row.variant, row.metric);
    if (now && now->kind == row.kind && row.value && *row.value != now->measured->value)
      return false;
  }
  return speaks;
}

// What the gate said about this part.
void judge(HistoryRun& run, const std::string& device_class, const Verdict& verdict) {
  std::map<HistorySeries, const Row*> rows;
  HistoryVerdict judged{.exit = verdict.exit};
  for (const Row& row : verdict.rows) {
    if (row.device_class != device_class || suite_of(row.case_id) != run.suite) continue;
    rows[{row.case_id, row.variant, row.metric}] = &row;
    ++judged.counts[row.verdict];
    judged.blocking += row.blocking ? 1 : 0;
  }
  for (HistoryPoint& point : run.points)
    if (const auto row = rows.find(*point.series); row != rows.end()) {
      point.verdict = row->second->verdict;
      point.blocks = row->second->blocking;
    }
  const bool all_held =
      !judged.counts.contains(verdict::fresh) && !judged.counts.contains(verdict::environment);
  judged.caveats = caveats_of_part(verdict, all_held);
  run.verdict = judged;
}

void describe(HistoryCommit& commit, const Run& run, const AppendOptions& options,
              Appended& appended) {
  commit.name = commit_of(run);
  commit.branch = options.branch;
  commit.ci = options.ci;
  if (!run.git_sha) return;
  const auto facts = commit_facts(options.repository, *run.git_sha);
  if (!facts) {
    appended.unknown_commits.insert(*run.git_sha);
    return;
  }
  if (!commit.branch && !facts->branch.empty()) commit.branch = facts->branch;
  if (run.git_dirty) {  // a changed tree on top of it
    commit.parent = *run.git_sha;
    return;
  }
  commit.subject = facts->subject;
  commit.author_time = facts->author_time;
  if (!facts->parent.empty()) commit.parent = facts->parent;
}

}  // namespace

MeasuredRun measured_run(const Results& results, const Meanings& metrics, const Verdict* verdict,
                         Keep keep) {
  Results head;  // without cases, which would cost too much as JSON
  head.env = results.env;
  MeasuredRun made{.meanings = kept(metrics)};
  made.run = {
      .suite = results.suite,
      .utc = results.run.utc,
      .id = results.run.id,
      .commit = {.name = commit_of(results.run)},
      .env = to_json(head).at("env"),
      .partial = results.partial,
      .invalid = results.quality.valid ? std::vector<std::string>() : results.quality.reasons};
  if (!results.quality.valid && made.run.invalid.empty()) made.run.invalid = {"no reason given"};
  for (const CaseResult& result : results.cases) {
    if (result.status != "ok") continue;
    for (const NamedMetric& metric : named_metrics(result)) {
      if (metric.kind == "advisory" && !keep.advisory) continue;
      const double* value =
          metric.measured ? std::get_if<double>(&metric.measured->value) : nullptr;
      if (!value) continue;
      HistorySeries& series =
          made.series.emplace_back(HistorySeries{result.id, metric.variant, metric.name});
      HistoryPoint point{.series = &series, .value = {.value = *value}};
      if (!metric.measured->values.empty()) point.value = five_numbers(metric.measured->values);
      made.run.points.push_back(std::move(point));
      HistoryMeaning& meaning = made.meanings[metric.name];
      if (!meaning.kind) meaning = {.kind = metric.kind};
      if (meaning.unit == "1") meaning.unit = unit_of_name(metric.name);
    }
  }
  if (verdict && is_of(*verdict, results)) judge(made.run, results.env.device_class, *verdict);
  return made;
}

void refuse_results(const fs::path& store) {
  if (is_results_root(store))
    throw Error(Fault::bad_input,
                text("--store=", store.string(),
                     " holds results; name a folder that the history has for itself"));
}

Appended append_history(const fs::path& root, const fs::path& folder,
                        const AppendOptions& options) {
  refuse_results(folder);
  const std::vector<StoredResults> measured = read_all_results(root);
  std::set<std::string> suites;
  for (const auto& [file, results] : measured) {
    refuse_what_no_commit_has(results, file);
    refuse_what_no_time_has(results, file);
    suites.insert(results.suite);
  }
  const std::map<fs::path, SelfTest> self_tests = read_self_tests(root, measured);
  std::optional<Verdict> verdict;
  if (fs::exists(root / "verdict.json")) verdict = read_verdict(root / "verdict.json");

  Store store(folder, Store::Use::writing);
  HistoryWriter writer(store);
  Appended appended;
  for (const StoredResults& stored : measured) {
    const auto& [file, results] = stored;
    MeasuredRun made = measured_run(results, list_beside(stored).metrics,
                                    verdict ? &*verdict : nullptr, {.advisory = options.advisory});
    if (const auto test = self_tests.find(file); test != self_tests.end()) add(test->second, made);
    // Of a suite whose every case failed, the verdict is what is worth keeping.
    const bool judged = made.run.verdict && !made.run.verdict->counts.empty();
    if (made.run.points.empty() && !judged) continue;
    if (writer.has(results.env.device_class, made.run)) {
      ++appended.known;
      continue;
    }
    describe(made.run.commit, results.run, options, appended);
    made.run.commit.order = writer.order_of(made.run.commit.name);
    if (verdict) made.run.not_checked = about(results.suite, suites, verdict->not_checked);
    ++appended.runs;
    appended.values += made.run.points.size();
    writer.add(results.env.device_class, made.run, made.meanings);
  }
  writer.publish();
  return appended;
}

std::size_t rewrite_history(const fs::path& folder) {
  require_folder(folder, begin_history(folder));
  Store store(folder, Store::Use::writing);
  const std::vector<HistoryFile> files = history_files(store);
  HistoryWriter(store).publish();
  return static_cast<std::size_t>(std::count_if(
      files.begin(), files.end(), [](const HistoryFile& file) { return file.old(); }));
}

}  // namespace holdfast::gate
