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

// Throws for a number that no measurement can give: a count of 2^53 or more, any other of 1e18 or
// more. Compared with such a value, everything would be an improvement.
void refuse_absurd(const Reader& where, double number, bool counted);

// A limit of an error, or of a bound. One that nothing could be beyond is no limit.
double parse_limit(const Reader& reader);

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
  std::optional<std::string> nvdisasm = {};  // absent from older baselines
  bool operator==(const Fingerprint&) const = default;
};
Fingerprint fingerprint(const Environment& environment);
// The tools by their names in a policy's "same".
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
  // Times and ratios of hosts, by timed_on(): a class of hosts is an instruction set, and two of
  // its processors differ by a third in a speedup.
  std::map<std::string, Entries> processors = {};
  Meanings metrics = {};  // as accepted; none in holdfast-baseline/1
  // How far a case's result may be from its oracle, by case id, as listed when it was accepted;
  // absent from older files.
  Entries limits = {};
  // Metrics that have bounds and no accepted value, as they were listed; absent from older files.
  std::optional<MetricNames> bounded = {};
};

// All accepted entries: those of any processor, under "", and those of each.
std::vector<std::pair<std::string, const Entries*>> by_processor(const Baseline& baseline);
std::size_t count_entries(const Baseline& baseline);
// The reasons for which its values were accepted, as as_seen() gives them.
std::set<std::string> reasons(const Baseline& baseline);
// Whether it is a time or a ratio, which on a host belongs to one processor.
bool is_timed(const Entry& entry);

// A view for judging a processor's runs: its own times and ratios are among the entries, those of
// others stay where they were.
Baseline seen_on(const std::string& processor, Baseline baseline);
// The view that judges a run. If nothing is accepted for its processor with threads as near or as
// far apart, what is accepted in the other state judges it; the accepted hand-over time then leaves
// undecided what that may have moved.
Baseline judged_by(const Results& results, Baseline baseline);
// The inverse: what is kept in a file.
Baseline stored_from(const std::string& processor, Baseline view);
// Whether a time or ratio is accepted for the processor of this view.
bool has_times(const Baseline& view);

// Makes `metrics` those of the entries: as they stand there, else as `listed`.
void keep_metrics(Baseline& baseline, const Meanings& listed);

// Also reads holdfast-baseline/1, whose entries repeat their origin.
Baseline parse_baseline(const Document& document);
Baseline read_baseline(const std::filesystem::path& path);
// One entry per line, sorted, so that a change of a metric is a change of a line; each origin
// stands once, in `acceptances`.
std::string baseline_text(const Baseline& baseline);

std::string entry_key(const std::string& case_id, const std::string& variant,
                      const std::string& metric);
struct EntryName {
  std::string case_id, variant, metric;
};
EntryName entry_name(const std::string& entry_key);
std::string metric_of(const std::string& entry_key);

}  // namespace holdfast::gate
