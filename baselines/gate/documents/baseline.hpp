// SPDX-License-Identifier: Apache-2.0
// holdfast-baseline/2: what was accepted for one suite on one device class.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gate/base/json.hpp"
#include "gate/base/numbers.hpp"
#include "gate/documents/meaning.hpp"
#include "gate/documents/results.hpp"

namespace holdfast::gate {

Value parse_value(const Reader& reader);
nlohmann::json value_json(const Value& value);

// Throws for a number that nothing measured has: a count of 2^53 or more, any other of 1e18 or
// more. Held against such a value, everything would be an improvement.
void refuse_absurd(const Reader& where, double number, bool counted);

struct Acceptance {
  std::string utc;
  std::string content;
  std::vector<std::string> runs = {};  // ids of the runs that the value comes from
  std::string why;
  std::optional<Value> previous = {};
};

struct Entry {
  Value value;
  std::optional<double> mad_between =
      {};  // time and ratio: the spread between processes within a run
  std::vector<double> medians =
      {};                 // time and ratio: the median of each accepted run, oldest first
  std::int64_t days = 1;  // distinct days among those runs
  std::optional<double> anchor = {};  // the first accepted value, which drift is measured from
  bool bootstrap = false;             // accepted from fewer than five runs, or on one day
  Acceptance accepted = {};
};

struct Fingerprint {
  std::optional<std::string> nvrtc = {};
  std::optional<std::string> nvjitlink = {};
  std::optional<std::string> driver = {};
  std::optional<std::string> compiler = {};
  std::optional<std::string> nvdisasm = {};  // older baselines do not tell it
  bool operator==(const Fingerprint&) const = default;
};
Fingerprint fingerprint(const Environment& environment);
// By the names that a policy's "same" has for them.
using Tool = std::optional<std::string> Fingerprint::*;
inline constexpr std::array<std::pair<std::string_view, Tool>, 5> known_tools = {
    {{"nvrtc", &Fingerprint::nvrtc},
     {"nvjitlink", &Fingerprint::nvjitlink},
     {"driver", &Fingerprint::driver},
     {"compiler", &Fingerprint::compiler},
     {"nvdisasm", &Fingerprint::nvdisasm}}};

// By "case id|variant|metric"; the variant is "case" for the case as a whole.
using Entries = std::map<std::string, Entry>;
// Names of metrics, by case id.
using MetricNames = std::map<std::string, std::set<std::string>>;

struct Baseline {
  std::string device_class;
  Fingerprint fingerprint = {};
  Entries entries = {};
  // Times and ratios of hosts, by timed_on(): a class of hosts tells the instruction set, and two
  // processors of one class differ by a third in a speedup.
  std::map<std::string, Entries> processors = {};
  Meanings metrics = {};  // as accepted; none in a file of the version before
  // How far the result of a case may be from its oracle's, by case id, as it was listed when it was
  // accepted; older files do not tell it.
  Entries limits = {};
  // Metrics that have bounds and no accepted value, as they were listed; older files do not tell
  // them.
  std::optional<MetricNames> bounded = {};
};

std::size_t count_entries(const Baseline& baseline);
// For which its values were accepted, as seen.
std::set<std::string> reasons(const Baseline& baseline);
// A time or a ratio; of a host they are one processor's.
bool is_timed(const Entry& entry);

// A view: what a processor's runs are held against. Its own times and ratios stand among the
// entries, those of others where they were.
Baseline seen_on(const std::string& processor, Baseline baseline);
// What a run is judged by: where nothing is accepted of its processor while threads stood as they
// did, what is while they stood otherwise. How far apart they stood then is an entry, too, and
// leaves undecided what that may have moved.
Baseline judged_by(const Results& results, Baseline baseline);
// The way back, to what is kept in a file.
Baseline stored_from(const std::string& processor, Baseline view);
// Whether anything in time is accepted for the processor whose view this is.
bool has_times(const Baseline& view);

// Makes `metrics` those of the entries: as they stand there, and else as they are `listed`.
void keep_metrics(Baseline& baseline, const Meanings& listed);

// Reads holdfast-baseline/1 as well, whose entries repeat where they come from.
Baseline parse_baseline(const Document& document);
Baseline read_baseline(const std::filesystem::path& path);
// One entry per line, sorted, so that a change of a metric is a change of a line; where they come
// from stands once, in `acceptances`.
std::string baseline_text(const Baseline& baseline);

std::string entry_key(const std::string& case_id, const std::string& variant,
                      const std::string& metric);
struct EntryName {
  std::string case_id, variant, metric;
};
EntryName entry_name(const std::string& entry_key);
std::string metric_of(const std::string& entry_key);

}  // namespace holdfast::gate
