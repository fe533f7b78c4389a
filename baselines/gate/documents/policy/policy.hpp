// SPDX-License-Identifier: Apache-2.0
// The policy: which metrics gate, how far each may move, which absolute bounds hold, and what is
// waived until when. A folder: common.json says what holds for all suites, <suite>.json has the
// rules and waivers of one.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "gate/documents/baseline.hpp"
#include "gate/documents/list.hpp"
#include "gate/documents/meaning.hpp"

namespace holdfast::gate {

enum class Gate { block, warn, off };

// Where a part of the policy stands, and the reason that it gives for being laxer than before.
struct Said {
  std::string place = {};  // FILE:LINE
  std::string why = {};
};

struct KindRow {
  Gate gate = Gate::off;
  double tolerance = 0;                       // relative
  std::optional<double> host_tolerance = {};  // on host classes, where it differs
  std::vector<std::string> same = {};  // versions of the fingerprint without which it cannot block
  std::vector<std::string> two_sided = {};  // variants that must not change in either direction
  bool drift_blocks = false;                // many small steps away from the anchor fail
  Said said = {};
};

// What one metric sets instead of its kind, or in addition.
struct MetricRow {
  std::optional<Gate> gate = {};
  std::optional<double> tolerance = {};
  // The tolerance where the compilers differ only after the first number of their version.
  std::optional<double> patch_tolerance = {};
  std::optional<std::vector<std::string>> same = {};
  std::optional<double> impossible_above = {};  // a value beyond it is SUSPECT-FAST
  std::string on_request = {};  // the option of `holdfast run` without which it is not measured
  // A fall may hide a loss: if one of these became worse, or always if it is *.
  std::vector<std::string> fall_is_change = {};
  Said said = {};
};

struct Bound {
  std::optional<double> min = {};
  std::optional<double> max = {};
  std::string source;
};

// What a rule and a waiver have in common. Empty parts match everything.
struct Scope {
  std::string match;                      // glob on the case id: * within a segment, ** across
  std::string device = {};                // glob on the device class
  std::string variant = {};               // "case" for metrics of the case as a whole
  std::vector<std::string> metrics = {};  // "a+b" is a bound on the sum
  std::string place = {};                 // FILE:LINE

  bool covers_case(const std::string& case_id, const std::string& device_class) const;
  std::string metric_name() const;  // "a" or "a+b"
};

struct Rule : Scope {
  std::optional<double> tolerance = {};
  std::optional<Gate> gate = {};
  std::optional<Bound> bound = {};
  std::string why = {};  // why it is laxer than before
};

// What is gone: an accepted value, a metric that only bounds judge, or the limit of a case's error.
struct LostValue {
  std::string case_id;
  std::string device_class;
  std::string variant;
  std::string metric;
  std::string processor = {};  // of a host, if it is a time or a ratio
  // In which its case is listed there, "" for none; empty where no list tells.
  std::optional<std::string> tier = "";
};

// A case or a metric that is gone with its accepted values. The metric is a glob.
struct Removal : Scope {
  std::string processor = {};  // glob; with it, times and ratios of those processors alone are gone
  std::string tier = {};       // in which its cases are listed still; without it they are not
  std::string why = {};

  bool covers(const LostValue& lost) const;
};

// A metric that a device class may be unable to give, for a reason that holds these words.
struct Absence {
  std::string metric;  // glob
  std::string device;  // glob on the device class
  std::string reason;
  std::string why;
  std::string place = {};
};

struct Waiver : Scope {
  std::string until;  // the last day, YYYY-MM-DD
  std::string why;
};

// What the policy says about one metric of one variant of one case on one device class.
struct Standard {
  std::string kind;
  Better better = Better::lower;
  std::string unit = {};
  Gate gate = Gate::off;
  double tolerance = 0;
  bool own_tolerance = false;  // a rule's, not the kind's
  bool two_sided = false;
  bool drift_blocks = false;
  std::vector<std::string> same = {};
  std::optional<double> impossible_above = {};
  std::optional<double> patch_tolerance = {};
  std::string on_request = {};
  std::vector<std::string> fall_is_change = {};
  std::vector<const Rule*> bounds = {};
  const Waiver* waiver = nullptr;
  bool own_gate = false;    // a rule's, not the kind's or the metric's
  std::string set_by = {};  // the rule that set gate or tolerance, where it is not the kind
  std::vector<std::string> sources = {};  // all that was said, in the order in which it applied
  std::map<std::string, Said> said = {};  // who set "gate", "tolerance", ...; and why

