// SPDX-License-Identifier: Apache-2.0
// Adds to a history: the results of a run, the runs of another store.
#pragma once

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gate/documents/history/history_store.hpp"
#include "gate/documents/verdict.hpp"

namespace holdfast::gate {

// A segment this full is followed by a new one of its class.
inline constexpr std::size_t full_bytes = std::size_t{1} << 20;
inline constexpr std::int64_t full_runs = 64;

// One result as the history keeps it: without values that are no numbers and cases that are not ok
// and, unless `advisory`, without advisory metrics, which at most a bound judges.
struct MeasuredRun {
  std::deque<HistorySeries> series = {};
  HistoryMeanings meanings = {};
  HistoryRun run = {};  // its points are of `series`
};
struct Keep {
  bool advisory = false;
};
MeasuredRun measured_run(const Results& results, const Meanings& metrics, const Verdict* verdict,
                         Keep keep = {});

// Adds runs to a store that is open for writing: of each class it reads the newest segment, and the
// one that a run belongs to by its time. An old store is rewritten on the way.
class HistoryWriter {
 public:
  explicit HistoryWriter(Store& store);

  bool has(const std::string& device_class, const HistoryRun& run);
  // The commit's order if it is among the newest, else the next one.
  std::int64_t order_of(const std::string& commit);
  // A store has each run once: ask has() before.
  void add(const std::string& device_class, const HistoryRun& run, const HistoryMeanings& meanings);
  // Publishes all of it as one change.
  void publish();

 private:
  struct Open {
    explicit Open(const std::string& device_class) : segment(device_class) {}
    HistorySegment segment;
    std::optional<std::filesystem::path> content = {};
    std::size_t bytes = 0;
    std::string oldest = {}, newest = {};  // times
    // Ids and fingerprints by commit, time and suite: two runs of a fleet may begin in the same
    // second. Runs of an old store have no id, and are told apart by their fingerprints.
    std::map<std::tuple<std::string, std::string, std::string>,
             std::set<std::pair<std::optional<std::string>, std::string>>>
        runs = {};
    std::string added = {};

    void know(const HistoryRun& run) {
      runs[{run.commit.name, run.utc, run.suite}].emplace(run.id, run.fingerprint());
      oldest = oldest.empty() ? run.utc : std::min(oldest, run.utc);
      newest = std::max(newest, run.utc);
    }
  };
  Store& store_;
  std::vector<HistoryFile> old_ = {};
  std::map<std::string, std::map<std::string, HistoryFile>> segments_ = {};  // by class and begin
  std::map<std::string, std::unique_ptr<Open>> open_ = {};                   // by place
  std::map<std::string, std::int64_t> orders_ = {};                          // by commit
  std::int64_t last_order_ = 0;

  Open& open(const HistoryFile& file);
  HistoryFile* segment_of(const std::string& device_class, const std::string& utc);
  Open& open_for(const std::string& device_class, const std::string& utc);
  void note(const HistoryCommit& commit);
  void rewrite_old();
};

// What is known of a commit beyond its name, and how it was measured.
struct AppendOptions {
  bool advisory = false;
  std::filesystem::path repository = ".";
  std::optional<std::string> branch = {};
  std::optional<std::string> ci = {};
};

struct Appended {
  std::size_t values = 0;
  std::size_t runs = 0;
  std::size_t known = 0;                       // runs that the store had already
  std::set<std::string> unknown_commits = {};  // which the repository does not have
};

// Adds the results below `root`, with the verdicts of its verdict.json where there is one, and the
// self-tests beside them. A run that the store has already is not added again, so that an
// interrupted or repeated call does no harm. Throws for runs that no commit or content stands for
// (custom runs and HOLDFAST_SOURCES), for files that are not named as what they hold, and for
// self-tests of another build than the results beside them.
Appended append_history(const std::filesystem::path& root, const std::filesystem::path& store,
                        const AppendOptions& options = {});

// Throws Error(bad_input) if the folder holds results, which must not be mixed with a history.
void refuse_results(const std::filesystem::path& store);

// Rewrites a store of an older format; returns the number of its old files.
std::size_t rewrite_history(const std::filesystem::path& store);

}  // namespace holdfast::gate
