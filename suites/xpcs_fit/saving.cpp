// SPDX-License-Identifier: Apache-2.0
// The families of a long fit's other work: saving its state, reporting progress, and holding as
// much memory at the end as at the beginning.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "families/invariants.hpp"
#include "families/protocols.hpp"
#include "harness/machine/host_memory.hpp"
#include "harness/measure/session.hpp"
#include "harness/measure/timing.hpp"
#include "runtime/base/error.hpp"
#include "runtime/count/heap.hpp"
#include "xpcs_fit/data/data.hpp"
#include "xpcs_fit/fit_oracles.hpp"
#include "xpcs_fit/nearest_rank.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/row.hpp"
#include "xpcs_fit/strategies.hpp"
#include "xpcs_fit/stream/progress.hpp"
#include "xpcs_fit/streams.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr int saves = 20;

Kinds the_host(const Row&) {
  return {"host"};
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return seconds_since(begin);
}

// With as many parameters as the row says: if these exceed laminar flow with one contrast and
// offset, angles have their own.
Problem problem_to_save(const Row& row) {
  Options options = {.mode = row.parameters == 5 ? Mode::at_rest : Mode::laminar};
  const int angles = (row.parameters - local_parameters(options.mode) + 2) / 2;
  if (angles > 1) options.scaling = Scaling::per_angle;
  return {make_input({.size = {angles, 8}, .sized_only = true}, options), options};
}

// Batches that cost nothing to compute and never move a fit.
class Standing final : public Batches {
 public:
  explicit Standing(const Row& row) : count_(row.count), normal_(normal_count(row.parameters), 1) {}

  int count() const override { return count_; }
  int slots() const override { return 1; }
  std::int64_t points(int) const override { return 1000; }
  void begin(int, int, bool, const std::vector<double>&) override {}
  const double* finish(int) override { return normal_.data(); }

 private:
  int count_;
  std::vector<double> normal_;
};

// A fit in the middle of a pass, after as many batches as are recorded.
StreamedFit fit_to_save(const Row& row, Batches& batches) {
  struct Stopped {};
  const auto enough = static_cast<int>(StreamStatistics::kept_records);
  StreamSettings settings;
  settings.watch = [left = enough](const BatchRecord&) mutable {
    if (--left == 0) throw Stopped{};
  };
  StreamedFit fit(problem_to_save(row), enough, batches, settings);
  try {
    fit.run();
  } catch (const Stopped&) {  // not an error: the intended stop
  }
  return fit;
}

// Twenty saves of such a fit: the time it stops to pack its state and hand it over; and the time
// until the file is on the disk, its folder synced.
void measure_saving(const Row& row, Session& session) {
  const TemporaryFolder folder;
  Standing batches(row);
  const StreamedFit fit = fit_to_save(row, batches);
  double stall = 0, differing = 0;
  std::size_t bytes = 0;
  {
    Checkpoints to(folder.path(), "saving");
    for (int k = 0; k < saves; ++k) {
      stall = std::max(stall, seconds_of([&] { to.save(fit.saved(k)); }));
      to.drain();
    }
    const std::string last = fit.saved(saves - 1);
    bytes = last.size();
    differing = to.newest() == last ? 0 : 1;
    const std::vector<double> took = to.seconds();
    session.read("save_p50_s", median(took));
    session.read("save_p95_s", nearest_rank(took, 95));
    session.read("save_max_s", nearest_rank(took, 100));
  }
  session.read("stall_s", stall);
  session.read("file_bytes", static_cast<double>(64 + bytes));
  session.check("what was saved last, to the bit", differing, less_than_one);
}

// A fit of 8 passes over row.count chunks of rows, the last of which may be shorter.
StrategyOptions in_chunks(const Row& row, std::function<void(int, int)> told) {
  const Size size = size_of(row);
  const std::int64_t rows = (size.frames + row.count - 1) / row.count;
  return {.strategy = Strategy::chunked,
          .chunk = rows * size.angles * size.frames,
          .told = std::move(told)};
}

