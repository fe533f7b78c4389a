// SPDX-License-Identifier: Apache-2.0
// Deciding between two builds from paired units: exact signed-rank bounds on the shift, looked at a
// few times while units come in. Hollander, Wolfe, Chicken, "Nonparametric Statistical Methods",
// sections 3.1 to 3.3.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::gate {

// The Hodges-Lehmann estimate of the centre of symmetric units, and exact one-sided bounds on it:
// each is wrong with probability `alpha` at most. Infinite if there are too few units for a bound.
struct Shift {
  double estimate = 0, lower = 0, upper = 0;
};
Shift shift(std::span<const double> units, double alpha);

// How a sequence of looks spends its chance of error.
struct Looks {
  std::vector<int> units = {14, 20, 28, 40, 56, 80, 112, 160};
  double alpha = 0.005;  // one-sided, over all looks; divided in proportion to the units

  // The part of alpha for the look at this number of units; empty if there is none.
  std::optional<double> alpha_at(int units_so_far) const;

  // The part of alpha that the looks up to this number of units leave for a last look when the
  // budget ends. The parts still add up to alpha, which bounds the chance that any look errs,
  // whatever the final number of units, because the clock ends the sequence and not what the units
  // say.
  double rest_after(int units_so_far) const;
};

// environment: both variants moved as much, which excuses their ratio, and not the time.
enum class Paired { regression, improved, pass, environment, undecided };

// What one look says of ln(head / base), given the tolerance: 0.02 lets 2 % pass.
Paired verdict_of(const Shift& shift, double tolerance);

// The smallest slowdown, as a fraction, that units like these would have shown beyond the
// tolerance: 0.014 is 1.4 %.
double smallest_shown(const Shift& shift, double tolerance);

// Two clear modes in the units (frequency states, alignment): a sentence with both and their
// shares. They are reported and widen nothing.
std::optional<std::string> two_modes(std::span<const double> units);

// The exact 95 % interval of a chance that was seen `hits` times in `trials` (Clopper and Pearson,
// 1934).
struct Chance {
  double lower = 0, upper = 1;
};
Chance chance(int hits, int trials);

}  // namespace holdfast::gate
