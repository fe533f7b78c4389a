// SPDX-License-Identifier: Apache-2.0
#include "gate/accept/prune.hpp"

#include <algorithm>
#include <sstream>

#include "gate/base/numbers.hpp"
#include "gate/base/printing.hpp"
#include "gate/base/store.hpp"
#include "gate/documents/aliases.hpp"
#include "gate/documents/measured_part.hpp"
#include "gate/documents/policy/policy.hpp"
#include "gate/documents/results_root.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

// Identity and kernels are evidence that every case of device code has; no list names them.
bool is_evidence(const std::string& metric) {
  return metric == kernels_metric || metric == "identity";
}

std::set<std::string> metrics_of(const std::vector<List>& lists) {
  std::set<std::string> names;
  for (const List& list : lists)
    for (const ListedCase& listed : list.cases)
      for (const auto& [kind, metrics] : listed.devices)
        names.insert(metrics.begin(), metrics.end());
  return names;
}

// Why nothing is measured of a case on this kind of device.
std::string why_gone(const std::string& case_id, const List& list, const std::string& kind) {
  const ListedCase* listed = list.find(case_id);
  if (!listed) return "no such case";
  return listed->devices.contains(kind) ? "" : text("the case does not run on ", kind);
}

std::string why_orphaned(const std::string& case_id, const std::string& metric, const List& list,
                         const std::string& kind, const std::set<std::string>& metrics) {
  if (const std::string why = why_gone(case_id, list, kind); !why.empty()) return why;
  const std::string& tier = list.find(case_id)->tier;
  if (!tier_includes("gate", tier))
    return text("the case is of the tier ", tier, ", which baselines do not hold");
  return is_evidence(metric) || metrics.contains(metric) ? "" : "no case has such a metric";
}

std::size_t count_all(const Baseline& baseline) {
  std::size_t count = count_entries(baseline) + baseline.limits.size();
  if (baseline.bounded)
    for (const auto& [id, metrics] : *baseline.bounded) count += metrics.size();
  return count;
}

// Removes the orphan and returns what it was, for people to read.
std::string taken_out(Baseline& baseline, const Orphan& orphan) {
  const std::string metric = metric_of(orphan.key);
  if (!orphan.bounded_of.empty()) {
    const auto of = baseline.bounded->find(orphan.bounded_of);
    of->second.erase(metric);
    if (of->second.empty()) baseline.bounded->erase(of);
    return "bounded";
  }
  const bool is_limit = !orphan.limit_of.empty();
  Entries& entries = is_limit                   ? baseline.limits
                     : orphan.processor.empty() ? baseline.entries
                                                : baseline.processors.at(orphan.processor);
  const auto entry = entries.find(is_limit ? orphan.limit_of : orphan.key);
  const std::string value = readable(entry->second.value, unit_of_name(metric));
  entries.erase(entry);
  return value;
}

// Prints the entries to remove, removes them from the store if `write` is set, and returns their
// number.
std::size_t prune_file(Store& store, const std::string& place, const List& list,
                       const std::set<std::string>& metrics, const Meanings& meanings,
                       const Aliases& aliases, bool write, std::ostream& told) {
  const Baseline baseline = read_baseline(*store.content_of(place));
  Baseline renamed = baseline;
  aliases.rename(renamed);
  const std::vector<Orphan> found = orphans(renamed, list, metrics);
  if (found.empty()) return 0;
  told << (store.folder() / place).string() << ": " << found.size() << " of " << count_all(baseline)
       << " entries go\n";
  for (const Orphan& orphan : found)
    told << "  " << orphan.key << "  " << taken_out(renamed, orphan) << "  (" << orphan.why
         << (orphan.processor.empty() ? "" : ", on " + orphan.processor) << ")\n";
  std::erase_if(renamed.processors, [](const auto& held) { return held.second.empty(); });
  keep_metrics(renamed, meanings);
  if (!write) return found.size();
  if (count_all(renamed) == 0)
    store.remove(place);
  else
    store.write(place).append(baseline_text(renamed));
  return found.size();
}

std::size_t prune_store(const PruneRequest& request, const std::vector<List>& lists,
                        const std::set<std::string>& metrics, const Aliases& aliases,
                        std::ostream& told) {
  Store store(request.baselines, request.write ? Store::Use::writing : Store::Use::reading);
  std::size_t going = 0, looked_at = 0;
  for (const std::string& place : store.places("devices/", ".json")) {
    const fs::path suite = fs::path(place).stem(), of = fs::path(place).parent_path().filename();
    if ((!request.suite.empty() && suite != request.suite) ||
        (!request.device_class.empty() && of != request.device_class))
      continue;
    ++looked_at;
    const List* list = find_list(lists, suite.string());
    if (!list) {
      told << (store.folder() / place).string() << ": left as it is, this build has no suite "
           << suite.string() << "\n";
      continue;
    }
    Meanings meanings = list->metrics;
    for (const List& other : lists) meanings.merge(Meanings(other.metrics));
    going += prune_file(store, place, *list, metrics, meanings, aliases, request.write, told);
  }
  if (looked_at == 0)
    throw Error(Fault::bad_input,
                text(request.baselines.string(), " holds no baseline",
                     request.suite.empty() ? "" : text(" of the suite ", request.suite),
                     request.device_class.empty() ? "" : text(" on ", request.device_class),
                     "; holdfast baseline show lists all"));
  store.publish();
  return going;
}

}  // namespace

std::vector<Orphan> orphans(const Baseline& baseline, const List& list,
                            const std::set<std::string>& metrics) {
  std::vector<Orphan> found;
  const std::string kind = kind_of_class(baseline.device_class);
  for (const auto& [processor, entries] : by_processor(baseline))
    for (const auto& [key, entry] : *entries) {
      const EntryName name = entry_name(key);
      const std::string why = why_orphaned(name.case_id, name.metric, list, kind, metrics);
      if (!why.empty()) found.push_back({.key = key, .why = why, .processor = processor});
    }
  for (const auto& [case_id, limit] : baseline.limits)
    if (const std::string why = why_gone(case_id, list, kind); !why.empty())
      found.push_back(
          {.key = entry_key(case_id, case_variant, "limit"), .why = why, .limit_of = case_id});
  for (const auto& [id, names] : baseline.bounded.value_or(MetricNames()))
    for (const std::string& name : names)
      if (const std::string why = why_orphaned(id, name, list, kind, metrics); !why.empty())
        found.push_back({.key = entry_key(id, case_variant, name), .why = why, .bounded_of = id});
  return found;
}

int prune(const PruneRequest& request) {
  require_folder(request.baselines / "devices", "name the accepted baselines with --baselines");
  require_folder(request.lists, "name the folder of the build's lists with --lists");
  const std::vector<List> lists = lists_of_build(request.lists);
  if (lists.empty())
    throw Error(Fault::bad_input, text("the folder ", request.lists.string(),
                                       " has no lists of a build; name it with --lists"));
  const std::set<std::string> metrics = metrics_of(lists);
  const Aliases aliases = Aliases::read(request.baselines);
  aliases.check_against(lists, false);
  std::ostringstream told;
  const std::size_t going = prune_store(request, lists, metrics, aliases, told);
  if (going == 0)
    told << "every entry has its case and metric\n";
  else if (!request.write)
    told << "nothing is written yet; holdfast baseline prune --yes removes what goes\n";
  tell_done(told.str());
  return 0;
}

}  // namespace holdfast::gate
