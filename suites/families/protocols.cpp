// SPDX-License-Identifier: Apache-2.0
#include "families/protocols.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "harness/measure/account.hpp"
#include "runtime/base/error.hpp"
#include "runtime/compile/program_cache.hpp"

namespace holdfast {
namespace {

constexpr Variant both[] = {Variant::optimized, Variant::reference};

// Seconds of a first call, excluding the destruction of what it made.
double first_call_seconds(Session& session, Backend& backend, const Make& make,
                          std::unique_ptr<Computation>& made) {
  return session.seconds_until_done(backend, [&] {
    made = make(backend);
    made->step();
  });
}

// Reads the number of programs compiled beyond `programs`.
void read_steady(Session& session, const Backend& backend, std::int64_t programs,
                 Variant variant = Variant::optimized) {
  session.read("compile_steady", static_cast<double>(backend.ledger.counts.programs - programs),
               variant);
}

std::vector<MetricDeclaration> joined(std::vector<MetricDeclaration> all,
                                      const std::vector<MetricDeclaration>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

TemporaryFolder::TemporaryFolder() : NewFolder(temporary_place() / "holdfast.") {
  if (error() != 0)
    throw Error(Fault::bad_input, text("cannot make a folder like ", path().string(), " (",
                                       std::strerror(error()), "); name a place in TMPDIR"));
}

std::vector<double> check(Session& session, const Oracle& oracle, Computation& computation) {
  if (!session.executes()) return {};
  std::vector<double> result = computation.result();
  session.check(oracle.name, error_of(oracle, result, oracle.expected(1)), oracle.limit);
  return result;
}

FirstCall compile(Session& session, const Make& make,
                  const std::function<void(const FirstCall&)>& again) {
  FirstCall first = {.backend = session.open(), .computation = nullptr};
  Backend& backend = first.backend;
  backend.compiler->bypass_caches();
  session.read("first_call_s", first_call_seconds(session, backend, make, first.computation));
  session.read_compilation(backend);
  const std::int64_t programs = backend.ledger.counts.programs;
  again(first);
  read_steady(session, backend, programs);
  return first;
}

std::vector<MetricDeclaration> compile_metrics() {
  return {{.name = "first_call_s", .devices = gpu},
          {.name = "trace_s", .devices = gpu},
          {.name = "lower_s", .devices = gpu},
          {.name = "compile_s", .devices = gpu},
          {.name = "load_s", .devices = gpu},
          {.name = "compile_warm", .kind = "exact", .devices = gpu},
          {.name = "compile_steady", .kind = "exact", .devices = gpu},
          {.name = "nvrtc_runs", .devices = gpu}};
}

void warm_first_call(Session& session, const Make& make) {
  const TemporaryFolder folder;
  const ProgramsKeptIn kept(folder.path());
  std::int64_t compiled = 0;
  const auto first_seconds = [&] {
    Backend& fresh = session.open();
    std::unique_ptr<Computation> made;
    const double seconds = first_call_seconds(session, fresh, make, made);
    compiled = fresh.ledger.counts.nvrtc_runs;
    return seconds;
  };
  (void)first_seconds();
  session.read("warm_first_call_s", first_seconds());
  session.read("warm_nvrtc_runs", static_cast<double>(compiled));
}

void read_slowest_program(Session& session, const Backend& backend) {
  double slowest = 0;
  for (const auto& program : backend.compiler->programs())
    slowest = std::max(slowest, program->seconds.lower + program->seconds.compile);
  session.read("slowest_program_s", slowest);
}

void declare_warm_first_call(std::vector<MetricDeclaration>& metrics,
                             const std::string& kind_of_seconds) {
  metrics.push_back({.name = "warm_first_call_s", .kind = kind_of_seconds, .devices = gpu});
  metrics.push_back({.name = "warm_nvrtc_runs", .kind = "bound", .devices = gpu});
}

void shape_change(Session& session, const Steps& first, const std::vector<Steps>& others) {
  Backend& backend = session.open();
  first.make(backend, Variant::optimized)->step();
  const std::int64_t programs = backend.ledger.counts.programs;
  session.read("compile_warm", static_cast<double>(programs));
  for (const Steps& next : others) {
    const auto computation = next.make(backend, Variant::optimized);
    computation->step();
    check(session, next.oracle, *computation);
  }
  read_steady(session, backend, programs);
}

std::vector<MetricDeclaration> shape_change_metrics(const Kinds& devices,
                                                    const std::vector<MetricDeclaration>& more) {
  return joined({{.name = "compile_warm", .kind = "exact", .devices = devices},
                 {.name = "compile_steady", .kind = "exact", .devices = devices}},
                more);
}

std::int64_t checked_step(Session& session, const Steps& steps) {
  Backend& backend = session.open();
  const auto computation = steps.make(backend, Variant::optimized);
  spoil_rewritten(steps, backend, Variant::optimized);
  const std::int64_t before = backend.ledger.counts.launches;
  computation->step();
  const std::int64_t launches = backend.ledger.counts.launches - before;
  check(session, steps.oracle, *computation);
  return launches;
}

void in_turn(Session& session, const std::vector<Turn>& turns) {
  for (const Variant variant : both) {
    Backend& backend = session.open();
    std::vector<std::unique_ptr<Computation>> made;
    for (const Turn& turn : turns) made.push_back(turn.steps.make(backend, variant));
    std::int64_t programs = 0;
    bool allclose = true;
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < turns.size(); ++i) {
        spoil_rewritten(turns[i].steps, backend, variant);
        made[i]->step();
        const std::vector<double> result = check(session, turns[i].steps.oracle, *made[i]);
        if (session.executes()) allclose = turns[i].allclose(result) && allclose;
      }
      if (round == 0) programs = backend.ledger.counts.programs;
    }
    if (session.executes()) session.read("allclose", allclose, variant);
    if (backend.compiler) read_steady(session, backend, programs, variant);
  }
}

std::vector<MetricDeclaration> turn_metrics(const Kinds& compiling) {
  return {{.name = "allclose", .kind = "bound", .better = Better::higher, .devices = executing},
          {.name = "compile_steady", .kind = "exact", .devices = compiling}};
}

void memory(Session& session, const Memory& what) {
  for (const Variant variant : both) {
    Backend& backend = session.open();
    const auto computation = what.make(backend, variant);
    what.live(backend, variant, *computation);
    const auto peak = static_cast<double>(backend.ledger.peak_bytes);
    session.read("peak_bytes", peak, variant);
    session.read("rule_of_thumb_ratio", peak / what.rule_of_thumb_bytes, variant);
    if (const auto estimate = what.estimate(backend, variant, *computation))
      session.read("estimate_ratio", peak / *estimate, variant);
  }
}

std::vector<MetricDeclaration> memory_metrics(const std::vector<MetricDeclaration>& more) {
  return joined({{.name = "peak_bytes", .kind = "exact"},
                 {.name = "estimate_ratio", .kind = "bound"},
                 {.name = "rule_of_thumb_ratio", .kind = "bound"}},
                more);
}

}  // namespace holdfast
