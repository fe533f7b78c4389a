// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/oracles.hpp"

#include <cmath>
#include <numeric>
#include <string>

#include "families/invariants.hpp"
#include "families/known.hpp"
#include "gpt_train/data/golden.hpp"
#include "gpt_train/oracle/answers.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::gpt_train {
namespace {

using Values = std::vector<double>;

// Five times the error of a loss: it may be off by a fifth of what a tensor may.
double distance_of(Unit unit, const Options& options, const Values& found, const Values& expected) {
  double worst = oracle::distance(fields_of(unit, options), found, expected);
  const Problem problem = {unit, options};
  const std::size_t first = unit == Unit::train_step;
  for (std::size_t k = first; std::isfinite(worst) && problem.has_head() && k < first + 3; ++k)
    worst = larger(worst, 5 * (found[k] / expected[k] - 1));
  return worst;
}

double limit_of(const Row& row) {
  if (row.options.precision == Precision::f32) return 5e-5;
  return row.options.optimizer == Optimizer::adamw ? 1e-10 : 1e-8;
}

double norm(const Values& all, std::size_t first, std::size_t count) {
  return std::sqrt(std::inner_product(all.begin() + first, all.begin() + first + count,
                                      all.begin() + first, 0.));
}

// A tensor's part of a result of a unit.
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

// Of a state after three updates, the worst relative error of what is published of it.
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
bool is_published_small(const Row& row) {
  return row.model == Model::small && row.options.documents &&
         row.options.shape.batch == shape_of(Model::small).batch &&
         row.options.shape.columns == shape_of(Model::small).columns;
}

// steps, mean, deviation, objective, gradient norm, parameters.
double off_tiny(const Row& row, const golden::TinyUpdates& known, const Values& found) {
  double worst = larger(off_published(row.options, known, known.final_norm, found),
                        5 * (found[1] / known.losses[2] - 1));
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

double off_small(Unit unit, const Values& found) {
  const std::size_t mean = unit == Unit::train_step;
  const double gradients = unit == Unit::train_step ? found[4] : norm(found, 3, found.size() - 3);
  return larger(larger(5 * (found[mean] / golden::small.mean - 1),
                       found[mean + 2] / golden::small.objective - 1),
                gradients / golden::small.gradient_norm - 1);
}

}  // namespace

int warm_up_of(const Row& row) {
  return unit_of(row) == Unit::train_step && row.model == Model::tiny ? 3 : 1;
}

Oracle oracle_of(const Row& row) {
  const Unit unit = unit_of(row);
  Oracle known = {.name = "plain loops in f64",
                  .limit = limit_of(row),
                  .expected =
                      [=](int steps) {
                        static Known<std::string, Values> answers;
                        return answers.of(text(row.family->id(row), ' ', steps),
                                          [&] { return oracle::answer(unit, row.options, steps); });
                      },
                  .distance =
                      [=](const Values& found, const Values& expected) {
                        return distance_of(unit, row.options, found, expected);
                      }};
  known.between = known.distance;
  if (const golden::TinyUpdates* tiny = published_tiny(row); tiny && unit == Unit::train_step) {
    known.name = "published losses and norms after three updates";
    known.few = [=](const Values& found) { return off_tiny(row, *tiny, found); };
  }
  if (is_published_small(row) && (unit == Unit::forward_backward || unit == Unit::train_step)) {
    known.name = "published loss and gradient norm of the first step";
    known.few = [=](const Values& found) { return off_small(unit, found); };
  }
  if (unit == Unit::forward_backward || unit == Unit::train_step) {
    known.name += ", published values of micro";
    known.golden = [=](Backend& backend, Variant variant) {
      return off_micro(row, backend, variant);
    };
  }
  return known;
}

Invariant training_goes_on(const Row& row) {
  const Unit unit = unit_of(row);
  const std::size_t first = part_of(unit, row.options, "E").first;
  return [=](const Values& before, const Values& after) -> std::optional<std::string> {
    if (!(after[0] > before[0])) return "no step was taken";
    for (std::size_t k = 0; k < first; ++k)
      if (!std::isfinite(after[k])) return text("value ", k, " of the result is no number");
    for (std::size_t k = first; k < after.size(); ++k)
      if (after[k] != before[k]) return std::nullopt;
    return "no parameter moved";
  };
}

}  // namespace holdfast::gpt_train
