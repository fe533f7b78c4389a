// SPDX-License-Identifier: Apache-2.0
#include "gate/accept/limits.hpp"

#include "gate/documents/measured_part.hpp"
#include "gate/documents/verdict_names.hpp"

namespace holdfast::gate {

void accept_limits(const Results& results, const List& list,
                   const std::optional<Baseline>& existing, const std::string& why,
                   Acceptable& accepted) {
  const Entries known = existing ? existing->limits : Entries();
  const auto key = [](const std::string& id) { return entry_key(id, case_variant, "limit"); };
  Entries& limits = accepted.baseline.limits;
  for (const ListedCase& listed : list.cases) {
    if (!listed.limit || !listed.devices.contains(device_kind(results.env.device_name))) continue;
    const auto before = known.find(listed.id);
    if (before != known.end() && before->second.value == Value(*listed.limit)) {
      limits[listed.id] = before->second;
      continue;
    }
    Entry& limit = limits[listed.id] = {.value = *listed.limit,
                                        .accepted = {.utc = results.run.utc,
                                                     .content = results.run.content,
                                                     .runs = {results.run.id},
                                                     .why = why.empty() ? "as listed" : why}};
    if (before == known.end()) continue;
    limit.accepted.previous = before->second.value;
    accepted.changes.push_back(
        {.key = key(listed.id),
         .before = before->second.value,
         .after = limit.value,
         .asks_why = *listed.limit > std::get<double>(before->second.value) ? "worse" : ""});
  }
  for (const auto& [id, entry] : known)
    if (!limits.contains(id))
      accepted.changes.push_back({.key = key(id), .before = entry.value, .asks_why = "removed"});
}

}  // namespace holdfast::gate
