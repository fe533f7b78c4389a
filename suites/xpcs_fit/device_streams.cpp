// SPDX-License-Identifier: Apache-2.0
// The families of fits that stream on a device, by rows of every angle: through slots from the host
// or over what lies there, within a budget, and where there is no room for anything else.
#include "families/invariants.hpp"
#include "harness/measure/session.hpp"
#include "runtime/base/error.hpp"
#include "xpcs_fit/fit_oracles.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/problem/words.hpp"
#include "xpcs_fit/row.hpp"
#include "xpcs_fit/streams.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

std::int64_t points_of(const Row& row) {
  return size_of(row).points();
}

// Of 8 passes. A sixteenth of the points at a time, or as a budget allows.
StreamOptions streaming(const Row& row) {
  StreamOptions options = {.batch = points_of(row) / 16,
                           .passes = accounted_passes,
                           .source = row.resident ? DataSource::resident : DataSource::host,
                           .settings = {.tolerates_faults = false}};
  if (row.limit_mebibytes > 0) {
    options.batch = points_of(row);
    options.budget_bytes = row.limit_mebibytes * mebibyte;
  }
  return options;
}

// As it is made, which a budget settles.
std::unique_ptr<Computation> made(const Row& row, Backend& backend) {
  return make_stream(backend, problem_of(row, backend.executes()), streaming(row));
}

std::vector<MetricDeclaration> stream_metrics(const Row&) {
  return {{.name = "passes", .kind = "exact", .better = Better::same, .devices = executing},
          {.name = "pull_max", .kind = "bound", .devices = executing}};
}

std::vector<NamedReading> read_fit_of(const Row& row, const Verified& found) {
  if (!found.backend.executes()) return {};
  return {{"passes", found.result[1]}, {"pull_max", largest_pull(row, found.result)}};
}

void add_to_stream(const Row& row, Steps& steps) {
  steps.rewritten = [](const Backend&, Variant) { return std::vector<std::string>{"result"}; };
  if (!row.resident)
    steps.upload_bytes = [=](Variant) {
      return 8. * accounted_passes * static_cast<double>(points_of(row));
    };
  if (row.limit_mebibytes == 0)
    steps.estimate_bytes = [=](const Backend& backend, Variant) {
      return estimate_stream_bytes(backend, problem_of(row, backend.executes()), streaming(row));
    };
  steps.read = [=](const Verified& found) {
    std::vector<NamedReading> all = read_fit_of(row, found);
    if (row.limit_mebibytes > 0)
      all.push_back({"peak_over_limit", static_cast<double>(found.backend.ledger.peak_bytes) /
                                            static_cast<double>(row.limit_mebibytes * mebibyte)});
    return all;
  };
}

constexpr Family<Row> streamed_family(Family<Row> family) {
  family.devices = [](const Row&) { return gpu; };
  family.reference = never;
  family.make = [](const Row& row, Backend& backend, Variant) { return made(row, backend); };
  family.work = [](const Row& row) { return work(Unit::fit, size_of(row), row.options); };
  family.oracle = [](const Row& row) { return fit_oracle(Unit::fit, row); };
  family.invariant = [](const Row&) { return repeats_itself(); };
  family.more = add_to_stream;
  return family;
}

// A device with a mebibyte: its data do not fit, and it streams instead, and says so.
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

const Family<Row> families::fit_streamed = streamed_family(
    {.id =
         [](const Row& row) {
           return named("fit",
                        {{"strategy", "streaming"}, {"source", row.resident ? "resident" : "host"}},
                        row);
         },
     .metrics = stream_metrics});

const Family<Row> families::memory_budget = streamed_family(
    {.id =
         [](const Row& row) {
           return named("memory/budget", {{"limit", text(row.limit_mebibytes, "mib")}}, row);
         },
     .metrics =
         [](const Row& row) {
           std::vector<MetricDeclaration> all = stream_metrics(row);
           all.push_back({.name = "peak_over_limit", .kind = "bound", .devices = gpu});
           return all;
         }});

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
