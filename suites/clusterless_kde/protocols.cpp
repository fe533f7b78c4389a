// SPDX-License-Identifier: Apache-2.0
// The cases that are no repeated step: what the first call, compiling and memory cost.
#include <algorithm>
#include <utility>
#include <vector>

#include "clusterless_kde/oracles.hpp"
#include "clusterless_kde/row.hpp"
#include "harness/measure/account.hpp"
#include "harness/measure/measure.hpp"
#include "harness/measure/session.hpp"
#include "runtime/compile/program_cache.hpp"

namespace holdfast::clusterless_kde {
namespace {

const std::vector<std::string> gpu = {"cuda", "cuda-dry"};

// Encoding and decoding: all that a configuration compiles.
Row whole(Row row) {
  row.family = Family::total;
  return row;
}

void check(const Row& row, Computation& computation, Session& session) {
  if (!session.executes()) return;
  const Oracle known = oracle(row, std::make_shared<Found>());
  session.check(known.name, error_of(known, computation.result(), known.expected(1)), known.limit);
}

void read_resources(const Backend& backend, Session& session) {
  int registers = 0, spills = 0, shared = 0;
  double slowest = 0;
  for (const auto& program : backend.compiler->programs()) {
    slowest = std::max(slowest, program->seconds.lower + program->seconds.compile);
    for (const Function& function : program->functions) {
      registers = std::max(registers, function.registers);
      shared = std::max(shared, function.shared_bytes);
      spills += function.spill_bytes;
    }
  }
  session.read("slowest_program_s", slowest);
  session.read("registers_max", registers);
  session.read("spill_bytes", spills);
  session.read("shared_bytes", shared);
}

// Every cache is bypassed for the first use; then the same call again, which compiles nothing. Then
// a first call on a fresh backend, as a new process makes it: all programs come from the disk
// cache, or from the process's memo where there is none.
void first_call(const Row& row, Session& session) {
  Backend& backend = session.open();
  backend.compiler->bypass_caches();
  std::unique_ptr<Computation> made;
  session.read("first_call_s", session.seconds_until_done(backend, [&] {
    made = make(whole(row), backend, Variant::optimized);
    made->step();
  }));
  session.read_compilation(backend);
  read_resources(backend, session);
  const std::int64_t programs = backend.ledger.counts.programs;
  const double seconds = session.seconds_until_done(backend, [&] { made->step(); });
  session.read("compile_steady", static_cast<double>(backend.ledger.counts.programs - programs));
  check(whole(row), *made, session);
  if (row.family == Family::matrix) return;
  if (session.executes()) session.read("cached_call_s", seconds);
  std::int64_t compiled = 0;
  const auto first_seconds = [&] {
    Backend& fresh = session.open();
    std::unique_ptr<Computation> again;  // whose end is not part of its first call
    const double spent = session.seconds_until_done(fresh, [&] {
      again = make(whole(row), fresh, Variant::optimized);
      again->step();
    });
    compiled = fresh.ledger.counts.nvrtc_runs;
    return spent;
  };
  (void)first_seconds();  // fills the caches, which the first use did not
  forget_cached_programs();
  double warm = first_seconds();
  if (compiled > 0) warm = first_seconds();
  session.read("warm_first_call_s", warm);
}

// What a program must not depend on: how many spikes each electrode has, how many places and rows
// there are. The inputs take turns, so that each must be computed anew.
void shape_change(const Row& row, Session& session) {
  Row other_spikes = whole(row), other_places = whole(row), fewer = whole(row);
  ++other_spikes.recipe.seed;
  other_places.recipe.bins = static_cast<int>(shape(row.recipe).bins) + 37;
  fewer.recipe.scale = 2;
  Backend& backend = session.open();
  make(whole(row), backend, Variant::optimized)->step();
  const std::int64_t programs = backend.ledger.counts.programs;
  session.read("compile_warm", static_cast<double>(programs));
  for (const Row& next : {other_spikes, whole(row), other_places, fewer, other_spikes}) {
    const auto computation = make(next, backend, Variant::optimized);
    computation->step();
    check(next, *computation, session);
  }
  session.read("compile_steady", static_cast<double>(backend.ledger.counts.programs - programs));
}

// Two inputs of unlike shape take turns, so that nothing of one may be taken for the other's, and
// each result is spoilt before it is computed anew.
void in_turn(const Row& row, Session& session) {
  Row other = whole(row);
  ++other.recipe.seed;
  for (const Variant variant : {Variant::optimized, Variant::reference}) {
    Backend& backend = session.open();
    std::vector<std::pair<Row, std::unique_ptr<Computation>>> both;
    for (const Row& each : {whole(row), other})
      both.emplace_back(each, make(each, backend, variant));
    std::int64_t programs = 0;
    double allclose = 1;
    for (int turn = 0; turn < 3; ++turn) {
      for (const auto& [each, computation] : both) {
        spoil_each(backend, rewritten(each, backend, variant));
        computation->step();
        check(each, *computation, session);
        if (!session.executes()) continue;
        for (const auto& [name, value] : comparison(each, computation->result()))
          if (name == "allclose") allclose = std::min(allclose, value);
      }
      if (turn == 0) programs = backend.ledger.counts.programs;
    }
    if (session.executes()) session.read("allclose", allclose, variant);
    if (backend.compiler)
      session.read("compile_steady", static_cast<double>(backend.ledger.counts.programs - programs),
                   variant);
  }
}

// The high-water mark of a model and a decode, result read back, against what was planned and
// against the published rule of thumb.
void memory(const Row& row, Session& session) {
  for (const Variant variant : {Variant::optimized, Variant::reference}) {
    Backend& backend = session.open();
    const auto computation = make(row, backend, variant);
    computation->step();
    check(row, *computation, session);
    if (!session.executes()) (void)computation->result();
    const auto peak = static_cast<double>(backend.ledger.peak_bytes);
    const auto rule_of_thumb = static_cast<double>(rule_of_thumb_bytes(shape(row.recipe)));
    session.read("peak_bytes", peak, variant);
    session.read("bytes_in_use", static_cast<double>(backend.ledger.live_bytes), variant);
    session.read("rule_of_thumb_bytes", rule_of_thumb, variant);
    session.read("rule_of_thumb_ratio", peak / rule_of_thumb, variant);
    if (backend.device)
      session.read("launches",
                   static_cast<double>(session.steady_step(backend, *computation).launches),
                   variant);
    if (variant == Variant::reference) continue;
    const auto planned =
        static_cast<double>(plan(backend, input_of(row.recipe), row.options).estimate_bytes);
    session.read("estimate_bytes", planned);
    session.read("estimate_ratio", peak / planned);
  }
}

std::vector<MetricDeclaration> metrics_of(const Row& row) {
  const std::vector<MetricDeclaration> compilation = {
      {.name = "trace_s", .devices = gpu},
      {.name = "lower_s", .devices = gpu},
      {.name = "compile_s", .devices = gpu},
      {.name = "load_s", .devices = gpu},
      {.name = "compile_warm", .kind = "exact", .devices = gpu},
      {.name = "nvrtc_runs", .devices = gpu}};
  std::vector<MetricDeclaration> all;
  switch (row.family) {
    case Family::shape_change:
      return {{.name = "compile_warm", .kind = "exact", .devices = gpu},
              {.name = "compile_steady", .kind = "exact", .devices = gpu}};
    case Family::in_turn:
      return {{.name = "compile_steady", .kind = "exact", .devices = gpu},
              {.name = "allclose", .kind = "bound", .devices = {"host", "cuda"}}};
    case Family::first_call:
    case Family::matrix:
      all = compilation;
      all.insert(all.end(), {{.name = "first_call_s", .devices = gpu},
                             {.name = "compile_steady", .kind = "exact", .devices = gpu},
                             {.name = "slowest_program_s", .devices = gpu},
                             {.name = "registers_max", .kind = "codegen", .devices = gpu},
                             {.name = "spill_bytes", .kind = "codegen", .devices = gpu},
                             {.name = "shared_bytes", .kind = "codegen", .devices = gpu}});
      if (row.family == Family::first_call)
        all.insert(all.end(), {{.name = "warm_first_call_s", .kind = "bound", .devices = gpu},
                               {.name = "cached_call_s", .kind = "bound", .devices = {"cuda"}}});
      return all;
    default:
      return {{.name = "peak_bytes", .kind = "exact"},
              {.name = "bytes_in_use", .kind = "exact"},
              {.name = "launches", .kind = "exact", .devices = gpu},
              {.name = "estimate_bytes"},
              {.name = "estimate_ratio", .kind = "bound"},
              {.name = "rule_of_thumb_bytes"},
              {.name = "rule_of_thumb_ratio"}};
  }
}

}  // namespace

Case protocol(const Row& row) {
  const auto run = [row](Session& session) {
    switch (row.family) {
      case Family::first_call:
      case Family::matrix:
        return first_call(row, session);
      case Family::shape_change:
        return shape_change(row, session);
      case Family::in_turn:
        return in_turn(row, session);
      default:
        return memory(row, session);
    }
  };
  return {.id = id_of(row),
          .tier = row.tier,
          .devices = devices_of(row),
          .recipe = Protocol(run),
          .reference = has_reference(row),
          .metrics = metrics_of(row)};
}

}  // namespace holdfast::clusterless_kde
