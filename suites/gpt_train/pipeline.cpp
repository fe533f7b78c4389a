// SPDX-License-Identifier: Apache-2.0
// The data pipeline: fetch_batch, to_device, computation, one after the other, or with the next
// batch fetched during the computation by a separate thread.
#include <algorithm>
#include <cmath>
#include <memory>

#include "base/time.hpp"
#include "gpt_train/data/hash.hpp"
#include "gpt_train/oracles.hpp"
#include "gpt_train/row.hpp"
#include "gpt_train/stepped/fetching.hpp"
#include "harness/measure/session.hpp"
#include "runtime/backend/host_threads.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::gpt_train {
namespace {

constexpr int steps_of_a_sample = 4;

// The minimum of many short samples excludes disturbances. It is known after `enough` samples in a
// row without one that is lower by half a percent.
class Least {
 public:
  bool is_known() const { return samples_ >= most || in_vain_ >= enough; }
  void note(double seconds) {
    in_vain_ = seconds < 0.995 * seconds_ ? 0 : in_vain_ + 1;
    seconds_ = std::min(seconds_, seconds);
    ++samples_;
  }
  double seconds() const { return seconds_; }

 private:
  static constexpr int most = 32, enough = 8;
  double seconds_ = INFINITY;
  int samples_ = 0, in_vain_ = 0;
};

Row training_of(const Row& row) {
  return as(row.trained ? *row.trained : families::train_step, row);
}
double limit_of_batches(const Row& row) {
  return oracle_of(as(families::train_step, row)).limit;
}

// A training whose steps fetch with `rounds` rounds.
class Pipeline {
 public:
  Pipeline(Session& session, const Row& row, Fetching fetching)
      : session_(session), row_(training_of(row)), backend_(session.open()) {
    row_.options.fetching = fetching;
    const FewerThreads one(1);
    training_ = make(row_, backend_, Variant::optimized);
  }

  // Checks after as many steps as the oracle knows.
  void check() {
    run(warm_up_of(row_));
    check_after_warm_up(session_, row_, *training_);
  }
  // The seconds of one step.
  double seconds() {
    return session_.seconds_until_done(backend_, [&] { run(steps_of_a_sample); }) /
           steps_of_a_sample;
  }
  // The same without disturbances: on a host, the time that its one thread computes.
  double undisturbed_seconds() {
    Least least;
    while (!least.is_known()) {
      const double begun = thread_cpu_seconds(), waited = seconds();
      const double computed = (thread_cpu_seconds() - begun) / steps_of_a_sample;
      least.note(backend_.device ? waited : computed);
    }
    return least.seconds();
  }
  // Checks that each step so far has fetched correctly, to the last round.
  void check_rounds() {
    std::uint64_t expected = 0;
    for (std::int64_t step = 0; step < steps_; ++step)
      for (const int token : batch_of(row_.options, step).tokens) {
        std::uint64_t value = static_cast<std::uint64_t>(token);
        for (int k = 0; k < row_.options.fetching.rounds; ++k) value = mix64(value);
        expected += value;
      }
    const bool right = told("fetch_checksum") == double(expected & 0xffffffff);
    session_.check("a checksum of all rounds", right ? 0 : 1, limit_of_batches(row_));
  }
  double told(const std::string& name) {
    for (const NamedReading& reading : training_->readings())
      if (reading.name == name) return reading.value;
    throw Error(Fault::broken_rule, text("a pipeline does not tell its ", name));
  }
  const Shape& shape() const { return row_.options.shape; }
  Counts steady_step() { return session_.steady_step(backend_, *training_); }

 private:
  // A host computes on one thread, so that another is free for fetching.
  void run(int count) {
    const FewerThreads one(1);
    for (int k = 0; k < count; ++k) {
      training_->step();
      if (!row_.options.fetching.ahead && backend_.device) backend_.device->synchronize();
    }
    steps_ += count;
  }

