// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/oracles.hpp"

#include <cmath>
#include <numeric>
#include <string>
#include <tuple>

#include "families/invariants.hpp"
#include "families/known.hpp"
#include "gpt_train/data/golden.hpp"
#include "gpt_train/movement.hpp"
#include "gpt_train/oracle/answers.hpp"
#include "harness/measure/correctness.hpp"
#include "harness/measure/session.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::gpt_train {
namespace {

using Values = std::vector<double>;

double limit_of(const Row& row) {
  if (is_for_device(row)) return 4e-2;
  if (row.options.precision == Precision::f32) return 5e-5;
  return row.options.optimizer == Optimizer::adamw ? 1e-10 : 1e-8;
}
// A loss has a tighter limit than a tensor: by this factor.
double weight_of_loss(const Row& row) {
  return is_for_device(row) ? 20 : 5;
}
// The limits of a token's row and of a tensor's movement: for an update, the error of Newton-Schulz
// in bf16; for a training, that of the signs, by which Adam and Lion move, flipped by rounded
// gradients. A tensor that has not moved is off by 1, one that moved the wrong way by 2.
constexpr double limit_of_rows = 0.1;
double limit_of_movement(Unit unit) {
  return unit == Unit::update ? 0.1 : 0.75;
}

// The limit of a tensor of small after an update in f32. By a gradient that rounding decides, Adam
// moves a number either way: one of a matrix is 1e-4 of it.
constexpr double limit_of_signs = 5e-4;
bool has_signs_of_rounding(const Row& row) {
  return row.model == Model::small && row.options.precision == Precision::f32 &&
         unit_of(row) == Unit::train_step;
}

// The worst of all errors, each scaled from its own limit to the row's.
double distance_of(const Row& row, double weight, const Values& found, const Values& expected) {
  const Problem problem = {unit_of(row), row.options};
  double worst = oracle::distance(fields_of(problem.unit, row.options), found, expected);
  if (!std::isfinite(worst)) return worst;
  const double limit = limit_of(row);
  if (has_signs_of_rounding(row))
    worst = larger(limit / limit_of_signs * worst, found[4] / expected[4] - 1);
  const std::size_t first = problem.unit == Unit::train_step;
  for (std::size_t k = first; problem.has_head() && k < first + 3; ++k)
    worst = larger(worst, weight * (found[k] / expected[k] - 1));
  worst = larger(worst, limit / limit_of_rows *
                            oracle::distance_of_rows(problem.unit, row.options, found, expected));
  if (problem.trains())
    worst = larger(worst, limit / limit_of_movement(problem.unit) *
                              oracle::distance_of_movement(row.options, found, expected));
  return worst;
}

double norm(const Values& all, std::size_t first, std::size_t count) {
  return std::sqrt(std::inner_product(all.begin() + first, all.begin() + first + count,
                                      all.begin() + first, 0.));
}

// A tensor's part of a unit's result.
struct Part {
  std::size_t first = 0, count = 0;
};
Part part_of(Unit unit, const Options& options, const std::string& name) {
  const std::vector<std::size_t> fields = fields_of(unit, options);
  const std::vector<Tensor> tensors = tensors_of(unit, options.shape);
  std::size_t at = std::accumulate(fields.begin(), fields.end() - tensors.size(), std::size_t{0});
  for (const Tensor& tensor : tensors) {
    if (tensor.name == name) return {at, std::size_t(tensor.size())};
    at += tensor.size();
  }
  throw Error(Fault::bad_input, text("no tensor ", name));
}

// The worst relative error of the published values of a state after three updates.
template <class Known>
double off_published(const Options& options, const Known& known, double final_norm,
                     const Values& found) {
  const auto part = [&](const char* name) { return part_of(Unit::train_step, options, name); };
  const auto of = [&](const char* name) { return norm(found, part(name).first, part(name).count); };
  double worst = larger(0, found[part("Wq.0").first] / known.first_query - 1);
  worst = larger(worst, of("Wk.1") / known.key_norm - 1);
  worst = larger(worst, of("Wd.0") / known.down_norm - 1);
  worst = larger(worst, of("W_head") / known.head_norm - 1);
  worst = larger(worst, of("E") / known.embedding_norm - 1);
  return larger(worst, of("g_final") / final_norm - 1);
}

const golden::TinyUpdates* published_tiny(const Row& row) {
  const Options usual = {};
  const Options& o = row.options;
  const bool is_usual = row.model == Model::tiny && o.shape.batch == usual.shape.batch &&
                        o.shape.columns == usual.shape.columns &&
                        o.learning_rate == usual.learning_rate && o.warm == usual.warm;
  for (const golden::TinyUpdates& known : golden::tiny_updates)
    if (is_usual && known.documents == o.documents && known.optimizer == o.optimizer) return &known;
  return nullptr;
}
const golden::Large* published_large(const Row& row) {
  const Shape &shape = row.options.shape, &usual = shape_of(row.model);
  for (const golden::Large& known : golden::large)
    if (known.model == row.model && known.documents == row.options.documents &&
        shape.batch == usual.batch && shape.columns == usual.columns)
      return &known;
  return nullptr;
}
// Plain loops would take minutes for these.
bool is_of_devices(const Row& row) {
  return row.model == Model::llama3_150m || row.model == Model::gpt2_124m;
}

// steps, mean, deviation, objective, gradient norm, parameters.
double off_tiny(const Row& row, const golden::TinyUpdates& known, const Values& found) {
  double worst = larger(off_published(row.options, known, known.final_norm, found),
                        weight_of_loss(row) * (found[1] / known.losses[2] - 1));
  worst = larger(worst, found[4] / known.gradient_norms[2] - 1);
  return larger(worst, found[0] - 3);
}

// Micro in f64, its limit there scaled to the row's.
double off_micro(const Row& row, Backend& backend, Variant variant) {
  Options options = golden::micro;
  const bool trains = unit_of(row) == Unit::train_step;
  options.optimizer = trains ? row.options.optimizer : Optimizer::adamw;
  const Unit unit = trains ? Unit::train_step : Unit::forward_backward;
  const auto computation = make(unit, backend, variant, options);
  for (int k = 0; k < (trains ? 3 : 1); ++k) computation->step();
  const Values found = computation->result();
  if (trains) {
    const golden::ThreeUpdates& known = golden::micro_updates[static_cast<int>(options.optimizer)];
    return limit_of(row) / 1e-8 *
           larger(off_published(options, known, golden::micro_final_norm, found),
                  found[1] / known.losses[1] - 1);
  }
  double worst = larger(0, found[0] / golden::micro_mean - 1);
  worst = larger(worst, found[1] / golden::micro_deviation - 1);
  worst = larger(worst, found[2] / golden::micro_objective - 1);
  worst = larger(worst, norm(found, 3, found.size() - 3) / golden::micro_gradient_norm - 1);
  return limit_of(row) / 1e-10 * worst;
}

bool are_numbers(const Row& row, const Values& found) {
  const std::vector<std::size_t> fields = fields_of(unit_of(row), row.options);
  const double size = norm(found, 0, found.size());
  return found.size() == std::accumulate(fields.begin(), fields.end(), std::size_t{0}) &&
         std::isfinite(size) && size > 0;
}

// Up and gate are published as one tensor.
double off_large(const Row& row, const golden::Large& known, const Values& found) {
  const Unit unit = unit_of(row);
  const std::size_t mean = unit == Unit::train_step;
  const double weight = weight_of_loss(row);
  double worst = larger(0, weight * (found[mean] / known.mean - 1));
  worst = larger(worst, weight * (found[mean + 2] / known.objective - 1));
  if (known.gradient_norm == 0 || unit == Unit::forward) return worst;
  if (unit == Unit::train_step) return larger(worst, found[4] / known.gradient_norm - 1);
  worst = larger(worst, norm(found, 3, found.size() - 3) / known.gradient_norm - 1);
  const char* const names[] = {"E", "W_head", "g_final", "Wq.0", "Wk.0", "Wo.0", "Wf_up.0", "Wd.0"};
  for (std::size_t k = 0; k < std::size(names); ++k) {
    Part part = part_of(unit, row.options, names[k]);
    if (names[k] == std::string("Wf_up.0")) part.count *= 2;
    worst = larger(worst, norm(found, part.first, part.count) / known.norms[k] - 1);
  }
  return worst;
}

// The same unit of tiny, compared with plain loops.
double off_like_tiny(const Row& row, Backend& backend, Variant variant) {
  Row tiny = row;
  tiny.model = Model::tiny;
  tiny.options.shape = shape_of(Model::tiny);
  const auto computation = make(unit_of(row), backend, variant, tiny.options);
  computation->step();
  return distance_of(tiny, weight_of_loss(row), computation->result(),
                     oracle::answer(unit_of(row), tiny.options, 1));
}

// Makes an oracle know shapes that only devices have: the published values of the first step; for
// their parts, that they are finite, and the same parts of tiny; for both, how far a step moves
// each tensor. Beside a reference, results are compared with it in full.
void know_large(const Row& row, Oracle& known) {
  const golden::Large* const large = published_large(row);
  const Problem problem = {unit_of(row), row.options};
  const bool is_published = problem.has_layers() && large;
  known.expected = [](int) { return Values{}; };
  known.name = is_published ? "published losses and gradient norms of the first step"
                            : "plain loops in f64 at tiny, and that all are numbers";
  if (problem.trains()) known.name += ", and how far it moves each tensor";
  known.distance = [=](const Values& found, const Values&) -> double {
    if (!are_numbers(row, found)) return INFINITY;
    if (problem.trains() && !is_one_step_from_start(row, found)) return 1;
    return is_published ? off_large(row, *large, found) : 0;
  };
  if (!is_published)
    known.golden = [=](Backend& backend, Variant variant) {
      return off_like_tiny(row, backend, variant);
    };
}

// The answer of plain loops, computed once for all rows with the same result.
const Values& answer_of(const Row& row, int steps) {
  static Known<std::tuple<Unit, Options, int>, Values> known;
  Options options = row.options;
  options.launch = Launch::host;
  options.fetching = {};
  options.precision = Precision::f64;
  return known.of({unit_of(row), options, steps},
                  [&] { return oracle::answer(unit_of(row), options, steps); });
}

}  // namespace