std::unique_ptr<Computation> silent(const Row& row, Backend& backend) {
  return make_fit(backend, Variant::optimized, problem_of(row, backend.executes()),
                  in_chunks(row, {}));
}

// A fit that reports each chunk as to a terminal: each line is written at once.
class Telling final : public Computation {
 public:
  Telling(const Row& row, Backend& backend)
      : progress_(row.count, in_chunks(row, {}).chunk, out_, clock(row)),
        fit_(make_fit(backend, Variant::optimized, problem_of(row, backend.executes()),
                      in_chunks(row, [this](int pass, int chunk) { tell(pass, chunk); }))) {}

  void step() override {
    ++steps_;
    fit_->step();
    progress_.end();
  }
  std::vector<double> result() override { return fit_->result(); }
  // Chunks and lines of a step. Waits for a device, so that everything is reported.
  std::vector<NamedReading> readings() override {
    (void)fit_->result();
    const auto steps = static_cast<double>(steps_);
    return {{"chunks", static_cast<double>(told_) / steps},
            {"lines", static_cast<double>(progress_.lines()) / steps}};
  }

 private:
  // When instructions are counted, the clock is read but stands still, so every step has equally
  // many.
  static std::function<double()> clock(const Row& row) {
    if (!row.counted) return {};
    return [] {
      const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
      return now < 0 ? 1. : 0.;
    };
  }
  void tell(int pass, int chunk) {
    ++told_;
    progress_.done(pass, chunk);
  }

  std::ofstream out_{"/dev/null"};
  Progress progress_;
  std::int64_t steps_ = 0, told_ = 0;
  std::unique_ptr<Computation> fit_;  // last: it reports to the others
};

double coefficient_of_variation(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0, square = 0;
  for (const double value : values) sum += value;
  const double mean = sum / n;  // exact if all are the same integer
  for (const double value : values) square += (value - mean) * (value - mean) / n;
  return std::sqrt(square) / mean;
}

// How much more the second half of the readings holds at least than the first: a batch that is read
// ahead at the one reading and not at the other is none.
double growth(const std::vector<double>& all) {
  if (all.size() < 2) return 0;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  return std::max(0.0,
                  *std::min_element(middle, all.end()) - *std::min_element(all.begin(), middle));
}

// The memory held after each batch except the first three, by the device, by the process, and by
// its C++ code, of which a batch is too little to show in the process.
void measure_memory_of_batches(const Row& row, Session& session) {
  constexpr std::size_t settling = 3, most = 1 << 12;
  Backend& backend = session.open();
  const Problem problem = problem_of(row, session.executes());
  std::vector<double> held, resident, heap;
  for (std::vector<double>* each : {&held, &resident, &heap}) each->reserve(most);
  const HostMemoryWatch process;
  StreamOptions options;
  options.batch = points_of(row) / row.count;
  options.passes = session.executes() ? 0 : accounted_passes;
  options.order = BatchOrder::rows;
  std::optional<HeapWatch> own;
  options.settings.watch = [&](const BatchRecord&) {
    heap.push_back(static_cast<double>(own->held_bytes()));
    held.push_back(static_cast<double>(backend.ledger.live_bytes));
    if (const auto now = process.reading()) resident.push_back(static_cast<double>(now->after));
  };
  const auto fit = make_stream(backend, problem, options);
  own.emplace();
  fit->step();
  own.reset();
  const auto settled = [&](const std::vector<double>& all) {
    return std::vector<double>(
        all.begin() + static_cast<std::ptrdiff_t>(std::min(settling, all.size())), all.end());
  };
  const auto peak = static_cast<double>(backend.ledger.peak_bytes);
  session.read("peak_bytes", peak);
  session.read("estimate_ratio",
               peak / static_cast<double>(estimate_stream_bytes(backend, problem, options)));
  session.read(backend.device ? "device_cv" : "rss_cv",
               coefficient_of_variation(settled(backend.device ? held : resident)));
  session.read("heap_growth_bytes", growth(settled(heap)));
  if (!session.executes()) return;
  const auto whole = make(Unit::converged_fit, backend, Variant::optimized, problem);
  whole->step();
  session.check("the fit of all data at once", pulls_apart(fit->result(), whole->result()),
                most_apart);
}

}  // namespace

