// SPDX-License-Identifier: Apache-2.0
// The families that step a computation: passes, their parts, updates, whole training steps.
#include "families/invariants.hpp"
#include "gpt_train/movement.hpp"
#include "gpt_train/oracles.hpp"
#include "gpt_train/row.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::gpt_train {
namespace {

std::unique_ptr<Computation> made(const Row& row, Backend& backend, Variant variant) {
  return make(unit_of(row), backend, variant, row.options);
}
Work least(const Row& row) {
  return work_of(unit_of(row), row.options);
}

// The bytes that a device moves only to change a layout, and the logits that it holds at once.
std::vector<MetricDeclaration> of_device(const Row& row) {
  if (!is_for_device(row)) return {};
  std::vector<MetricDeclaration> all = {{.name = "layout_bytes", .kind = "exact", .devices = gpu}};
  if (Problem{unit_of(row), row.options}.has_head())
    all.push_back({.name = "logit_bytes", .kind = "exact", .devices = gpu});
  return all;
}
std::vector<NamedReading> held_by_device(const Verified& found) {
  forbid_silent_moves(found);
  const auto& sites = found.backend.ledger.peak_by_site();
  const auto logits = sites.find("logits");
  return {{"logit_bytes", logits == sites.end() ? 0 : double(logits->second)}};
}

// Estimates the bytes held, by formula. Steps that are not chained have the batches of two steps.
void estimated(const Row& row, Steps& steps) {
  steps.inputs = steps.chained ? 1 : 2;
  steps.estimate_bytes = [=](const Backend&, Variant variant) {
    return formula_peak_bytes(variant, unit_of(row), row.options);
  };
  if (is_for_device(row)) steps.read = held_by_device;
}
// Also rewritten, by the optimized variant on a host: what its stages hand on to each other.
void rewrites(const Row& row, Steps& steps, const std::vector<std::string>& sites) {
  estimated(row, steps);
  steps.rewritten = [=](const Backend& backend, Variant variant) {
    std::vector<std::string> all = sites;
    if (!backend.device && variant == Variant::optimized) all.emplace_back("scratch");
    return all;
  };
}
// A pass also rewrites everything between a batch and its losses.
void foretells(const Row& row, Steps& steps) {
  rewrites(row, steps, {"activations", "result: losses"});
}
void passes(const Row& row, Steps& steps) {
  rewrites(row, steps, {"activations", "result: losses", "result: gradients"});
}
void tells_gradients(const Row& row, Steps& steps) {
  rewrites(row, steps, {"result: gradients"});
}
void tells_both(const Row& row, Steps& steps) {
  rewrites(row, steps, {"result: losses", "result: gradients"});
}
void trains(const Row& row, Steps& steps) {
  passes(row, steps);
  if (is_for_device(row))
    steps.upload_bytes = [=](Variant) { return batch_bytes(row.options.shape); };
}

// The rates depend on the number of the update.
std::vector<ExpectedFinding> brings_its_rates(const Row&) {
  return {{.finding = "transfers_in_the_loop", .why = "an update brings its rates, in 64 B"}};
}

std::vector<Rate> tokens(const Row& row) {
  const double flops = model_flops(row.options);
  std::vector<Rate> all = {{.name = "tokens_per_s", .per_step = double(row.options.shape.tokens())},
                           {.name = "model_flops_per_s", .per_step = flops}};
  if (is_for_device(row))
    all.push_back({.name = "mfu", .per_step = flops, .peak = [](const Backend& backend) {
                     return backend.device->architecture().bf16_flop_per_second;
                   }});
  return all;
}
std::vector<Rate> passed_on(const Row& row) {
  return {{.name = "tokens_per_s", .per_step = double(row.options.shape.tokens())}};
}

bool is_graph(const Row& row) {
  return row.options.launch == Launch::graph;
}
// Cases compared with a device's step: an update's share of it, and the cost of the host's
// launches. A host has too little time for both.
std::vector<Derived> beside_parts(const Row& row) {
  if (!is_for_device(row)) return {};
  std::vector<Derived> all = {
      over("update_share", as(families::optimizer, row), Derived::Form::other_over_case)};
  if (!is_graph(row)) return all;
  Row launched = row;
  launched.options.launch = Launch::host;
  Derived gain = over("graph_speedup", launched, Derived::Form::other_over_case);
  gain.kind = "bound";
  gain.better = Better::higher;
  all.push_back(gain);
  return all;
}

Invariant repeated(const Row&) {
  return repeats_itself();
}
bool alone(const Row&) {
  return false;
}

// The members shared by all families that repeat the same result.
constexpr Family<Row> repeating(std::string (*id)(const Row&), void (*more)(const Row&, Steps&)) {
  Family<Row> family = {};
  family.id = id;
  family.devices = kinds_of;
  family.metrics = of_device;
  family.make = made;
  family.work = least;
  family.oracle = oracle_of;
  family.invariant = repeated;
  family.chained = alone;
  family.more = more;
  return family;
}
Family<Row> rated(Family<Row> family, std::vector<Rate> (*rates)(const Row&)) {
  family.rates = rates;
  return family;
}

}  // namespace

