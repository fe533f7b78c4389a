// SPDX-License-Identifier: Apache-2.0
// The four documents that the commands exchange, as data. Reading is strict (an unknown key, a
// missing key or another schema version is an error with file, line and key); writing is canonical,
// so that equal data gives equal bytes. An empty optional is written as null where the schema
// requires the key, and left out where it does not.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/names.hpp"
#include "gate/base/json.hpp"
#include "gate/base/numbers.hpp"

namespace holdfast::gate {

// ---- What a metric is ----

inline const std::vector<std::string_view> metric_kinds = {"exact", "codegen", "ratio",
                                                           "time",  "bound",   "advisory"};

enum class Better { lower, higher, same };

// The same wherever a suite measures it: the suite's table says it, its list carries it, and a
// baseline keeps it as it was accepted.
struct Meaning {
  std::string kind;
  Better better = Better::lower;
  std::string unit = "1";
  bool operator==(const Meaning&) const = default;
};
using Meanings = std::map<std::string, Meaning>;  // by metric

// "exact, in B, lower is better"
std::string text_of(const Meaning& meaning);
// As it stands there; else as the metric's name tells.
std::string unit_of(const Meanings& metrics, const std::string& metric);

// ---- holdfast-results/1: one suite on one device ----

// One metric of one variant, or of the case as a whole. Exact and codegen metrics have a value;
// what the clock tells (times, ratios, bounds on what is made of times) has one number per process
// and their median. A null value with a reason is a metric the device could not give.
struct Metric {
  std::string kind = {};
  std::optional<double> value = {};
  std::optional<std::string> reason = {};
  std::vector<double> processes = {};
  std::optional<double> median = {};
  std::optional<double> mad_between = {};  // median absolute deviation of `processes`, unscaled
  std::optional<std::int64_t> samples = {};

  std::optional<double> number() const { return value ? value : median; }
};
using Metrics = std::map<std::string, Metric>;

struct KernelRow {
  std::string name;
  std::optional<std::int64_t> registers = {};
  std::optional<std::int64_t> spill_bytes = {};
  std::optional<std::int64_t> shared_bytes = {};
  std::optional<std::int64_t> launches = {};  // per step
  std::optional<std::string> cubin = {};      // hash of the machine code
  std::optional<std::string> kind = {};       // fused, scatter, gemm ...; optional key
  // How it is launched and what its instructions are, by name: "blocks", "f64", "global_load_16";
  // optional key, of kernels that are launched.
  std::map<std::string, double> evidence = {};
};

struct Variant {
  std::optional<std::string> identity = {};  // hash over all programs; null on host
  std::vector<KernelRow> kernels = {};
  Metrics metrics = {};
};

struct ResultCheck {
  std::string status = "not_executed";  // passed, failed, not_executed
  std::optional<double> error = {};
  std::optional<double> limit = {};
  std::optional<std::string> oracle = {};
  // Of verifying again after the timed section; optional key.
  std::optional<std::int64_t> again_seed = {}, again_steps = {};
};

struct CaseResult {
  std::string id;
  std::string tier;
  std::string status = "ok";  // ok, failed, skipped, crashed, timeout, missing
  std::optional<std::string> reason = {};
  bool executed = false;
  ResultCheck check = {};
  std::map<std::string, Variant> variants = {};
  Metrics metrics = {};  // of the case as a whole: speedup, peak_ratio
  Metrics derived = {};  // one reading over another of the same run; the key is optional
};

struct Run {
  std::string id;
  std::string utc;
  std::string content;  // hash of kernels, suites, cmake and the CMake files beside them
  std::optional<std::string> git_sha = {};
  bool git_dirty = false;
  std::int64_t processes = 1;
  std::optional<std::string> sources =
      {};  // HOLDFAST_SOURCES: device code that no build contains; optional key
  std::vector<std::string> custom =
      {};  // a suite's own options, which make a custom run; optional key
  std::optional<std::string> beside =
      {};  // content of the build in turn with which it was measured; optional key
  std::optional<std::string> base = {};    // the folder of that build; optional key
  std::optional<std::string> filter = {};  // that left cases out; optional key
};

struct DeviceInfo {
  std::optional<std::string> name = {};
  std::optional<std::string> sm = {};
  std::optional<std::int64_t> sms = {};
  std::optional<std::int64_t> memory_bytes = {};
};

struct Environment {
  std::string device_class;  // e.g. host-x86_64-v4-2t
  std::string device_name;   // what --device was given: host, cuda, cuda-dry:sm_90
  DeviceInfo device = {};
  std::optional<std::string> driver = {};
  std::optional<std::string> cuda = {};
  std::optional<std::string> nvrtc = {};
  std::optional<std::string> nvjitlink = {};
  std::optional<std::string> nvdisasm = {};  // older results do not tell it
  std::optional<std::string> compiler = {};
  std::optional<std::string> flags = {};
  std::optional<std::string> cpu = {};  // as it is sold: "AMD EPYC"
  std::string processor = "unknown";    // vendor, family, model: "AuthenticAMD-26-2"
  std::optional<bool> awake = {};  // a host whose CPUs were kept awake while cases were measured
  std::optional<std::int64_t> threads = {};
  std::optional<std::int64_t> cpus = {};  // of the machine; optional key
  std::optional<std::string> isa = {};
  std::string fingerprint;
};

// What a host's times and ratios compare within: its processor, and whether one with nothing to do
// is halted. "AuthenticAMD-26-2", "AuthenticAMD-26-2 kept awake"
std::string timed_on(const Environment& env);

struct Quality {
  bool valid = true;
  std::vector<std::string> reasons = {};
  std::optional<double> load = {};
  std::optional<double> sm_clock_hz = {};
  std::optional<bool> throttled = {};
  std::optional<double> temperature_c = {};
  std::optional<std::int64_t> other_processes = {};
  // Over the whole run; optional keys. What other work had of the machine's CPUs, what the
  // hypervisor kept of them, and for how much of the time something waited for memory.
  std::optional<double> others_fraction = {}, steal_fraction = {}, memory_stall_fraction = {};
  std::optional<double> cpu_clock_hz = {}, mem_clock_hz = {};  // the least that was seen
  std::optional<std::int64_t> ecc_errors = {};                 // that no code could correct
};

struct Results {
  std::string suite;
  std::string tier;
  bool partial = false;
  std::string status = "ok";               // ok, no_device; optional key
  std::optional<std::string> reason = {};  // why there is no device; optional key
  std::string list_hash = {};              // sha256 of the bytes of <suite>.list.json
  Run run = {};
  Environment env = {};
  Quality quality = {};
  std::map<std::string, std::optional<double>> ceilings = {};
  std::vector<CaseResult> cases = {};
};

Results parse_results(const Document& document);
Results read_results(const std::filesystem::path& path);
nlohmann::json to_json(const Results& results);

// ---- holdfast-list/2: what a suite promises to measure ----

// A finding of a detector that a case shows on purpose, in every run on these kinds of devices.
struct ExpectedFinding {
  std::string finding;
  std::string why;
  std::vector<std::string> devices = {};
};

struct ListedCase {
  std::string id;
  std::string tier;
  bool reference = false;
  std::map<std::string, std::vector<std::string>> devices = {};  // device_kind() -> metric names
  std::optional<double> limit = {};  // of the error of its result; empty where it checks none
  // Why its instructions are not counted on a host; empty where they are, or it does not gate
  // there.
  std::optional<std::string> uncounted = {};
  std::vector<ExpectedFinding> expected = {};
};

struct List {
  std::string suite;
  std::vector<ListedCase> cases = {};
  Meanings metrics = {};  // of all that the cases have, and of more
};

List parse_list(const Document& document);
List read_list(const std::filesystem::path& path);
nlohmann::json to_json(const List& list);

bool is_host_class(const std::string& device_class);

// ---- holdfast-baseline/2: what was accepted for one suite on one device class ----

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

// By "case id|variant|metric"; the variant is "case" for the case as a whole.
using Entries = std::map<std::string, Entry>;

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
};

