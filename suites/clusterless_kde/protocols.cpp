// SPDX-License-Identifier: Apache-2.0
// The families that are not a repeated step: the costs of the first call, compiling and memory.
#include "families/protocols.hpp"

#include <algorithm>
#include <vector>

#include "clusterless_kde/oracles.hpp"
#include "clusterless_kde/row.hpp"

namespace holdfast::clusterless_kde {
namespace {

// The row as encode plus decode: everything that a configuration compiles.
Row whole(const Row& row) {
  return as(families::total, row);
}

double limit_of_whole(const Row& row) {
  return families::total.oracle(whole(row)).limit;
}

double limit_of_decode(const Row& row) {
  return families::decode.oracle(as(families::decode, row)).limit;
}

void read_resources(const Backend& backend, Session& session) {
  int registers = 0, spills = 0, shared = 0;
  for (const auto& program : backend.compiler->programs())
    for (const Function& function : program->functions) {
      registers = std::max(registers, function.registers);
      shared = std::max(shared, function.shared_bytes);
      spills += function.spill_bytes;
    }
  read_slowest_program(session, backend);
  session.read("registers_max", registers);
  session.read("spill_bytes", spills);
  session.read("shared_bytes", shared);
}

// The first call and a second one; returns the second one's seconds.
double compile_whole(const Row& row, Session& session) {
  double seconds = 0;
  const FirstCall first = compile(
      session, [&](Backend& backend) { return make(whole(row), backend, Variant::optimized); },
      [&](const FirstCall& call) {
        read_resources(call.backend, session);
        seconds = session.seconds_until_done(call.backend, [&] { call.computation->step(); });
      });
  check(session, families::total.oracle(whole(row)), *first.computation);
  return seconds;
}

std::vector<MetricDeclaration> compilation(const Row&) {
  std::vector<MetricDeclaration> all = compile_metrics();
  all.insert(all.end(), {{.name = "slowest_program_s", .devices = gpu},
                         {.name = "registers_max", .kind = "codegen", .devices = gpu},
                         {.name = "spill_bytes", .kind = "codegen", .devices = gpu},
                         {.name = "shared_bytes", .kind = "codegen", .devices = gpu}});
  return all;
}

// The peak of a model and a decode, also relative to the plan.
void measure_memory(const Row& row, Session& session) {
  const Row decode = as(families::decode, row);
  const auto rule_of_thumb = static_cast<double>(rule_of_thumb_bytes(shape(row.recipe)));
  const auto of_an_electrode = static_cast<double>(electrode_bytes(shape(row.recipe)));
  const auto live = [&](Backend&, Variant, Computation& computation) {
    computation.step();
    check(session, families::decode.oracle(decode), computation);
    if (!session.executes()) (void)computation.result();
  };
  const auto estimate = [&](Backend& backend, Variant variant,
                            Computation& computation) -> std::optional<double> {
    session.read("bytes_in_use", static_cast<double>(backend.ledger.live_bytes), variant);
    session.read("rule_of_thumb_bytes", rule_of_thumb, variant);
    session.read("electrode_bytes", of_an_electrode, variant);
    if (backend.device)
      session.read("launches",
                   static_cast<double>(session.steady_step(backend, computation).launches),
                   variant);
    if (variant == Variant::reference) return std::nullopt;
    const auto planned =
        static_cast<double>(plan(backend, input_of(row.recipe), row.options).estimate_bytes);
    session.read("estimate_bytes", planned);
    return planned;
  };
  memory(session,
         {.make = [&](Backend& backend, Variant variant) { return make(decode, backend, variant); },
          .rule_of_thumb_bytes = rule_of_thumb,
          .live = live,
          .estimate = estimate});
}

std::vector<MetricDeclaration> held_metrics(const Row&) {
  return memory_metrics({{.name = "bytes_in_use", .kind = "exact"},
                         {.name = "launches", .kind = "exact", .devices = gpu},
                         {.name = "estimate_bytes"},
                         {.name = "rule_of_thumb_bytes"},
                         {.name = "electrode_bytes"}});
}

}  // namespace

const Family<Row> families::first_call = {
    .id = [](const Row& row) { return named("compile/first_call", row, {size_axis(row)}); },
    .devices = [](const Row&) { return gpu; },
    .reference = never,
    .metrics =
        [](const Row& row) {
          std::vector<MetricDeclaration> all = compilation(row);
          declare_warm_first_call(all, "bound");
          all.push_back({.name = "cached_call_s", .kind = "bound", .devices = {"cuda"}});
          return all;
        },
    .protocol =
        [](const Row& row, Session& session) {
          const double seconds = compile_whole(row, session);
          if (session.executes()) session.read("cached_call_s", seconds);
          warm_first_call(session, [&](Backend& backend) {
            return make(whole(row), backend, Variant::optimized);
          });
        },
    .limit = limit_of_whole};

const Family<Row> families::matrix = {
    .id = [](const Row& row) { return named("compile/matrix", row, {size_axis(row)}); },
    .devices = [](const Row&) { return gpu; },
    .reference = never,
    .metrics = compilation,
    .protocol = [](const Row& row, Session& session) { (void)compile_whole(row, session); },
    .limit = limit_of_whole};

// Programs must not depend on the number of spikes per electrode, places or rows. The inputs
// alternate, so that each must be computed anew.
const Family<Row> families::shape_change = {
    .id = [](const Row& row) { return named("compile/shape_change", row, {size_axis(row)}); },
    .devices = [](const Row&) { return gpu; },
    .reference = never,
    .metrics = [](const Row&) { return shape_change_metrics(); },
    .protocol =
        [](const Row& row, Session& session) {
          Row other_spikes = whole(row), other_places = whole(row), fewer = whole(row);
          ++other_spikes.recipe.seed;
          other_places.recipe.bins = static_cast<int>(shape(row.recipe).bins) + 37;
          fewer.recipe.scale = 2;
          std::vector<Steps> others;
          for (const Row& next : {other_spikes, whole(row), other_places, fewer, other_spikes})
            others.push_back(steps_of(next));
          holdfast::shape_change(session, steps_of(whole(row)), others);
        },
    .limit = limit_of_whole};

const Family<Row> families::in_turn = {
    .id = [](const Row& row) { return named("in_turn", row); },
    .devices = by_options,
    .metrics = [](const Row&) { return turn_metrics(); },
    .protocol =
        [](const Row& row, Session& session) {
          Row other = whole(row);
          ++other.recipe.seed;
          std::vector<Turn> turns;
          for (const Row& each : {whole(row), other})
            turns.push_back(
                {.steps = steps_of(each), .allclose = [each](const std::vector<double>& result) {
                   return comparison(each, result).back().value == 1;
                 }});
          holdfast::in_turn(session, turns);
        },
    .limit = limit_of_whole};

const Family<Row> families::memory = {.id = [](const Row& row) { return named("memory", row); },
                                      .devices = by_options,
                                      .metrics = held_metrics,
                                      .protocol = measure_memory,
                                      .limit = limit_of_decode};

const Family<Row> families::micro = {.id =
                                         [](const Row& row) {
                                           return named("memory/micro", row,
                                                        {{"encoding", row.recipe.encoding_spikes},
                                                         {"decoding", row.recipe.decoding_spikes},
                                                         {"bins", row.recipe.bins}});
                                         },
                                     .devices = by_options,
                                     .metrics = held_metrics,
                                     .protocol = measure_memory,
                                     .limit = limit_of_decode};

}  // namespace holdfast::clusterless_kde
