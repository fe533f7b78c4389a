// SPDX-License-Identifier: Apache-2.0
// Timing of one computation, or of two in turn. Two are timed in ABBA rounds within one process, so
// that whatever the machine does meanwhile happens to both.
#pragma once

#include <functional>
#include <vector>

#include "computation.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast {

// Seconds that `steps` step()s take: the steady clock on host, the device's events elsewhere.
using Timer = std::function<double(int steps)>;
Timer timer(Backend& backend, Computation& computation);

struct TimingBudget {
  double seconds = 0.3;  // rounds begin until it is spent
  int fewest_rounds = 3;
  int most_rounds = 400;
};

// Steps per sample, so that one sample lasts at least `seconds`: far above the clock's resolution,
// and on a GPU long enough that the cost of an event is lost in it.
int batch_for(const Timer& timer, double seconds);

// Seconds per step: one value per round in each, the mean of the round's two samples.
struct Rounds {
  std::vector<double> a = {}, b = {};
  std::vector<double> log_ratios = {};  // ln(b / a) of each round
};
Rounds time_in_turn(const Timer& a, int batch_a, const Timer& b, int batch_b,
                    const TimingBudget& budget);
std::vector<double> time_alone(const Timer& timer, int batch, const TimingBudget& budget);

double median(std::vector<double> values);
// Without the lowest and highest fifth; of three values or more without one of each at least, so
// that a single interrupted round of a slow computation is left out.
double trimmed_mean(std::vector<double> values);

}  // namespace holdfast
