// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>

#include "gate/commands/commands.hpp"
#include "gate/commands/common_options.hpp"
#include "gate/documents/baseline_files.hpp"
#include "gate/documents/build_folder.hpp"
#include "gate/documents/case_name.hpp"
#include "gate/documents/measured_part.hpp"

namespace holdfast::gate {
namespace {

// A case of a suite that this build does not have may be known elsewhere; others must be listed.
void refuse_unknown(const std::string& case_id, const std::filesystem::path& lists) {
  const std::string suite(suite_of(case_id));
  if (suite.empty() || suite == case_id)
    throw Error(Fault::bad_input, text("'", case_id, "' is no case id; holdfast list shows them"));
  const std::filesystem::path list = list_path(lists, suite);
  if (!std::filesystem::exists(list)) return;
  std::vector<std::string> ids;
  for (const ListedCase& listed : read_list(list).cases) ids.push_back(listed.id);
  if (std::find(ids.begin(), ids.end(), case_id) != ids.end()) return;
  const auto meant = nearest(case_id, ids);
  throw Error(Fault::bad_input,
              text(suite, " has no case ", case_id, "; ",
                   meant ? text("did you mean ", *meant, "?") : text("see holdfast list ", suite)));
}

// As the suite's list says in this build; where it has none, as they were accepted.
Meanings metrics_of(const std::string& suite, const std::filesystem::path& lists,
                    const std::filesystem::path& baselines, const std::string& device_class) {
  const std::filesystem::path list = list_path(lists, suite);
  if (std::filesystem::exists(list)) return read_list(list).metrics;
  const std::string place = baseline_file(device_class, suite);
  if (const auto accepted = read_baseline_if_any(Store(baselines, Store::Use::reading), place))
    return accepted->metrics;
  throw Error(Fault::bad_input,
              text("nothing tells what ", suite, " measures: this build has no list of it, and ",
                   (baselines / place).string(), " does not exist"));
}

int policy_verb(const Options& options) {
  const std::filesystem::path baselines = options.value_or("baselines", "baselines");
  const std::string& case_id = options.operands().front();
  const std::filesystem::path lists = options.value_or("lists", binary_folder().string());
  refuse_unknown(case_id, lists);
  const std::string device_class = options.value_or("device-class", "cuda-dry-sm_90");
  const Policy policy =
      read_policy(baselines, options)
          .with(metrics_of(std::string(suite_of(case_id)), lists, baselines, device_class));
  std::cout << case_id << " on " << device_class << "\n";
  for (const auto& [metric, meaning] : policy.metrics()) {
    const std::vector<std::string> variants =
        meaning.kind == "ratio" ? std::vector<std::string>{case_variant}
                                : std::vector<std::string>{"optimized", "reference"};
    for (const std::string& variant : variants) {
      const Standard standard =
          policy.standard(case_id, device_class, variant, metric, meaning.kind);
      std::string name = text("  ", variant, " ", metric);
      name.resize(std::max<std::size_t>(name.size() + 1, 32), ' ');
      std::cout << name << standard.sources.front() << "\n";
      for (std::size_t i = 1; i < standard.sources.size(); ++i)
        std::cout << std::string(34, ' ') << standard.sources[i] << "\n";
    }
  }
  for (const char* variant : {"optimized", "reference"}) {
    for (const Sum& sum : policy.sums(case_id, device_class, variant)) {
      for (const Rule* rule : sum.standard.bounds)
        std::cout << "  " << variant << ' ' << sum.name << "  " << rule->place << ": "
                  << rule->bound->source << "\n";
      if (const Waiver* waiver = sum.standard.waiver)
        std::cout << "  " << variant << ' ' << sum.name << "  " << waiver->place
                  << ": waived until " << waiver->until << ": " << waiver->why << "\n";
    }
  }
  return 0;
}

}  // namespace

Command policy_command() {
  return {
      .name = "policy",
      .summary = "Shows the rules that apply to a case, and where they come from.",
      .operands = "CASE",
      .fewest_operands = 1,
      .most_operands = 1,
      .options = {common::baselines,
                  common::policy,
                  common::lists,
                  {"device-class", "CLASS", "for that class (default: cuda-dry-sm_90)"}},
      .examples =
          "  holdfast policy cubed_sphere_swe/rk4_step/n:48/f64 --device-class=host-x86_64-v4-2t\n",
      .run = policy_verb};
}

}  // namespace holdfast::gate
