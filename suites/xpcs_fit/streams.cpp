// SPDX-License-Identifier: Apache-2.0
// The families of streamed fits: in batches of 512 points of the flat order to count faults, in
// batches of whole rows, about 100000 points, to measure the cost of checking batches. On a dry
// device nothing is computed and so no batch fails: faults and resumed fits need one that executes.
#include "xpcs_fit/streams.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "families/invariants.hpp"
#include "families/protocols.hpp"
#include "harness/measure/session.hpp"
#include "runtime/base/error.hpp"
#include "xpcs_fit/fit_oracles.hpp"
#include "xpcs_fit/row.hpp"

namespace holdfast::xpcs_fit {
namespace {

// Saved where the row says, and given up below the row's success rate.
StreamOptions saved(const Row& row, StreamOptions options) {
  options.settings.checkpoint_frequency = row.checkpoint_frequency;
  options.settings.least_success_rate = row.least_success_rate;
  options.folder = row.checkpoint_folder;
  return options;
}

// In the order of the published counts, on any device.
std::unique_ptr<Computation> streamed(const Row& row, Backend& backend) {
  StreamOptions options = {.order = BatchOrder::flat};
  options.settings.faults.probability = row.probability;
  if (row.permanent >= 0) options.settings.faults.permanent = {row.permanent};
  return make_stream(backend, problem_of(row, true), saved(row, options));
}

// The slowdown by planted faults. Measured at night: a fit in the gate has its counts.
std::vector<Derived> beside_calm(const Row& row) {
  const bool is_calm = row.probability == 0 && row.permanent < 0;
  if (is_calm || row.tier < Tier::full) return {};
  Row calm = row;
  calm.probability = 0;
  calm.permanent = -1;
  calm.checkpoint_folder.clear();  // it holds the files of a single fit
  Derived ratio = over("faulted_over_calm", calm, Derived::Form::case_over_other);
  ratio.kind = "bound";
  return {ratio};
}

// The work of one step: that of all passes the fit takes.
Work work_of(const Row& row) {
  return work(Unit::converged_fit, size_of(row), row.options);
}

// A stream of 8 passes by rows, checked as the row says.
std::unique_ptr<Computation> by_rows(const Row& row, Backend& backend) {
  StreamOptions options;
  options.batch = 100000;
  options.passes = accounted_passes;
  options.order = BatchOrder::rows;
  options.settings.mode = row.mode;
  if (row.mode != StreamMode::plain) options = saved(row, options);
  return make_stream(backend, problem_of(row, backend.executes()), options);
}

namespace fs = std::filesystem;

struct Stopped {};

// Changes a byte of the newest file's payload.
void spoil_newest(const fs::path& folder) {
  fs::path newest;
  for (const auto& entry : fs::directory_iterator(folder)) newest = std::max(newest, entry.path());
  if (newest.empty()) return;
  std::fstream file(newest, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(100);
  const int byte = file.get();
  file.seekp(100);
  file.put(static_cast<char>(byte ^ 1));
}

// A batch of a pass.
struct Place {
  int pass = 0, batch = 0;
};

// What became of a streamed fit: if it was stopped, only the batches that it made.
struct Outcome {
  bool stopped = false;
  int batches = 0;
  double skipped_files = 0;         // checkpoints that it could not resume from
  std::vector<double> values = {};  // its result and its statistics
};

Outcome outcome(Backend& backend, const Problem& problem, StreamOptions options,
                std::optional<Place> stop = {}) {
  Outcome found;
  options.settings.watch = [&](const BatchRecord& record) {
    ++found.batches;
    if (stop && record.pass == stop->pass && record.batch == stop->batch) throw Stopped{};
  };
  try {
    const auto fit = make_stream(backend, problem, options);
    fit->step();
    found.values = fit->result();
    for (const NamedReading& one : fit->readings())
      if (one.name == "skipped_files")
        found.skipped_files = one.value;
      else
        found.values.push_back(one.value);
  } catch (const Stopped&) {  // not an error: the intended stop
    found.stopped = true;
  }
  return found;
}

// Each fit is stopped at its first checkpoint, resumed and stopped again: a fit that ends writes
// the checkpoint that is pending, so at least two are there whatever the disk takes. The newest is
// spoilt. Resumed from another one, the fit must make fewer batches than one that was not stopped,
// and end with the same bits; to begin anew would end with them, too.
void measure_resume(const Row& row, Session& session) {
  constexpr Place first_checkpoint = {0, 9}, stops[] = {{1, 7}, {2, 11}, {4, 1}};
  const Problem problem = problem_of(row, true);
  const StreamOptions plain = {.order = BatchOrder::flat,
                               .settings = {.faults = {.probability = 0.05}}};
  const Outcome calm = outcome(session.open(), problem, plain);
  double resumed = 0, skipped = 0, differing = 0;
  for (const Place& stop : stops) {
    const TemporaryFolder folder;
    StreamOptions options = plain;
    options.folder = folder.path();
    options.settings.checkpoint_frequency = row.checkpoint_frequency;
    const Outcome begun = outcome(session.open(), problem, options, first_checkpoint);
    options.resume = true;
    const Outcome stopped = outcome(session.open(), problem, options, stop);
    spoil_newest(folder.path());
    const Outcome over = outcome(session.open(), problem, options);
    resumed += begun.stopped && stopped.stopped && over.batches < calm.batches;
    skipped += over.skipped_files;
    differing += over.values.size() != calm.values.size();
    for (std::size_t k = 0; k < std::min(calm.values.size(), over.values.size()); ++k)
      differing += over.values[k] != calm.values[k];
  }
  session.read("resumed", resumed);
  session.read("skipped_files", skipped);
  session.read("differing_values", differing);
  const auto wanted = static_cast<double>(std::size(stops));
  session.check("fits that went on where they were saved", wanted - resumed, less_than_one);
  session.check("one spoilt file for each of them", std::abs(wanted - skipped), less_than_one);
  session.check("the fit that was not stopped, to the bit", differing, less_than_one);
}

}  // namespace

const Family<Row> families::stream_resume = {
    .id =
        [](const Row& row) {
          return id("xpcs_fit/stream/resume", {{"size", size_words.of(row.size)}}, "f64");
        },
    .devices = [](const Row&) { return executing; },
    .reference = never,
    .metrics = [](const Row&) -> std::vector<MetricDeclaration> {
      return {
          {.name = "resumed", .kind = "exact", .better = Better::same, .devices = executing},
          {.name = "skipped_files", .kind = "exact", .better = Better::same, .devices = executing},
          {.name = "differing_values", .kind = "exact", .devices = executing}};
    },
    .protocol = measure_resume,
    .limit = [](const Row&) { return less_than_one; }};

const Family<Row> families::stream_faults = {
    .id =
        [](const Row& row) {
          return id("xpcs_fit/stream/faults",
                    {{"probability", text(row.probability)},
                     {"permanent", row.permanent < 0 ? "none" : text(row.permanent)}},
                    "f64");
        },
    .devices = [](const Row&) { return executing; },  // elsewhere no sum shows a fault
    .reference = never,
    .metrics =
        [](const Row&) {
          std::vector<MetricDeclaration> all = {{.name = "pull_max", .kind = "bound"}};
          for (const std::string name : {"passes", "n_batches", "batches", "attempts", "faults",
                                         "recovered", "failed", "success_rate", "points"})
            all.push_back({.name = name, .kind = "exact", .better = Better::same});
          return all;
        },
    .make = [](const Row& row, Backend& backend, Variant) { return streamed(row, backend); },
    .work = work_of,
    .oracle =
        [](const Row& row) {
          const std::int64_t batch = StreamOptions{}.batch;
          if (row.permanent < 0) return fit_oracle(Unit::converged_fit, row);
          return fit_oracle(Unit::converged_fit, row, {row.permanent * batch, batch});
        },
    .invariant = [](const Row&) { return repeats_itself(); },
    .chained = never,
    .more =
        [](const Row& row, Steps& steps) {
          steps.rewritten = always({"result"});
          steps.read = [=](const Verified& found) -> std::vector<NamedReading> {
            return {{"passes", found.result[1]}, {"pull_max", largest_pull(row, found.result)}};
          };
        },
    .derived = beside_calm};

const Family<Row> families::stream_overhead = {
    .id =
        [](const Row& row) {
          return id("xpcs_fit/stream/overhead",
                    {{"mode", stream_mode_words.of(row.mode)}, {"size", size_words.of(row.size)}},
                    "f64");
        },
    .reference = never,
    .make = [](const Row& row, Backend& backend, Variant) { return by_rows(row, backend); },
    .work = [](const Row& row) { return work(Unit::fit, size_of(row), row.options); },
    .oracle = [](const Row& row) { return fit_oracle(Unit::fit, row); },
    .invariant = [](const Row&) { return repeats_itself(); },
    .chained = never,
    .more = [](const Row&, Steps& steps) { steps.rewritten = always({"result"}); },
    .derived = [](const Row& row) -> std::vector<Derived> {
      if (row.mode == StreamMode::plain || row.size == NamedSize::t) return {};
      Row plain = row;
      plain.mode = StreamMode::plain;
      return {{.name = text(stream_mode_words.of(row.mode), "_over_plain"),
               .other = [=](Backend& backend) { return by_rows(plain, backend); },
               .form = Derived::Form::case_over_other,
               .kind = "bound"}};
    }};

}  // namespace holdfast::xpcs_fit
