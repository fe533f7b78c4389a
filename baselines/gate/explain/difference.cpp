// SPDX-License-Identifier: Apache-2.0
#include "gate/explain/difference.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "gate/documents/measured_part.hpp"

namespace holdfast::gate {
namespace {

using MetricName = std::pair<std::string, std::string>;  // variant and metric

std::map<MetricName, NamedMetric> by_name(const CaseResult& result) {
  std::map<MetricName, NamedMetric> metrics;
  for (const NamedMetric& metric : named_metrics(result))
    if (metric.name != kernels_metric) metrics.insert({{metric.variant, metric.name}, metric});
  return metrics;
}

std::optional<Value> value_of(const NamedMetric* metric) {
  if (!metric || !metric->measured) return std::nullopt;
  return metric->measured->value;
}

void compare_case(const CaseResult& before, const CaseResult& after,
                  std::vector<DifferenceRow>& rows) {
  const auto left = by_name(before);
  const auto right = by_name(after);
  std::set<MetricName> names;
  for (const auto* side : {&left, &right})
    for (const auto& [name, metric] : *side) names.insert(name);
  for (const MetricName& name : names) {
    const auto find = [&](const std::map<MetricName, NamedMetric>& side) {
      const auto at = side.find(name);
      return at == side.end() ? nullptr : &at->second;
    };
    const NamedMetric* a = find(left);
    const NamedMetric* b = find(right);
    const DifferenceRow row{.case_id = before.id,
                            .variant = name.first,
                            .metric = name.second,
                            .kind = (a ? a : b)->kind,
                            .before = value_of(a),
                            .after = value_of(b)};
    const bool sampled = row.kind == "time" || row.kind == "ratio";
    if (row.must_agree() ? row.before != row.after : sampled && row.before && row.after)
      rows.push_back(row);
  }
}

// "crashed" for a case without a right result; else empty.
std::string what_ails(const CaseResult& result, const std::string& device_name) {
  if (result.check.status == "failed" || is_beyond(result.check)) return "wrong";
  if (result.status != "ok" && result.status != "skipped") return result.status;
  return is_wrong(result, device_name) ? "not verified" : "";
}

// Such a case is noted because equal counts say nothing of it, and absent counts do not differ.
void note_unwell(const std::string& id, const std::string& before, const std::string& after,
                 Difference& difference) {
  std::string where;
  if (!before.empty()) where = before + " in the first";
  if (!after.empty()) add_to(where, after + " in the second");
  if (!where.empty()) difference.unwell.push_back(text(id, "  ", where));
}

}  // namespace

bool Difference::equal() const {
  return only_before.empty() && only_after.empty() && unwell.empty() &&
         std::none_of(rows.begin(), rows.end(),
                      [](const DifferenceRow& row) { return row.must_agree(); });
}

Difference compare(const Results& before, const Results& after) {
  Difference difference;
  std::map<std::string, const CaseResult*> left;
  for (const CaseResult& result : before.cases) left[result.id] = &result;
  for (const CaseResult& result : after.cases) {
    const auto at = left.find(result.id);
    if (at == left.end()) {
      difference.only_after.push_back(result.id);
      continue;
    }
    ++difference.common_cases;
    compare_case(*at->second, result, difference.rows);
    note_unwell(result.id, what_ails(*at->second, before.env.device_name),
                what_ails(result, after.env.device_name), difference);
    left.erase(at);
  }
  for (const auto& [id, result] : left) difference.only_before.push_back(id);
  return difference;
}

void forget_undeclared(Difference& difference, const List& list, const std::string& before_kind,
                       const std::string& after_kind) {
  std::map<std::string, const ListedCase*> listed;
  for (const ListedCase& one : list.cases) listed[one.id] = &one;
  const auto lacks_case = [&](const std::string& id, const std::string& kind) {
    const auto at = listed.find(id);
    return at != listed.end() && !at->second->devices.contains(kind);
  };
  difference.declared_for_one +=
      std::erase_if(difference.only_before,
                    [&](const std::string& id) { return lacks_case(id, after_kind); }) +
      std::erase_if(difference.only_after,
                    [&](const std::string& id) { return lacks_case(id, before_kind); });
  std::erase_if(difference.rows, [&](const DifferenceRow& row) {
    if (row.before && row.after) return false;
    const auto at = listed.find(row.case_id);
    if (at == listed.end()) return false;
    const auto declared = at->second->devices.find(row.before ? after_kind : before_kind);
    return declared != at->second->devices.end() &&
           std::find(declared->second.begin(), declared->second.end(), row.metric) ==
               declared->second.end();
  });
}

std::vector<Pair> pair_up(const std::vector<StoredResults>& before,
                          const std::vector<StoredResults>& after,
                          const std::vector<std::string>& classes) {
  std::map<std::string, std::string> renamed;  // class of the left to class of the right
  for (const std::string& pair : classes) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size())
      throw Error(Fault::bad_input,
                  text("--class=", pair, ": give two device classes, --class=A=B"));
    renamed[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  using Indexed =
      std::map<std::string, std::map<std::string, const StoredResults*>>;  // by suite and class
  const auto index = [](const std::vector<StoredResults>& all) {
    Indexed found;
    for (const StoredResults& stored : all)
      found[stored.results.suite][stored.results.env.device_class] = &stored;
    return found;
  };
  const Indexed left = index(before);
  Indexed right = index(after);
  for (const auto& [from, to] : renamed) {
    const auto has = [](const std::vector<StoredResults>& all, const std::string& name) {
      return std::any_of(all.begin(), all.end(), [&](const StoredResults& stored) {
        return stored.results.env.device_class == name;
      });
    };
    if (!has(before, from))
      throw Error(Fault::bad_input,
                  text("--class=", from, '=', to, ": the first folder has no ", from));
    if (!has(after, to))
      throw Error(Fault::bad_input,
                  text("--class=", from, '=', to, ": the second folder has no ", to));
  }
  std::vector<Pair> pairs;
  for (const auto& [suite, by_class] : left) {
    auto& others = right[suite];
    for (const auto& [name, results] : by_class) {
      auto at = others.find(renamed.contains(name) ? renamed[name] : name);
      if (at == others.end() && by_class.size() == 1 && others.size() == 1) at = others.begin();
      pairs.push_back({results, at == others.end() ? nullptr : at->second});
      if (at != others.end()) others.erase(at);
    }
  }
  for (const auto& [suite, by_class] : right)
    for (const auto& [name, results] : by_class) pairs.push_back({nullptr, results});
  return pairs;
}

}  // namespace holdfast::gate
