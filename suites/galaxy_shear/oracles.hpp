// SPDX-License-Identifier: Apache-2.0
// The suite's oracles, and what must hold after the timed section.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "galaxy_shear/row.hpp"
#include "harness/case/case.hpp"

namespace holdfast::galaxy_shear {

// Direct cosine sums for every galaxy. Of many whole fits, for one of them if they are at rest,
// while all must find the truth, else for four, while no loss may rise unless one of theirs does.
// Each oracle also has the published values of a small rough scene.
Oracle oracle_of(const Row& row);

// The distance of a variant's result for a small scene from its published values.
using Making = std::function<std::unique_ptr<Computation>(Problem)>;
double small_error(const Row& row, const Making& making);

// The largest difference over the largest number expected.
double relative(std::span<const double> found, std::span<const double> expected);

// A chained fit has advanced, and no galaxy has failed.
Invariant fit_goes_on(const Row& row);

// Only the benchmark's long fits come to rest: at its sizes and with its learning rate. Elsewhere
// the limits of a fit at rest would not fit.
bool rests(const Row& row);

// The largest distance of a galaxy from its truth after a whole fit at rest, in widths of the
// posterior. `result` begins with the latents of all.
double posterior_error(const Row& row, const std::vector<double>& result);

// The truncation error of an image of N samples: its distance from that of 512, over the peak.
double truncation_error(const Row& row, const std::vector<double>& image);

}  // namespace holdfast::galaxy_shear
