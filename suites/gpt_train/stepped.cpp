// SPDX-License-Identifier: Apache-2.0
// The families that step a computation: passes, their parts, updates, whole training steps.
#include "families/invariants.hpp"
#include "gpt_train/oracles.hpp"
#include "gpt_train/row.hpp"

namespace holdfast::gpt_train {
namespace {

const Kinds host_alone = {"host"};

std::unique_ptr<Computation> made(const Row& row, Backend& backend, Variant variant) {
  return make(unit_of(row), backend, variant, row.options);
}
Work least(const Row& row) {
  return work_of(unit_of(row), row.options);
}
Kinds where(const Row&) {
  return host_alone;
}

// The bytes that are held, by formula.
void estimated(const Row& row, Steps& steps) {
  steps.estimate_bytes = [=](const Backend&, Variant variant) {
    return formula_peak_bytes(variant, unit_of(row), row.options);
  };
}
void tells_losses(const Row& row, Steps& steps) {
  estimated(row, steps);
  steps.rewritten = [](const Backend&, Variant) -> std::vector<std::string> {
    return {"result: losses"};
  };
}
void tells_gradients(const Row& row, Steps& steps) {
  estimated(row, steps);
  steps.rewritten = [](const Backend&, Variant) -> std::vector<std::string> {
    return {"result: gradients"};
  };
}
void tells_both(const Row& row, Steps& steps) {
  estimated(row, steps);
  steps.rewritten = [](const Backend&, Variant) -> std::vector<std::string> {
    return {"result: losses", "result: gradients"};
  };
}

std::vector<Rate> tokens(const Row& row) {
  return {{.name = "tokens_per_s", .per_step = double(row.options.shape.tokens())},
          {.name = "model_flops_per_s", .per_step = model_flops(row.options)}};
}
std::vector<Rate> passed_on(const Row& row) {
  return {{.name = "tokens_per_s", .per_step = double(row.options.shape.tokens())}};
}

Invariant repeated(const Row&) {
  return repeats_itself();
}
bool alone(const Row&) {
  return false;
}

// What every family has that makes the same result again and again.
constexpr Family<Row> repeating(std::string (*id)(const Row&), void (*more)(const Row&, Steps&)) {
  Family<Row> family = {};
  family.id = id;
  family.devices = where;
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

const Family<Row> families::forward =
    rated(repeating([](const Row& row) { return named("forward", row, {}, {documents_axis(row)}); },
                    tells_losses),
          passed_on);

const Family<Row> families::forward_backward = rated(
    repeating(
        [](const Row& row) { return named("forward_backward", row, {}, {documents_axis(row)}); },
        tells_both),
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
    .devices = where,
    .make = made,
    .work = least,
    .oracle = oracle_of,
    .invariant = training_goes_on,
    .more = estimated};

const Family<Row> families::train_step = {
    .id =
        [](const Row& row) {
          return named("train_step", row, {},
                       {optimizer_axis(row), documents_axis(row), {"launch", "host"}});
        },
    .devices = where,
    .make = made,
    .work = least,
    .oracle = oracle_of,
    .invariant = training_goes_on,
    .warm_up = warm_up_of,
    .more = tells_both,
    .rates = tokens};

}  // namespace holdfast::gpt_train
