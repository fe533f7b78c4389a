// SPDX-License-Identifier: Apache-2.0
// holdfast-history/2: a segment is a file of the history that can be read alone. It states each
// thing once, and again only when it changes: names of series, values, commit, environment.
#pragma once

#include <compare>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/base/json.hpp"
#include "gate/documents/baseline.hpp"

namespace holdfast::gate {

inline constexpr std::int64_t most_commits = 1'000'000'000;  // leaves room for the next one

// YYYY-MM-DDTHH:MM:SSZ, which names a segment as well.
bool is_utc(std::string_view text);

struct HistorySeries {
  std::string case_id;
  std::string variant;
  std::string metric;
  auto operator<=>(const HistorySeries&) const = default;
};

// A count; or the median of a time or ratio and the distances from it of the minimum, quartiles and
// maximum over its processes, in whole ten-thousandths of it. An old store has the median absolute
// deviation instead.
struct HistoryValue {
  double value = 0;
  std::optional<double> mad = {};
  std::vector<std::int64_t> offsets = {};  // none or four

  // The median absolute deviation of the five numbers where there are any: that of the processes
  // where there were five, a rough width where there were more.
  std::optional<double> spread() const;
  bool operator==(const HistoryValue&) const = default;
};

// The stored form of a metric over `processes`; 6 digits of the median.
HistoryValue five_numbers(std::vector<double> processes);

struct HistoryMeaning {
  std::optional<std::string> kind = {};  // unknown in what an old store held, as is `better`
  std::string unit = "1";
  std::optional<std::string> better = {};
  bool operator==(const HistoryMeaning&) const = default;
};

struct HistoryCommit {
  std::string name;  // git's hash, or where the tree was not committed the content's, "sha256:..."
  std::int64_t order = 0;  // counts commits in the order in which they came into the store
  std::optional<std::string> branch = {};
  std::optional<std::string> subject = {};
  std::optional<std::string> author_time = {};
  std::optional<std::string> parent = {};
  std::optional<std::string> ci = {};  // the address of the run that measured it
  bool operator==(const HistoryCommit&) const = default;
};

struct HistoryPoint {
  const HistorySeries* series = nullptr;
  HistoryValue value = {};
  std::optional<std::string> verdict = {};  // of the gate; empty where it was not asked
  bool blocks = false;
};

struct HistoryVerdict {
  std::int64_t exit = 0;                            // of the whole results root
  std::map<std::string, std::int64_t> counts = {};  // of this suite on this class
  std::int64_t blocking = 0;
  // Why exit 0 of the whole root is not "well". Unknown in what an older build wrote.
  std::optional<std::vector<std::string>> caveats = {};
};

// One suite measured once on one device class.
struct HistoryRun {
  std::string suite;
  std::string utc;
  std::optional<std::string> id = {};
  HistoryCommit commit = {};
  nlohmann::json env = nlohmann::json::object();
  std::vector<std::string> not_checked = {};
  bool partial = false;
  std::vector<std::string> invalid = {};  // why the measurement is not valid
  std::optional<HistoryVerdict> verdict = {};
  std::vector<HistoryPoint> points = {};

  std::string fingerprint() const;
  // What a count depends on besides the class: compiler, flags, driver and CUDA's tools, not the
  // host's processor. The fingerprint where nothing else is known.
  std::string tools() const;
  // The state of the host as accepted times tell it, without whether its threads stood apart.
  std::string processor() const;
};

using HistoryMeanings = std::map<std::string, HistoryMeaning>;  // by metric

// The state of a segment that is read or written, the same either way: a segment that was read can
// be written on.
class HistorySegment {
 public:
  explicit HistorySegment(std::string device_class) : device_class_(std::move(device_class)) {}
  HistorySegment(const HistorySegment&) = delete;
  HistorySegment& operator=(const HistorySegment&) = delete;

  // Reads the next line; throws Error(bad_input) if it is not valid there. Returns a run if the
  // line is one; its points live as long as the segment.
  std::optional<HistoryRun> read(const Document& line);

  // The lines that add `run`, each with its end.
  std::string write(const HistoryRun& run, const HistoryMeanings& meanings);

  const std::string& device_class() const { return device_class_; }
  const HistoryMeanings& meanings() const { return meanings_; }
  std::int64_t runs() const { return runs_; }

 private:
  struct Told {  // the last of each for a suite, read or written
    nlohmann::json env = nullptr;
    std::optional<std::vector<std::string>> not_checked = {};
    std::vector<std::size_t> numbers = {};  // of its series
  };
  std::string device_class_;
  bool begun_ = false;
  HistoryMeanings meanings_ = {};
  std::deque<HistorySeries> series_ = {};
  std::vector<std::optional<HistoryValue>> last_ = {};
  std::map<HistorySeries, std::size_t> numbers_ = {};
  std::map<std::string, Told> suites_ = {};
  std::optional<HistoryCommit> commit_ = {};
  std::int64_t runs_ = 0;

  void number(HistorySeries series);
  void read_first(Object line);
  void read_meaning(Object line);
  void read_series(Object line, const Reader& first);
  HistoryRun read_run(Object line, const Reader& count);
  std::vector<bool> read_ranges(const Reader& ranges, const Told& suite) const;
  void read_points(Object& line, HistoryRun& run);
  std::string new_names(const HistoryRun& run, const HistoryMeanings& meanings);
};

}  // namespace holdfast::gate
