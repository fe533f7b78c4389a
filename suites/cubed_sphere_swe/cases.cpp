// SPDX-License-Identifier: Apache-2.0
// The cases of kernels/cubed_sphere_swe: one row per claim, in the order of the list.
#include <cmath>

#include "cubed_sphere_swe/problem/words.hpp"
#include "cubed_sphere_swe/row.hpp"
#include "families/given.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

using namespace cubed_sphere_swe;

using Kind = Component::Kind;
using Rows = std::vector<Row>;

const Kinds host = {"host"};

struct Grid {
  int n;
  Tier tier;
};
constexpr Grid grids[] = {{24, Tier::smoke}, {48, Tier::gate},  {96, Tier::gate},
                          {192, Tier::full}, {384, Tier::full}, {768, Tier::full}};

Row loop(int n, Tier tier, Launch launch, Diagnostics diagnostics = Diagnostics::none) {
  return {.family = &families::loop,
          .n = n,
          .tier = tier,
          .options = {.launch = launch, .diagnostics = diagnostics}};
}

Row in_f32(Row row) {
  row.options.precision = Precision::f32;
  return row;
}

Row confined(Row row, const Kinds& only) {
  row.only = only;
  return row;
}

// Tendency, step and loop on every grid, to show scaling. The host launches its loops; a GPU
// replays a recorded one, and on one grid shows the cost of launching each step. Instructions of
// the same code are counted on small grids: the dense reference takes too long on larger ones.
void add_grids(Rows& rows) {
  for (const auto& [n, tier] : grids) {
    rows.push_back({.family = &families::rhs,
                    .n = n,
                    .tier = tier,
                    .ranks_components = n == 48 || tier == Tier::full,
                    .counted = n <= 48});
    rows.push_back({.family = &families::rk4_step, .n = n, .tier = tier, .counted = n <= 24});
    Row launched = loop(n, tier, Launch::host);
    launched.counted = n <= 24;  // on a larger grid its hundred steps take too long to count
    rows.push_back(n == 48 ? launched : confined(launched, host));
    rows.push_back(loop(n, tier, Launch::graph));
  }
}

// One row for each further claim about steps and loops.
void add_forms(Rows& rows) {
  const auto step = [](int n, Tier tier, RungeKutta rk, MetricSource metric) -> Row {
    return {.family = &families::rk4_step,
            .n = n,
            .tier = tier,
            .options = {.runge_kutta = rk, .metric = metric},
            .counted = n <= 48};
  };
  // The gain of Horner's form, and the gain or cost of metric tables.
  for (const auto& [n, tier] : {Grid{48, Tier::gate}, Grid{384, Tier::full}}) {
    rows.push_back(step(n, tier, RungeKutta::classical, MetricSource::table));
    rows.push_back(step(n, tier, RungeKutta::horner, MetricSource::on_the_fly));
  }
  // The reference with our own products instead of the library's: the choice of the published
  // compiler flag.
  for (const auto& [n, tier] : {Grid{48, Tier::full}, Grid{384, Tier::full}}) {
    Row tiled = step(n, tier, RungeKutta::horner, MetricSource::table);
    tiled.options.gemm = GemmSource::tile;
    rows.push_back(tiled);
  }
  // Half the bytes.
  rows.push_back(
      in_f32({.family = &families::rk4_step, .n = 48, .tier = Tier::gate, .counted = true}));
  rows.push_back(in_f32(confined(loop(48, Tier::full, Launch::host), host)));
  rows.push_back(in_f32(loop(384, Tier::full, Launch::graph)));
  // Fewer launches for the reference too, to separate their gain from the algorithm's; and a
  // persistent kernel.
  rows.push_back(loop(48, Tier::gate, Launch::graph_step));
  rows.push_back(loop(384, Tier::full, Launch::graph_step));
  for (const auto& [n, tier] : {Grid{48, Tier::gate}, Grid{96, Tier::full}, Grid{192, Tier::full},
                                Grid{384, Tier::full}, Grid{768, Tier::full}})
    rows.push_back(loop(n, tier, Launch::persistent));
  // Watching the mass on the device, and the anti-pattern: reading it back in every step.
  rows.push_back(confined(loop(48, Tier::gate, Launch::host, Diagnostics::device), host));
  rows.push_back(loop(48, Tier::gate, Launch::graph, Diagnostics::device));
  rows.push_back(loop(48, Tier::gate, Launch::host, Diagnostics::host));
  rows.push_back(loop(384, Tier::full, Launch::graph, Diagnostics::device));
}

// The parts of a tendency. The axis scatter:{sequential,batched} of `project` and `sat` is the pair
// of variants: the reference writes edge by edge, the optimized one in one kernel.
void add_components(Rows& rows) {
  const auto add = [&](const Component& component, int n, Tier tier) {
    rows.push_back({.family = &families::component,
                    .n = n,
                    .tier = tier,
                    .component = component,
                    .counted = tier == Tier::gate});
  };
  for (const auto& [n, tier] : {Grid{48, Tier::gate}, Grid{384, Tier::full}}) {
    for (const Operator op : {Operator::dvc, Operator::dcv, Operator::pvc, Operator::pcv})
      for (const int direction : {1, 2}) {
        // Two represent the eight: one along each direction, one onto either kind of point.
        const bool stands =
            (op == Operator::dvc && direction == 1) || (op == Operator::pcv && direction == 2);
        add({.kind = Kind::operator_apply, .op = op, .direction = direction}, n,
            stands ? tier : Tier::full);
      }
    for (const Kind kind :
         {Kind::project, Kind::gradient, Kind::contravariant, Kind::divergence, Kind::sat})
      add({.kind = kind}, n, tier);
    add({.kind = Kind::gradient, .components = 1}, n, Tier::full);
  }
}