void forbid_silent_moves(const Verified& found) {
  std::int64_t moves = found.backend.ledger.counts.copies;
  for (const auto& program : found.backend.compiler->programs())
    for (const Function& function : program->functions)
      if (function.kind == KernelKind::copy) moves += function.launches;
  for (const NamedReading& own : found.own)
    if (own.name == "layout_bytes" && own.value == 0 && moves > 0)
      throw Error(Fault::broken_rule,
                  text("it reads no layout_bytes, and ", moves, " copies were made"));
}

const Family<Row> families::forward =
    rated(repeating([](const Row& row) { return named("forward", row, {}, {documents_axis(row)}); },
                    foretells),
          passed_on);

const Family<Row> families::forward_backward = rated(
    repeating(
        [](const Row& row) { return named("forward_backward", row, {}, {documents_axis(row)}); },
        passes),
    tokens);

const Family<Row> families::layer_forward = repeating(
    [](const Row& row) {
      return named("layer", row, {{"pass", "fwd"}}, {documents_axis(row)});
    },
    estimated);

const Family<Row> families::layer_backward = repeating(
    [](const Row& row) {
      return named("layer", row, {{"pass", "bwd"}}, {documents_axis(row)});
    },
    tells_gradients);

const Family<Row> families::attention_forward = repeating(
    [](const Row& row) {
      return named("attention", row, {{"pass", "fwd"}}, {documents_axis(row)});
    },
    estimated);

const Family<Row> families::attention_backward = repeating(
    [](const Row& row) {
      return named("attention", row, {{"pass", "bwd"}}, {documents_axis(row)});
    },
    estimated);

const Family<Row> families::lm_head =
    repeating([](const Row& row) { return named("lm_head", row); }, tells_both);

const Family<Row> families::optimizer = {
    .id = [](const Row& row) { return named("optimizer", row, {optimizer_axis(row)}); },
    .devices = kinds_of,
    .metrics = of_device,
    .expected = brings_its_rates,
    .make = made,
    .work = least,
    .oracle = oracle_of,
    .invariant = training_goes_on,
    .more = estimated};

const Family<Row> families::train_step = {
    .id =
        [](const Row& row) {
          return named("train_step", row, {},
                       {optimizer_axis(row),
                        documents_axis(row),
                        {"launch", launch_words.of(row.options.launch)}});
        },
    .devices = kinds_of,
    // That of tiny is compared with the step launched by the host.
    .reference = [](const Row& row) { return !is_graph(row) || row.model != Model::tiny; },
    .metrics = of_device,
    .expected = tells_its_loss,
    .make = made,
    .work = least,
    .oracle = oracle_of,
    .invariant = training_goes_on,
    .warm_up = warm_up_of,
    .more = trains,
    .derived = beside_parts,
    .rates = tokens};

}  // namespace holdfast::gpt_train
