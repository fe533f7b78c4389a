// SPDX-License-Identifier: Apache-2.0
// A suite's table has rows, and each names its family: a constant of functions that derive a case
// from such a row.
#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/case/case.hpp"

namespace holdfast {

using Kinds = std::vector<std::string>;  // of devices
inline const Kinds any_kind = {"host", "cuda", "cuda-dry"}, executing = {"host", "cuda"},
                   gpu = {"cuda", "cuda-dry"};

// A row has `const Family<Row>* family`, `Tier tier`, `Kinds only` (of devices; empty: all that can
// run it) and `bool counted` (small enough to have its instructions counted).
template <class Row>
struct Family {
  std::string (*id)(const Row&) = nullptr;
  Kinds (*devices)(const Row&) = nullptr;       // able to run it; null: any kind
  bool (*reference)(const Row&) = nullptr;      // whether that variant is measured too; null: yes
  Kinds (*unreferenced)(const Row&) = nullptr;  // too slow for the reference; optional
  std::vector<MetricDeclaration> (*metrics)(const Row&) = nullptr;  // optional
  std::vector<ExpectedFinding> (*expected)(const Row&) = nullptr;   // optional

  // For a stepped case. `more` sets further members of its Steps.
  std::unique_ptr<Computation> (*make)(const Row&, Backend&, Variant) = nullptr;
  Work (*work)(const Row&) = nullptr;
  Oracle (*oracle)(const Row&) = nullptr;
  Invariant (*invariant)(const Row&) = nullptr;           // optional
  int (*warm_up)(const Row&) = nullptr;                   // optional
  bool (*chained)(const Row&) = nullptr;                  // whether steps are; null: yes
  void (*more)(const Row&, Steps&) = nullptr;             // optional
  std::vector<Derived> (*derived)(const Row&) = nullptr;  // optional
  std::vector<Rate> (*rates)(const Row&) = nullptr;       // optional

  // For a case that is not stepped, instead of all these.
  void (*protocol)(const Row&, Session&) = nullptr;
  double (*limit)(const Row&) = nullptr;  // the largest that it checks a result with, if it does
};

template <class Row>
bool never(const Row&) {
  return false;
}

template <class Row>
Kinds devices_of(const Row& row) {
  Kinds kinds = row.family->devices ? row.family->devices(row) : any_kind;
  if (!row.only.empty())
    std::erase_if(kinds, [&](const std::string& kind) {
      return std::find(row.only.begin(), row.only.end(), kind) == row.only.end();
    });
  return kinds;
}

template <class Row>
bool has_reference(const Row& row) {
  return !row.family->reference || row.family->reference(row);
}

template <class Row>
int warm_up(const Row& row) {
  return row.family->warm_up ? row.family->warm_up(row) : 1;
}

template <class Row>
std::unique_ptr<Computation> make(const Row& row, Backend& backend, Variant variant) {
  return row.family->make(row, backend, variant);
}

// The same row in another family.
template <class Row>
Row as(const Family<Row>& family, Row row) {
  row.family = &family;
  return row;
}

// A row's time compared with that of another row.
template <class Row>
Derived over(std::string_view name, const Row& other, Derived::Form form,
             Variant variant = Variant::optimized) {
  return {.name = std::string(name),
          .other = [=](Backend& backend) { return make(other, backend, variant); },
          .against = variant,
          .form = form};
}

// A GPU's optimized variant compared with each of these variants on its host.
template <class Row>
std::vector<Derived> over_host(const Row& row, const std::vector<Variant>& variants) {
  std::vector<Derived> all;
  for (const Variant variant : variants)
    all.push_back(
        {.name = variant == Variant::optimized ? "gpu_over_host" : "gpu_over_host_reference",
         .other = [=](Backend& host) { return make(row, host, variant); },
         .better = Better::higher,
         .beside_host = true});
  return all;
}

template <class Row>
Steps steps_of(const Row& row) {
  Steps steps = {
      .make = [=](Backend& backend, Variant variant) { return make(row, backend, variant); },
      .oracle = row.family->oracle(row),
      .warm_up = warm_up(row),
      .chained = !row.family->chained || row.family->chained(row)};
  if (row.family->invariant) steps.invariant = row.family->invariant(row);
  if (row.family->more) row.family->more(row, steps);
  return steps;
}

template <class Row>
Case case_of(const Row& row) {
  const Family<Row>& family = *row.family;
  Case one = {.id = family.id(row),
              .tier = row.tier,
              .devices = devices_of(row),
              .reference = has_reference(row),
              .counted = row.counted};
  if (family.unreferenced) one.unreferenced = family.unreferenced(row);
  if (family.metrics) one.metrics = family.metrics(row);
  if (family.expected) one.expected = family.expected(row);
  if (family.limit) one.limit = family.limit(row);
  if (family.protocol) {
    one.recipe = Protocol([row](Session& session) { row.family->protocol(row, session); });
    return one;
  }
  one.work = family.work(row);
  one.recipe = steps_of(row);
  if (family.derived) one.derived = family.derived(row);
  if (family.rates) one.rates = family.rates(row);
  return one;
}

// The cases of rows that some device can run, in order; of rows with the same name only the first.
template <class Row>
std::vector<Case> cases_of(const std::vector<Row>& rows) {
  std::vector<Case> all;
  std::set<std::string> ids;
  std::set<const Family<Row>*> counted;
  for (const Row& row : rows)
    if (row.counted && row.tier <= Tier::gate) counted.insert(row.family);
  for (const Row& row : rows) {
    if (devices_of(row).empty() || !ids.insert(row.family->id(row)).second) continue;
    all.push_back(case_of(row));
    if (counted.contains(row.family))
      all.back().uncounted =
          "another case of its family is counted, in the half minute that a suite has for that";
  }
  return all;
}

}  // namespace holdfast
