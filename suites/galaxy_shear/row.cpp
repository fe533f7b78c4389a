// SPDX-License-Identifier: Apache-2.0
#include "galaxy_shear/row.hpp"

#include "galaxy_shear/problem/words.hpp"

namespace holdfast::galaxy_shear {

Unit unit_of(const Row& row) {
  if (row.family == &families::render) return Unit::render;
  if (row.family == &families::render_grad) return Unit::render_grad;
  if (row.family == &families::forward) return Unit::forward;
  if (row.family == &families::scene_step) return Unit::scene_step;
  if (row.family == &families::psf_table) return Unit::psf_table;
  if (row.family == &families::vi_step) return Unit::vi_step;
  if (row.family == &families::hmc_sample) return Unit::hmc_sample;
  return row.family == &families::map ? Unit::map : Unit::svi_step;
}

std::unique_ptr<Computation> make_unit(const Row& row, Backend& backend, Variant variant) {
  return make(unit_of(row), backend, variant, row.options);
}

void estimate(const Row& row, Steps& steps) {
  steps.estimate_bytes = [=](const Backend& backend, Variant variant) {
    return formula_peak_bytes(backend, variant, unit_of(row), row.options);
  };
}

std::string named(const std::string& family, const Row& row,
                  const std::vector<holdfast::Axis>& axes) {
  const Options& options = row.options;
  std::vector<holdfast::Axis> all = {{"fft", options.fft},
                                     {"image", options.image},
                                     {"batch", options.batch},
                                     {"psf", psf_words.of(options.psf)}};
  all.insert(all.end(), axes.begin(), axes.end());
  return id("galaxy_shear/" + family, all, name(options.precision));
}

}  // namespace holdfast::galaxy_shear
