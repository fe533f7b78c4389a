// SPDX-License-Identifier: Apache-2.0
// The families of fits that stream on a device within a budget, or because nothing else fits in
// memory.
#include "families/invariants.hpp"
#include "harness/measure/session.hpp"
#include "runtime/base/error.hpp"
#include "xpcs_fit/fit_oracles.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/row.hpp"
#include "xpcs_fit/streams.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

// A stream of 8 passes, with as many points at a time as the budget allows.
std::unique_ptr<Computation> made(const Row& row, Backend& backend, Variant) {
  return make_stream(backend, problem_of(row, backend.executes()),
                     {.batch = points_of(row),
                      .passes = accounted_passes,
                      .budget_bytes = row.limit_mebibytes * mebibyte,
                      .settings = {.mode = StreamMode::plain}});
}

void add_to_stream(const Row& row, Steps& steps) {
  steps.rewritten = always({"result"});
  steps.upload_bytes = [=](Variant) {
    const double bytes = row.options.precision == Precision::f32 ? 4 : 8;
    return bytes * accounted_passes * static_cast<double>(points_of(row));
  };
  steps.read = [=](const Verified& found) {
    std::vector<NamedReading> all = {
        {"peak_over_limit", static_cast<double>(found.backend.ledger.peak_bytes) /
                                static_cast<double>(row.limit_mebibytes * mebibyte)}};
    if (!found.backend.executes()) return all;
    all.push_back({"passes", found.result[1]});
    all.push_back({"pull_max", largest_pull(row, found.result)});
    return all;
  };
}

// On a device with a mebibyte the data do not fit, and the fit streams instead and says so.
void measure_out_of_memory(const Row& row, Session& session) {
  Backend& backend = session.open();
  backend.ledger.limit_to(mebibyte);
  const FitWithin fit = make_fit_within(backend, problem_of(row, backend.executes()));
  fit.computation->step();
  session.read("recovery_actions", static_cast<double>(fit.recovery_actions.size()));
  session.read("peak_over_limit",
               static_cast<double>(backend.ledger.peak_bytes) / static_cast<double>(mebibyte));
  if (!session.executes()) return;
  const Oracle oracle = fit_oracle(Unit::fit, row);
  session.check(oracle.name, oracle.distance(fit.computation->result(), oracle.expected(1)),
                oracle.limit);
}

}  // namespace

const Family<Row> families::memory_budget = {
    .id =
        [](const Row& row) {
          return named("memory/budget", row, {{"limit", text(row.limit_mebibytes, "mib")}});
        },
    .devices = [](const Row&) { return gpu; },
    .reference = never,
    .metrics = [](const Row&) -> std::vector<MetricDeclaration> {
      return {{.name = "passes", .kind = "exact", .better = Better::same, .devices = executing},
              {.name = "pull_max", .kind = "bound", .devices = executing},
              {.name = "peak_over_limit", .kind = "bound", .devices = gpu}};
    },
    .make = made,
    .work = [](const Row& row) { return work(Unit::fit, size_of(row), row.options); },
    .oracle = [](const Row& row) { return fit_oracle(Unit::fit, row); },
    .invariant = [](const Row&) { return repeats_itself(); },
    .chained = never,
    .more = add_to_stream};

const Family<Row> families::out_of_memory = {
    .id = [](const Row& row) { return named("memory/oom", row); },
    .devices = [](const Row&) { return gpu; },
    .reference = never,
    .metrics = [](const Row&) -> std::vector<MetricDeclaration> {
      return {{.name = "recovery_actions", .kind = "exact", .better = Better::same, .devices = gpu},
              {.name = "peak_over_limit", .kind = "bound", .devices = gpu}};
    },
    .protocol = measure_out_of_memory,
    .limit = [](const Row& row) { return fit_oracle(Unit::fit, row).limit; }};

}  // namespace holdfast::xpcs_fit