  // A time or a ratio, which is never the same twice.
  bool timed() const { return kind == "ratio" || kind == "time"; }
  // As the policy says, except that a time, which only warns because its baseline is of another
  // hour, blocks once it was compared within one hour.
  bool blocks_once_compared() const {
    return gate == Gate::block || (gate == Gate::warn && kind == "time" && !own_gate);
  }
  // The loss that a comparison in lock step lets pass.
  static constexpr double least_compared_tolerance = 0.02;
  double compared_tolerance() const {
    return own_tolerance ? std::max(least_compared_tolerance, tolerance) : least_compared_tolerance;
  }
  // Whether baselines hold this metric.
  bool stored() const { return kind == "exact" || kind == "codegen" || timed(); }
};

struct Sum {
  std::string name;                       // "a+b"
  std::vector<std::string> metrics = {};  // a and b
  Standard standard = {.kind = "bound"};  // its bounds and its waiver
};

// A file of the policy, wherever it was read from: "common.json" and its text.
struct PolicyFile {
  std::string name;   // within the folder
  std::string place;  // for sentences
  std::string content;
};

class Policy {
 public:
  // In an earlier policy, what has expired does not count, and keys that have moved since are
  // ignored.
  enum class Age { current, earlier };

  // `today` (YYYY-MM-DD) decides which waivers have expired; an expired one throws.
  static Policy read(const std::filesystem::path& folder, const std::string& today);
  static Policy of(const std::vector<PolicyFile>& files, const std::string& today, Age age);
  // One file: with `kinds` what holds for all suites, without what holds for one.
  static Policy parse(const Document& document, const std::string& today, Age age = Age::current);

  // The merge base's policy and what it covers: a case or metric that is not in its baselines, and
  // that none of its rules matches, is new, and judged by this policy itself.
  struct Precedent {
    std::shared_ptr<const Policy> policy = {};
    std::set<std::string> values = {};  // "case|metric", by the cases' present names
    std::map<std::string, std::string> old_names = {};  // of cases, by the present ones
  };
  Policy held_to(Precedent precedent) const;
  bool has_precedent() const { return precedent_.policy != nullptr; }
  // The merge base's policy for the same metrics; null without one. Cases have their `old_name`
  // there.
  const Policy* precedent() const { return precedent_.policy.get(); }
  std::string old_name(const std::string& case_id) const;
  // Whether the merge base's policy decides.
  bool is_precedent(const std::string& case_id, const std::string& device_class,
                    const std::string& variant, const std::string& metric,
                    const std::string& declared_kind) const;

  // The policy for a suite's metrics, which `standard` then knows. Throws for one of a kind that
  // the policy does not have.
  Policy with(const Meanings& metrics) const;

  // Throws for a metric that is not among the suite's, unless the suite calls it advisory.
  Standard standard(const std::string& case_id, const std::string& device_class,
                    const std::string& variant, const std::string& metric,
                    const std::string& declared_kind) const;
  // What this policy itself says, even where `standard` follows the merge base's.
  Standard own_standard(const std::string& case_id, const std::string& device_class,
                        const std::string& variant, const std::string& metric,
                        const std::string& declared_kind) const;

  // The rules and waivers that match a case on a class, whatever their variant and metric. Cases
  // and classes that share these, and are both or neither on a host, have the same `own_standard`.
  std::vector<const Scope*> scopes(const std::string& case_id,
                                   const std::string& device_class) const;

  // The sums of metrics that have bounds for a variant of a case; own_sums: by this policy alone.
  std::vector<Sum> sums(const std::string& case_id, const std::string& device_class,
                        const std::string& variant) const;
  std::vector<Sum> own_sums(const std::string& case_id, const std::string& device_class,
                            const std::string& variant) const;