  Session& session_;
  Row row_;
  Backend& backend_;
  std::unique_ptr<Computation> training_;
  std::int64_t steps_ = 0;
};

double fetch_seconds(const Row& row, int rounds) {
  Options options = row.options;
  options.fetching.rounds = rounds;
  const double begun = thread_cpu_seconds();
  for (int step = 0; step < steps_of_a_sample; ++step) (void)fetched(options, step);
  return (thread_cpu_seconds() - begun) / steps_of_a_sample;
}

// The rounds for which fetching takes half as long as computing.
int rounds_for(const Row& row, double compute_seconds) {
  constexpr int some = 64;
  const double none = fetch_seconds(row, 0), each = (fetch_seconds(row, some) - none) / some;
  return std::max(1, static_cast<int>((compute_seconds / 2 - none) / each));
}

bool is_ahead(const Row& row) {
  return row.options.fetching.ahead;
}

void read_counts(Session& session, Pipeline& pipeline) {
  const Counts step = pipeline.steady_step();
  session.read("h2d_bytes", double(step.h2d_bytes));
  session.read("d2h_bytes", double(step.d2h_bytes));
  session.read("upload_ratio", double(step.h2d_bytes) / batch_bytes(pipeline.shape()));
  if (session.executes()) return;
  session.read("syncs", double(step.syncs));
  session.read("host_launches", double(step.host_launches));
  session.read("transfers", double(step.transfers));
  session.read("polls", double(step.polls));
  session.read("pageable_bytes", double(step.pageable_bytes));
  session.read("exposed_bytes", double(step.h2d_bytes + step.d2h_bytes - step.hidden_bytes));
}

void one_after_the_other(const Row& row, Session& session, double fetch, int rounds) {
  Pipeline series(session, row, {.ahead = false, .rounds = rounds});
  series.check();
  if (session.executes()) {
    const double step = series.seconds();
    session.read("step_s", step);
    session.read("data_wait_fraction", fetch / step);
    series.check_rounds();
  }
  if (is_for_device(row)) read_counts(session, series);
}

void side_by_side(const Row& row, Session& session, double compute, double fetch, int rounds) {
  Pipeline series(session, row, {.ahead = false, .rounds = rounds}),
      ahead(session, row, {.ahead = true, .rounds = rounds});
  ahead.check();
  if (session.executes()) {
    series.check();
    // Alternately; disturbances only add time, so the minimum counts.
    Least apart, beside;
    double all = 0;
    const double waited = ahead.told("data_wait_s");
    while (!apart.is_known() || !beside.is_known()) {
      apart.note(series.seconds());
      const double step = ahead.seconds();
      beside.note(step);
      all += step * steps_of_a_sample;
    }
    session.read("step_s", beside.seconds());
    session.read("overlap_efficiency",
                 (apart.seconds() - beside.seconds()) / std::min(fetch, compute));
    session.read("data_wait_fraction", (ahead.told("data_wait_s") - waited) / all);
    for (Pipeline* each : {&series, &ahead}) each->check_rounds();
  }
  if (is_for_device(row)) read_counts(session, ahead);
}

void fetch_and_train(const Row& row, Session& session) {
  double compute = 0, fetch = 0;
  int rounds = 1;
  if (session.executes()) {
    Pipeline computing(session, row, {.ahead = false, .rounds = 1});
    computing.check();
    compute = computing.undisturbed_seconds() - fetch_seconds(row, 1);
    rounds = rounds_for(row, compute);
    fetch = fetch_seconds(row, rounds);
    session.read("fetch_rounds", rounds);
  }
  if (is_ahead(row))
    side_by_side(row, session, compute, fetch, rounds);
  else
    one_after_the_other(row, session, fetch, rounds);
}

}  // namespace

const Family<Row> families::data_pipeline = {
    .id =
        [](const Row& row) {
          return named("data_pipeline", row, {{"overlap", int(is_ahead(row))}});
        },
    .devices = kinds_of,
    .reference = never,
    .metrics =
        [](const Row& row) {
          std::vector<MetricDeclaration> all = {
              {.name = "step_s", .devices = executing},
              {.name = "data_wait_fraction", .devices = executing},
              {.name = "fetch_rounds", .better = Better::same, .devices = executing}};
          if (is_ahead(row))
            all.push_back({.name = "overlap_efficiency",
                           .kind = "bound",
                           .better = Better::higher,
                           .devices = executing});
          if (!is_for_device(row)) return all;
          all.push_back({.name = "upload_ratio", .kind = "bound", .devices = gpu});
          for (const char* bytes : {"h2d_bytes", "d2h_bytes"})
            all.push_back({.name = bytes, .kind = "exact", .devices = gpu});
          // What a step that fetches ahead must not wait for shows in these alone.
          for (const char* count :
               {"syncs", "host_launches", "transfers", "polls", "pageable_bytes", "exposed_bytes"})
            all.push_back({.name = count, .kind = "exact", .devices = {"cuda-dry"}});
          return all;
        },
    .expected = tells_its_loss,
    .protocol = fetch_and_train,
    .limit = limit_of_batches};

}  // namespace holdfast::gpt_train