const Family<Row> families::stream_memory = {
    .id =
        [](const Row& row) {
          return id("xpcs_fit/stream/memory",
                    {{"batches", row.count}, {"batch", text(points_of(row) / row.count)}}, "f64");
        },
    .reference = never,
    .metrics = [](const Row&) -> std::vector<MetricDeclaration> {
      return {{.name = "peak_bytes", .kind = "exact"},
              {.name = "estimate_ratio", .kind = "bound"},
              {.name = "heap_growth_bytes", .kind = "bound"},
              {.name = "device_cv", .kind = "exact", .devices = gpu},
              {.name = "rss_cv", .kind = "bound", .devices = {"host"}}};
    },
    .protocol = measure_memory_of_batches,
    .limit = [](const Row&) { return most_apart; }};

const Family<Row> families::stream_checkpoint = {
    .id =
        [](const Row& row) {
          return id("xpcs_fit/stream/checkpoint",
                    {{"parameters", row.parameters}, {"batches", row.count}}, "f64");
        },
    .devices = the_host,
    .reference = never,
    .metrics = [](const Row&) -> std::vector<MetricDeclaration> {
      return {{.name = "save_p50_s", .devices = {"host"}},
              {.name = "save_p95_s", .kind = "bound", .devices = {"host"}},
              {.name = "save_max_s", .kind = "bound", .devices = {"host"}},
              {.name = "stall_s", .devices = {"host"}},
              {.name = "file_bytes", .kind = "exact", .devices = {"host"}}};
    },
    .protocol = measure_saving,
    .limit = [](const Row&) { return less_than_one; }};

namespace {

// 24 chunks, reported or not.
constexpr Family<Row> chunked(Family<Row> family) {
  family.reference = never;
  family.work = [](const Row& row) { return work(Unit::fit, size_of(row), row.options); };
  family.oracle = [](const Row& row) { return fit_oracle(Unit::fit, row); };
  family.invariant = [](const Row&) { return repeats_itself(); };
  family.chained = never;
  family.more = [](const Row&, Steps& steps) { steps.rewritten = always({"result"}); };
  return family;
}

}  // namespace

const Family<Row> families::progress = chunked(
    {.id =
         [](const Row& row) {
           std::vector<Axis> axes = {{"chunks", row.count}};
           if (row.size != NamedSize::s) axes.emplace_back("size", size_words.of(row.size));
           return id("xpcs_fit/progress", axes, "f64");
         },
     .metrics = [](const Row&) -> std::vector<MetricDeclaration> {
       return {{.name = "chunks", .kind = "exact", .better = Better::same}, {.name = "lines"}};
     },
     .make = [](const Row& row, Backend& backend, Variant) -> std::unique_ptr<Computation> {
       return std::make_unique<Telling>(row, backend);
     },
     .derived = [](const Row& row) -> std::vector<Derived> {
       if (row.size == NamedSize::t) return {};
       return {{.name = "progress_over_silent",
                .other = [=](Backend& backend) { return silent(row, backend); },
                .form = Derived::Form::case_over_other,
                .kind = "bound"}};
     }});

const Family<Row> families::silence = chunked(
    {.id =
         [](const Row& row) {
           return id("xpcs_fit/progress/silent",
                     {{"chunks", row.count}, {"size", size_words.of(row.size)}}, "f64");
         },
     .make = [](const Row& row, Backend& backend, Variant) { return silent(row, backend); }});

}  // namespace holdfast::xpcs_fit