  // Why it may be gone; null where it may not.
  const Removal* removal(const LostValue& lost) const;
  // Why a device of that class may be unable to give the metric, for the reason that it tells.
  const Absence* absence(const std::string& device_class, const std::string& metric,
                         const std::string& reason) const;
  // The reason given for a metric whose meaning changed.
  std::string why_of_metric(const std::string& metric) const;

  // Throws for the first rule or waiver that matches no case and metric of these lists, or could
  // never act on what it matches, and for a device that no class can be called like. Unless the
  // lists are `complete`, rules about suites without a list are skipped; if they are, a file
  // without a suite and a row without a metric are errors as well. What is removed must not be
  // listed, except in the tier that the removal names, and for classes of devices that have none of
  // the `baselines`, which are places in the store.
  void check_against(const std::vector<List>& lists, bool complete,
                     const std::vector<std::string>& baselines = {}) const;
  // Throws for a value that is listed, accepted in one of these baselines, and gone by a removal
  // that names a variant or a processor, of which lists do not tell.
  void refuse_held(const std::vector<List>& lists,
                   const std::map<std::string, Baseline>& baselines) const;
  // The rules that match nothing of these lists. Unless these are complete, rules about suites
  // without a list are skipped.
  std::vector<const Rule*> idle_rules(const std::vector<List>& lists, bool complete) const;

  const std::vector<Rule>& rules() const { return rules_; }
  const std::vector<Waiver>& waivers() const { return waivers_; }
  const std::vector<Removal>& removals() const { return removals_; }
  const std::vector<Absence>& absences() const { return absences_; }
  const std::string& why() const { return why_; }  // of common.json as a whole
  // All reasons in it, as as_seen() gives them, those of expired waivers too: a reason given once
  // is not new.
  std::set<std::string> reasons() const;
  // The reasons in the merge base's policy, if there is one.
  std::set<std::string> reasons_before() const;
  bool has_kind(const std::string& kind) const { return kinds_.contains(kind); }
  const Meanings& metrics() const { return metrics_; }
  // The option of `holdfast run` that asks for a metric; empty where it is always measured.
  std::string on_request(const std::string& metric) const;
  // More suspect cases at once than this are the machine's doing, not the code's.
  std::size_t most_suspects() const;

 private:
  std::string file_ = {};
  bool for_all_ = false;  // it defines the kinds
  std::map<std::string, KindRow> kinds_ = {};
  std::map<std::string, MetricRow> rows_ = {};
  std::vector<Rule> rules_ = {};
  std::vector<Waiver> waivers_ = {};
  std::vector<Removal> removals_ = {};
  std::vector<Absence> absences_ = {};
  std::string why_ = {};
  std::set<std::string> expired_reasons_ = {};  // of an earlier policy's waivers
  std::size_t most_suspects_ = 12;
  std::map<std::string, std::string> files_ = {};  // of suites
  Meanings metrics_ = {};
  Precedent precedent_ = {};

  void add(const std::string& suite, Policy rules);
};

// Whether `text` matches `pattern`: * stands for anything but '/', ** for anything.
bool matches_glob(std::string_view pattern, std::string_view text);

// "block", "warn", "off".
const char* name_of(Gate gate);

// Whether a class of devices may be called so: host-x86_64-v4-2t, cuda-dry-sm_90, nvidia-h200.
bool is_device_class(const std::string& name);

// Whether a rule's device begins with cuda and not with cuda-dry: on cuda-dry it may hold, and on
// no GPU, though it reads as if it did.
bool half_names_cuda_dry(const std::string& device);

// host, cuda or cuda-dry; classes of real GPUs are called after the GPU, "nvidia-h200".
std::string kind_of_class(const std::string& device_class);

// "g++ 12.2.0" and "g++ 12.3.0": another patch level of one compiler.
bool differ_in_patch_level(const std::optional<std::string>& compiler,
                           const std::optional<std::string>& other);

}  // namespace holdfast::gate
