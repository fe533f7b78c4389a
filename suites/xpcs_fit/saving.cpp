// SPDX-License-Identifier: Apache-2.0
// The families of what a long fit does beside fitting: it saves where it is, and tells how far.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "families/invariants.hpp"
#include "harness/measure/session.hpp"
#include "runtime/base/error.hpp"
#include "xpcs_fit/fit_oracles.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/problem/words.hpp"
#include "xpcs_fit/row.hpp"
#include "xpcs_fit/stream/progress.hpp"
#include "xpcs_fit/streams.hpp"

namespace holdfast::xpcs_fit {
namespace {

constexpr int saves = 20;

Kinds the_host(const Row&) {
  return {"host"};
}

// As many bytes as the state of a fit with so many parameters and batches has.
std::size_t state_bytes(const Row& row) {
  constexpr std::size_t record = 3 * sizeof(int) + sizeof(bool) + sizeof(double), records = 100;
  const auto n = static_cast<std::size_t>(row.count);
  return 5 * sizeof(int) +
         8 * (static_cast<std::size_t>(fit_count(row.parameters)) + normal_count(row.parameters) +
              2 * n + 6) +
         n + record * records;
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Twenty saves, each from the handing over until it lies on the disk, its folder synced.
void measure_saving(const Row& row, Session& session) {
  const auto folder =
      std::filesystem::temp_directory_path() / text("holdfast_xpcs_fit_saves_", ::getpid());
  std::filesystem::remove_all(folder);
  std::string payload(state_bytes(row), '\0');
  for (std::size_t k = 0; k < payload.size(); ++k)
    payload[k] = static_cast<char>(k * 2654435761U >> 13);
  double stall = 0, differing = 0;
  {
    Checkpoints to(folder, "saving");
    for (int k = 0; k < saves; ++k) {
      payload.front() = static_cast<char>(k);
      std::string own = payload;
      stall = std::max(stall, seconds_of([&] { to.save(std::move(own)); }));
      to.drain();
    }
    differing = to.newest() == payload ? 0 : 1;
    std::vector<double> took = to.seconds();
    std::sort(took.begin(), took.end());
    session.read("save_p50_s", took[took.size() / 2]);
    session.read("save_p95_s", took[took.size() * 95 / 100]);
    session.read("save_max_s", took.back());
  }
  session.read("stall_s", stall);
  session.read("file_bytes", static_cast<double>(64 + payload.size()));
  session.check("what was saved last, to the bit", differing, less_than_one);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

// A fit in so many chunks, and one that tells of each.
std::unique_ptr<Computation> chunked(const Row& row, Backend& backend, bool tells) {
  const Problem problem = problem_of(row, true);
  const std::int64_t each = (problem.input->size.points() + row.count - 1) / row.count;
  StreamOptions options = {.batch = each, .settings = {.mode = StreamMode::plain}};
  if (tells) {
    // As to a terminal: each line is written when it is told.
    const auto out = std::make_shared<std::ofstream>("/dev/null");
    const auto progress = std::make_shared<Progress>(row.count, each, *out);
    options.settings.watch = [out, progress](const BatchRecord& record) {
      progress->done(record.pass, record.batch);
    };
  }
  return make_stream(backend, problem, options);
}

}  // namespace

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

const Family<Row> families::progress = {
    .id =
        [](const Row& row) {
          return id("xpcs_fit/progress", {{"chunks", row.count}}, "f64");
        },
    .devices = the_host,
    .reference = never,
    .make = [](const Row& row, Backend& backend, Variant) { return chunked(row, backend, true); },
    .work = [](const Row& row) { return work(Unit::converged_fit, size_of(row), row.options); },
    .oracle = [](const Row& row) { return fit_oracle(Unit::converged_fit, row); },
    .invariant = [](const Row&) { return repeats_itself(); },
    .more =
        [](const Row&, Steps& steps) {
          steps.rewritten = [](const Backend&, Variant) {
            return std::vector<std::string>{"result"};
          };
        },
    .derived = [](const Row& row) -> std::vector<Derived> {
      return {{.name = "progress_over_silent",
               .other = [=](Backend& backend) { return chunked(row, backend, false); },
               .form = Derived::Form::case_over_other,
               .kind = "bound"}};
    }};

}  // namespace holdfast::xpcs_fit
