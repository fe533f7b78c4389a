// SPDX-License-Identifier: Apache-2.0
// For tests: a corpus of inputs that must not pass without a word, for the toy suite with as many
// metrics as there are kinds of loss.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gate/documents/baseline.hpp"
#include "gate/documents/results.hpp"
#include "gate/testing/toy_root.hpp"

namespace holdfast::gate::toy {

// A file of the root, by its path in it: a link where it has a target; taken out where it has
// neither.
struct Written {
  std::string file;
  std::optional<std::string> content = {};
  std::optional<std::string> link = {};
};

struct Trick {
  std::string name;                      // "policy: ..."
  std::vector<Written> files = {};       // over what was accepted and committed
  bool by_merge_base = false;            // judged with --baseline-ref=HEAD
  std::vector<std::string> flags = {};   // more of the command's
  std::optional<std::string> told = {};  // it may end in 0 where this is said
  std::string named = {};                // what is said in any case
};
using Tricks = std::vector<Trick>;
// Judged by what was accepted, and by the merge base.
void add_both(Tricks& tricks, Trick trick);

List wide_list();
Results wide_dry();
Results wide_host();
// With rules about all of them, in the text that a policy's canonical form has.
std::string wide_policy();

// The state that all of them begin with.
struct Honest {
  List list = wide_list();
  Results dry = wide_dry();
  Results host = wide_host();
  std::string policy = wide_policy();  // common.json
  Baseline baseline = {};              // of dry
  Baseline host_baseline = {};         // with a case under the name that it had before
  std::string baseline_text = {};      // of dry
  std::string aliases = {};            // that lead from there
};

inline constexpr const char* dry_file = "results/cuda-dry-sm_90/toy.json";
inline constexpr const char* host_file = "results/host-x86_64-v4-2t/toy.json";
inline constexpr const char* baseline_place = "baselines/devices/cuda-dry-sm_90/toy.json";
inline constexpr const char* host_baseline_place = "baselines/devices/host-x86_64-v4-2t/toy.json";
inline constexpr const char* policy_place = "baselines/policy/common.json";
inline constexpr const char* aliases_place = "baselines/aliases.json";
inline constexpr const char* total_id = "toy/total/n:64/f64";  // of the sum, before

// A metric of the dry device, and values that are a loss of it.
struct Loss {
  const char* metric;
  std::vector<double> values;
};
const std::vector<Loss>& losses();
std::vector<std::string> lossy_metrics();  // of those, each once
// Results of the dry device that have the first loss of that metric.
Results with_loss(const Honest& honest, const std::string& metric);

std::string dumped(const Results& results);
// Results of both devices, measured by that list.
std::vector<Written> listed_files(const List& list, Results dry, Results host);

// Results that are worse, wrong, impossible, undecided, or not of what was expected.
Tricks worse_counts(const Honest& honest);
Tricks wrong_results(const Honest& honest);
Tricks disputed_bounds(const Honest& honest);
Tricks losses_on_shared_cores(const Honest& honest);
Tricks impossible_speeds(const Honest& honest);
Tricks unrequested_values(const Honest& honest);
Tricks results_that_lack(const Honest& honest);

// Rules, names and files that would let them pass.
Tricks lists_that_promise_less(const Honest& honest);
Tricks reasons_that_are_none(const Honest& honest);
Tricks waivers(const Honest& honest);
Tricks absences(const Honest& honest);
Tricks removals(const Honest& honest);
Tricks aliases(const Honest& honest);
Tricks drifted_values(const Honest& honest);
Tricks widened_spreads(const Honest& honest);
Tricks links(const Honest& honest);

}  // namespace holdfast::gate::toy
