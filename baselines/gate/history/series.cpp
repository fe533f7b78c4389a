// SPDX-License-Identifier: Apache-2.0
#include "gate/history/series.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "gate/base/store.hpp"
#include "gate/documents/case_name.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/results_root.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

std::string commit_of(const Run& run) {
  return run.git_sha && !run.git_dirty ? *run.git_sha : run.content;
}

using RunKey =
    std::tuple<std::string, std::string, std::string, std::string>;  // class, commit, utc, suite

// What the store has already.
class Known {
 public:
  explicit Known(const Store& store) {
    for_each_line(store, [this](const HistoryView& line) { add(line); });
  }

  bool has(const RunKey& run) const { return runs_.contains(run); }

  std::int64_t order_of(const std::string& commit) {
    std::int64_t last = 0;
    for (const auto& [name, order] : orders_) last = std::max(last, order);
    return orders_.emplace(commit, last + 1).first->second;
  }

 private:
  std::map<std::string, std::int64_t, std::less<>> orders_ = {};  // by commit
  std::set<RunKey> runs_ = {};
  RunKey last_ = {};

  // The lines of a run follow one another: all but the first bring nothing new.
  void add(const HistoryView& line) {
    const std::string_view suite = suite_of(line.case_id);
    if (std::tie(line.device_class, line.commit, line.utc, suite) == last_) return;
    last_ = {std::string(line.device_class), std::string(line.commit), std::string(line.utc),
             std::string(suite)};
    runs_.insert(last_);
    orders_[std::string(line.commit)] = line.order;
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

// The year names the file in which the run's lines stand.
void refuse_what_no_year_has(const Results& results, const fs::path& file) {
  const std::string& utc = results.run.utc;
  if (utc.size() > 4 && utc[4] == '-' && utc.find_first_not_of("0123456789") == 4) return;
  throw Error(Fault::bad_input, text(file.string(), ": 'utc' is '", utc,
                                     "', which begins with no year; measure again"));
}

}  // namespace

HistoryLine kept(const HistoryView& line) {
  HistoryLine made{.utc = std::string(line.utc),
                   .commit = std::string(line.commit),
                   .order = line.order,
                   .device_class = std::string(line.device_class),
                   .fingerprint = std::string(line.fingerprint),
                   .case_id = std::string(line.case_id),
                   .variant = std::string(line.variant),
                   .metric = std::string(line.metric),
                   .value = line.value,
                   .mad = line.mad};
  if (line.verdict) made.verdict = std::string(*line.verdict);
  return made;
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

std::vector<HistoryLine> read_history(const fs::path& store,
                                      const std::function<bool(const HistoryView&)>& wanted) {
  std::vector<HistoryLine> lines;
  for_each_line(open_history(store), [&](const HistoryView& line) {
    if (wanted(line)) lines.push_back(kept(line));
  });
  std::stable_sort(lines.begin(), lines.end(), [](const HistoryLine& a, const HistoryLine& b) {
    return std::tie(a.order, a.utc) < std::tie(b.order, b.utc);
  });
  return lines;
}

std::vector<HistoryLine> last_runs(const fs::path& store, const Results& now, std::size_t runs) {
  std::vector<HistoryLine> lines;
  std::set<std::string, std::less<>> times;
  std::size_t looked_at = 0;
  for_each_line_from_end(open_history(store), now.env.device_class, [&](const HistoryView& line) {
    if (++looked_at > newest_lines) return false;
    if (line.fingerprint != now.env.fingerprint || line.utc >= now.run.utc ||
        suite_of(line.case_id) != now.suite)
      return true;
    if (!times.contains(line.utc)) {
      if (times.size() == runs) return false;
      times.emplace(line.utc);
    }
    lines.push_back(kept(line));
    return true;
  });
  std::reverse(lines.begin(), lines.end());
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

Appended append_history(const fs::path& root, const fs::path& folder) {
  const std::vector<StoredResults> measured = read_all_results(root);
  for (const auto& [file, results] : measured) {
    check_place(file, results);
    refuse_what_no_commit_has(results, file);
    refuse_what_no_year_has(results, file);
  }
  std::optional<Verdict> verdict;
  if (fs::exists(root / "verdict.json")) verdict = read_verdict(root / "verdict.json");

  Store store(folder, Store::Use::writing);
  Known known(store);
  Appended appended;
  std::map<std::string, std::string> additions;  // by place
  for (const auto& [file, results] : measured) {
    const std::string commit = commit_of(results.run);
    if (known.has({results.env.device_class, commit, results.run.utc, results.suite})) {
      ++appended.known;
      continue;
    }
    const auto lines =
        history_lines(results, known.order_of(commit), verdict ? &*verdict : nullptr);
    if (lines.empty()) continue;
    ++appended.runs;
    appended.lines += lines.size();
    const std::string year =
        text(results.env.device_class, '/', results.run.utc.substr(0, 4), ".ndjson");
    for (const HistoryLine& line : lines) additions[year] += canonical_line(to_json(line)) + '\n';
  }
  for (const auto& [place, content] : additions) {
    WrittenFile& written = store.write(place);
    if (const auto old = store.content_of(place)) written.append_copy_of(*old);
    written.append(content);
  }
  store.publish();
  return appended;
}

}  // namespace holdfast::gate
