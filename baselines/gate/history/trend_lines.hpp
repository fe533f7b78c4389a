// SPDX-License-Identifier: Apache-2.0
// The history as series, with the commits where they changed their level.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gate/documents/aliases.hpp"
#include "gate/history/series.hpp"

namespace holdfast::gate {

struct TrendPoint {
  const HistoryLine* line = nullptr;
  bool outlier = false;
};

struct TrendSegment {
  std::int64_t from = 0;  // order of the first and the last commit
  std::int64_t to = 0;
  double median = 0;
};

struct TrendChange {
  const HistoryLine* line = nullptr;  // the first point at the new level
  const HistoryLine* last = nullptr;  // the one before it, which has the old level
  double before = 0;                  // medians
  double after = 0;
  double change = 0;  // relative
};

// The newest segment against the anchor, where it is further away than a drift may be.
struct TrendDrift {
  const HistoryLine* since = nullptr;  // the anchor's point
  double anchor = 0;
  double median = 0;
  double change = 0;  // relative
};

// One metric of one variant of a case on a device class. Points of different fingerprints (machine,
// driver, compiler) are not comparable, for counts those of different tools alone; nor are those of
// a branch that was measured among another's commits or, where none is known, of a line of descent
// aside. They stand in one series, and segments are found in each of them alone.
struct TrendSeries {
  std::vector<TrendPoint> points = {};  // in commit order, never empty
  std::vector<TrendSegment> segments = {};
  std::vector<TrendChange> changes = {};
  std::optional<TrendDrift> drift = {};

  const HistoryLine& name() const { return *points.front().line; }
};

// What was accepted last of a series.
struct Accepted {
  std::string utc;
  double value = 0;
};
// For a point, by its class, name and processor, and of a processor's states the one that is
// nearest to its value; none where nothing is accepted.
using AcceptedOf = std::function<std::optional<Accepted>(const HistoryLine&)>;
AcceptedOf accepted_in(const std::filesystem::path& baselines, const Aliases& aliases);

struct TrendOptions {
  std::optional<std::string> match = {};   // glob on the case id
  std::optional<std::string> metric = {};  // glob on its name
  std::optional<std::string> anchor = {};  // the commit that drift counts from
  AcceptedOf accepted = {};                // what it counts from where no commit is given

  bool covers(std::string_view case_id, std::string_view named) const;
};

// Drift is measured from the anchor's segment, where the anchor can be compared with the newest
// point; without an anchor given, from the accepted value, once a level has begun since then; where
// nothing is accepted from the segment of the newest point that was accepted as a baseline, or else
// from the oldest one. The lines must outlive the series.
std::vector<TrendSeries> find_trends(const HistoryLines& lines, const TrendOptions& options);

// Which points are written. none: for readers of the store itself. ends_of_still: of a series with
// the same value at each commit, as most have, only the ends and where its verdict changed.
enum class Told { all, ends_of_still, none };
nlohmann::json to_json(const TrendSeries& series, Told told = Told::all);

}  // namespace holdfast::gate
