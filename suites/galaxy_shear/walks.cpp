// SPDX-License-Identifier: Apache-2.0
// The families that evaluate the gradient repeatedly: variational inference once per step,
// Hamiltonian Monte Carlo many times per sample, as `grad_evals` reports.
#include <cmath>
#include <optional>

#include "galaxy_shear/data/data.hpp"
#include "galaxy_shear/oracle/oracle.hpp"
#include "galaxy_shear/problem/walks.hpp"
#include "galaxy_shear/row.hpp"
#include "runtime/base/error.hpp"

namespace holdfast::galaxy_shear {
namespace {

using Values = std::vector<double>;

std::string named_walk(const char* family, const Row& row,
                       const std::vector<holdfast::Axis>& more = {}) {
  const Options& o = row.options;
  std::vector<holdfast::Axis> axes = {{"fft", o.fft}, {"image", o.image}, {"latents", o.latents}};
  axes.insert(axes.end(), more.begin(), more.end());
  return id(std::string("galaxy_shear/") + family, axes, name(o.precision));
}

Values joined(const std::vector<Values>& fields) {
  Values all;
  for (const Values& field : fields) all.insert(all.end(), field.begin(), field.end());
  return all;
}

Values inferred(const Row& row, int steps) {
  const Scene scene = scene_of(row.options);
  const auto found = oracle::inference(scene, data_of(scene, Noise::philox, 1), start_of(scene),
                                       Problem().spread, steps);
  return joined(
      {found.location, found.rho, found.m, found.rho_m, {found.loss}, {double(steps)}, {0}});
}

Values sampled(const Row& row, int samples) {
  const Scene scene = scene_of(row.options);
  const auto found = oracle::chain(scene, data_of(scene, Noise::philox, 1),
                                   latents_of(scene, truth_of(scene, 0)), samples);
  return joined({found.u,
                 found.end,
                 found.momentum,
                 {found.loss},
                 {found.error},
                 {double(found.taken)},
                 {double(samples) * Hamiltonian::evaluations_of_a_sample}});
}

Oracle walk_oracle(const Row& row) {
  const bool infers = unit_of(row) == Unit::vi_step;
  return {
      .name = "a walk by direct cosine sums",
      .limit = infers ? 1e-8 : 1e-5,  // an error of energy is a difference of large numbers
      .expected = [=](int steps) { return infers ? inferred(row, steps) : sampled(row, steps); },
      .parts = fields_of(unit_of(row), row.options)};
}

// Evaluations are counted where they are taken.
Invariant walk_goes_on(const Row& row) {
  const std::size_t latents = row.options.latents, each = evaluations_of(unit_of(row));
  const bool infers = unit_of(row) == Unit::vi_step;
  return [=](const Values& before, const Values& after) -> std::optional<std::string> {
    const std::size_t loss = (infers ? 4 : 3) * latents;
    const std::size_t evaluations = infers ? loss + 1 : loss + 3;
    const double made = after[evaluations] - before[evaluations];
    if (!(made > 0) || std::fmod(made, double(each)) != 0)
      return text(made, " gradients were evaluated, ", each, " a step expected");
    if (infers && after[loss + 2] != 0) return text("failed at step ", after[loss + 2]);
    if (!std::isfinite(after[loss])) return "the loss is no number";
    return std::nullopt;
  };
}

std::vector<MetricDeclaration> gradients_of(const Row& row) {
  return {{.name = "grad_evals", .kind = "exact", .value = evaluations_of(unit_of(row))}};
}

// The time of one of its gradients over that of a fit's step, which is one gradient and Adam.
std::vector<Derived> beside_fit_step(const Row& row) {
  Derived ratio =
      over("gradient_over_step", as(families::svi_step, row), Derived::Form::case_over_other);
  ratio.kind = "bound";
  ratio.factor = 1. / evaluations_of(unit_of(row));
  return {ratio};
}

std::vector<Rate> gradients_a_second(const Row& row) {
  return {{.name = "gradients_per_s", .per_step = double(evaluations_of(unit_of(row)))}};
}

constexpr Family<Row> walk(std::string (*id)(const Row&)) {
  return {.id = id,
          .reference = never,
          .metrics = gradients_of,
          .make = make_unit,
          .work = [](const Row& row) { return work_of(unit_of(row), row.options); },
          .oracle = walk_oracle,
          .invariant = walk_goes_on,
          .more = estimate,
          .derived = beside_fit_step,
          .rates = gradients_a_second};
}

}  // namespace

const Family<Row> families::vi_step =
    walk([](const Row& row) { return named_walk("vi_step", row); });

const Family<Row> families::hmc_sample = walk([](const Row& row) {
  return named_walk("hmc_sample", row, {{"leapfrogs", Hamiltonian::leapfrogs}});
});

}  // namespace holdfast::galaxy_shear
