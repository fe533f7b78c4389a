// SPDX-License-Identifier: Apache-2.0
// The families of fits that stream. Theirs is the flat order of points, in batches of 512 where
// faults are counted, of 100000 where time is taken.
#include "xpcs_fit/streams.hpp"

#include "families/invariants.hpp"
#include "runtime/base/error.hpp"
#include "xpcs_fit/fit_oracles.hpp"
#include "xpcs_fit/problem/words.hpp"
#include "xpcs_fit/row.hpp"

namespace holdfast::xpcs_fit {
namespace {

const Kinds on_host = {"host"};

std::unique_ptr<Computation> streamed(const Row& row, Backend& backend, std::int64_t batch,
                                      bool tolerates_faults) {
  FaultPlan faults = {.probability = row.probability};
  if (row.permanent >= 0) faults.permanent = {row.permanent};
  return make_stream(
      backend, problem_of(row, true),
      {.batch = batch, .settings = {.tolerates_faults = tolerates_faults, .faults = faults}});
}

// Of one step: the passes that the fit takes.
Work work_of(const Row& row) {
  return work(Unit::converged_fit, size_of(row), row.options);
}

std::vector<std::string> written(const Backend&, Variant) {
  return {"result"};
}

// What a batch's cost of tolerance is measured with.
constexpr std::int64_t large_batch = 100000;

}  // namespace

const Family<Row> families::stream_faults = {
    .id =
        [](const Row& row) {
          return id("xpcs_fit/stream/faults",
                    {{"probability", text(row.probability)},
                     {"permanent", row.permanent < 0 ? "none" : text(row.permanent)}},
                    "f64");
        },
    .devices = [](const Row&) { return on_host; },
    .reference = never,
    .metrics =
        [](const Row&) {
          std::vector<MetricDeclaration> all = {{.name = "pull_max", .kind = "bound"}};
          for (const std::string name : {"passes", "n_batches", "batches", "attempts", "faults",
                                         "recovered", "failed", "success_rate", "points"})
            all.push_back({.name = name, .kind = "exact", .better = Better::same});
          return all;
        },
    .make = [](const Row& row, Backend& backend,
               Variant) { return streamed(row, backend, 512, true); },
    .work = work_of,
    .oracle =
        [](const Row& row) {
          if (row.permanent < 0) return fit_oracle(Unit::converged_fit, row);
          return fit_oracle(Unit::converged_fit, row, 0.3);
        },
    .invariant = [](const Row&) { return repeats_itself(); },
    .more =
        [](const Row& row, Steps& steps) {
          steps.rewritten = written;
          steps.read = [=](const Verified& found) -> std::vector<NamedReading> {
            return {{"passes", found.result[1]}, {"pull_max", largest_pull(row, found.result)}};
          };
        }};

const Family<Row> families::stream_overhead = {
    .id =
        [](const Row& row) {
          return id("xpcs_fit/stream/overhead",
                    {{"mode", "full"}, {"size", size_words.of(row.size)}}, "f64");
        },
    .devices = [](const Row&) { return on_host; },
    .reference = never,
    .make = [](const Row& row, Backend& backend,
               Variant) { return streamed(row, backend, large_batch, true); },
    .work = work_of,
    .oracle = [](const Row& row) { return fit_oracle(Unit::converged_fit, row); },
    .invariant = [](const Row&) { return repeats_itself(); },
    .more = [](const Row&, Steps& steps) { steps.rewritten = written; },
    .derived = [](const Row& row) -> std::vector<Derived> {
      return {
          {.name = "full_over_plain",
           .other = [=](Backend& backend) { return streamed(row, backend, large_batch, false); },
           .form = Derived::Form::case_over_other,
           .kind = "bound"}};
    }};

}  // namespace holdfast::xpcs_fit