void add_protocols(Rows& rows) {
  for (const Family<Row>* unit : {&families::rhs, &families::rk4_step, &families::loop})
    rows.push_back({.family = &families::compile,
                    .options = {.launch = unit == &families::loop ? Launch::graph : Launch::host},
                    .compiled = unit});
  for (const auto& [n, tier] : grids)
    rows.push_back(
        {.family = &families::memory, .n = n, .tier = n == large_n ? Tier::gate : Tier::full});
  for (const auto& [n, tier] : grids)
    rows.push_back({.family = &families::setup, .n = n, .tier = n == 48 ? Tier::gate : Tier::full});
}

// A given 0 is an error: it does not ask for the grid's own step, as in Options.
void refuse_no_step(double dt) {
  if (std::isfinite(dt) && dt > 0) return;
  throw Error(Fault::bad_input,
              text("dt must be positive, ", dt, " given; leave it out to have 1 / (3 N)"));
}

// Applies the suite's own options to a row, if they concern it.
Row with(const SuiteOptions& options, Row row) {
  const Given given(options);
  row.large = given.has("large");
  given.number("steps", row.options.steps);
  if (given.number("size", row.n)) row.tier = Tier::smoke;
  given.word("dtype", precision_words, row.options.precision);
  given.word("metric", metric_source_words, row.options.metric);
  given.word("gemm", gemm_source_words, row.options.gemm);
  given.word("q12", metric_sign_words, row.options.q12);
  given.word("start", start_words, row.options.start);
  if (given.real("dt", row.options.dt)) refuse_no_step(row.options.dt);
  if (is_loop(row) || row.family == &families::rk4_step)
    given.word("rk", runge_kutta_words, row.options.runge_kutta);
  if (!is_loop(row)) return row;
  if (given.word("launch", launch_words, row.options.launch)) row.only.clear();
  if (given.word("diag", diagnostics_words, row.options.diagnostics)) row.only.clear();
  return row;
}

// Velocities at rest give a zero result, which checks nothing.
bool made_of_velocities(const Row& row) {
  if (is_component(row, Kind::operator_apply)) return onto_vertices(row.component.op);
  return is_component(row, Kind::contravariant) || is_component(row, Kind::divergence) ||
         is_component(row, Kind::sat);
}

// The host cannot read between steps of a recorded loop, nor of one kernel. The optimized penalty
// takes its consensus flux from an identity that the upstream sign breaks.
bool exists(const Row& row) {
  if (made_of_velocities(row) && starts_at_rest(row)) return false;
  const bool read_back = is_loop(row) && row.options.diagnostics == Diagnostics::host;
  if (read_back && row.options.launch != Launch::host && row.options.launch != Launch::graph_step)
    return false;
  return !is_component(row, Kind::sat) || row.options.q12 == MetricSign::correct;
}

void refuse_contradictions(const SuiteOptions& given) {
  if (!given.custom.contains("launch") || !given.custom.contains("diag")) return;
  if (exists(with(given, loop(48, Tier::gate, Launch::host)))) return;
  throw Error(Fault::bad_input, text("--diag=host with --launch=", given.custom.at("launch"),
                                     ": the host reads between steps that it launches; use "
                                     "--launch=host or --launch=graph_step"));
}

// The stage parts of this many steps, which threads count, fit into an int.
constexpr int most_steps = 1'000'000;

std::vector<Case> cases(const SuiteOptions& given) {
  refuse_contradictions(given);
  Rows rows;
  add_grids(rows);
  add_forms(rows);
  add_components(rows);
  add_protocols(rows);

  Rows asked;
  for (const Row& each : rows) {
    const Row row = with(given, each);
    if (row.options.steps < 1 || row.options.steps > most_steps)
      throw Error(Fault::bad_input, text("--steps=", row.options.steps, ": give 1 to ", most_steps,
                                         " steps of a loop"));
    validate(Size{row.n}, row.options);
    if (exists(row)) asked.push_back(row);
  }
  return cases_of(asked);
}

}  // namespace

Suite suite() {
  return {.name = "cubed_sphere_swe",
          .options = {{"size", "N",
                       "one grid of N cells along a panel's edge, 8 to 8192, instead of 24 to 768"},
                      {"steps", "K", "RK4 steps of a loop, 1 to 1000000 (100)"},
                      {"dtype", "TYPE", "f64 or f32, of every case"},
                      {"launch", "WAY", "of loops: host, graph_step, graph or persistent"},
                      {"diag", "WHO", "of loops, who forms the mass: none, device or host"},
                      {"rk", "FORM", "of steps and loops: horner or classical"},
                      {"metric", "SOURCE",
                       "the optimized variant's metric tensor on a GPU: table or on_the_fly"},
                      {"gemm", "SOURCE", "of the reference on a GPU: library or tile"},
                      {"q12", "SIGN",
                       "of the metric tensor: correct, or upstream to replay published logs"},
                      {"start", "NAME",
                       "seed, face, edge, vertex, tilt, mode1, mode2: at rest; or random (random)"},
                      {"dt", "TIME", "of a step, in radians that a wave travels (1 / (3 N))"},
                      {"large", "",
                       "measure grids of 384 and more on the host too, with the reference"}},
          .cases = cases};
}

}  // namespace holdfast