int warm_up_of(const Row& row) {
  return unit_of(row) == Unit::train_step && row.model == Model::tiny ? 3 : 1;
}

Oracle oracle_of(const Row& row) {
  const Unit unit = unit_of(row);
  Oracle known = {.name = "plain loops in f64",
                  .limit = limit_of(row),
                  .expected = [=](int steps) { return answer_of(row, steps); },
                  .distance =
                      [=](const Values& found, const Values& expected) {
                        return distance_of(row, weight_of_loss(row), found, expected);
                      }};
  known.between = known.distance;
  // Trainings in bf16 drift apart, by 2e-2 of a loss in twenty steps.
  if (is_for_device(row))
    known.between = [=](const Values& found, const Values& expected) {
      return distance_of(row, 2, found, expected);
    };
  if (is_of_devices(row)) {
    know_large(row, known);
    return known;
  }
  if (const golden::TinyUpdates* tiny = published_tiny(row); tiny && unit == Unit::train_step) {
    known.name = "published losses and norms after three updates";
    known.few = [=](const Values& found) { return off_tiny(row, *tiny, found); };
  }
  const bool passes = unit == Unit::forward_backward || unit == Unit::train_step;
  if (const golden::Large* large = published_large(row); large && passes) {
    known.name = "published loss and gradient norm of the first step";
    known.few = [=](const Values& found) { return off_large(row, *large, found); };
  }
  if (passes && !is_for_device(row)) {
    known.name += ", published values of micro";
    known.golden = [=](Backend& backend, Variant variant) {
      return off_micro(row, backend, variant);
    };
  }
  return known;
}

void check_after_warm_up(Session& session, const Row& row, Computation& computation) {
  if (!session.executes()) return;
  const Oracle known = oracle_of(row);
  const Values result = computation.result();
  session.check(
      known.name,
      known.few ? known.few(result) : error_of(known, result, known.expected(warm_up_of(row))),
      known.limit);
}

}  // namespace holdfast::gpt_train