std::size_t count_entries(const Baseline& baseline);
// For which its values were accepted.
std::set<std::string> reasons(const Baseline& baseline);
// A time or a ratio; of a host they are one processor's.
bool is_timed(const Entry& entry);

// A view: what a processor's runs are held against. Its own times and ratios stand among the
// entries, those of others where they were.
Baseline seen_on(const std::string& processor, Baseline baseline);
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

// The member `metrics` of lists and baselines.
Meanings parse_meanings(const Reader& reader);
nlohmann::json to_json(const Meaning& meaning);

// ---- holdfast-verdict/1: what the gate decided ----

struct Row {
  std::string case_id;
  std::string device_class;
  std::string variant;
  std::string metric;
  std::string kind = {};
  std::string unit = {};
  std::string verdict = {};
  bool blocking = false;
  std::optional<Value> value = {};
  std::optional<Value> baseline = {};
  std::optional<double> change = {};  // value / baseline - 1
  std::optional<double> limit = {};   // the largest worsening that passes, as `change`
  std::string sentence = {};
  std::map<std::string, std::string> evidence = {};  // control, code, rule, bound ...
  std::optional<std::string> next = {};              // the command to type next
  // What it was held against: accepted, beside (the base's value of the same run) or bound; empty
  // where it was against nothing.
  std::string standard = {};
  // Of a time or a ratio that gates: the smallest loss of speed that would have failed this run, as
  // a share of the time, and by which standard.
  std::optional<double> resolution = {};
  std::string resolved_by = {};
};

// A symptom that a detector saw in one variant of a case: never a reason to fail, often the reason
// why something failed.
struct Detection {
  std::string case_id;
  std::string device_class;
  std::string variant;
  std::string detector;
  std::string sentence;  // what was seen, with its numbers
  double value = 0;
  double threshold = 0;
  std::string fix;
  std::string source;                        // profile or result: where the numbers come from
  std::optional<std::string> expected = {};  // why its case shows it on purpose
};

// What the change that is judged does to a rule that judges it, to an alias or to a case.
struct RuleChange {
  std::string rule;
  std::string before;
  std::string after;
  std::string why = {};  // the change's own reason
  bool loosens = false;
  bool blocking = false;  // it loosens, and gives no reason of its own
};

struct Verdict {
  int exit = 0;
  std::map<std::string, std::int64_t> counts = {};
  std::vector<Row> rows = {};
  std::vector<std::string> notes =
      {};  // about parts as a whole: no baseline yet, environment moved
  std::vector<std::string> not_checked = {};  // what this verdict says nothing about, and why
  std::vector<Detection> findings = {};       // the worst first
  std::vector<std::string> caveats = {};      // why exit 0 is not "well"
  std::vector<RuleChange> changes = {};       // since the merge base; what blocks first
};

Verdict parse_verdict(const Document& document);
Verdict read_verdict(const std::filesystem::path& path);
nlohmann::json to_json(const Verdict& verdict);

}  // namespace holdfast::gate
