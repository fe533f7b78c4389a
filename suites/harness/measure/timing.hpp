// SPDX-License-Identifier: Apache-2.0
// Timing of one computation, or of two in turn. Two are timed in ABBA rounds within one process, or
// where samples are long in AB and BA rounds, so that whatever the machine does meanwhile happens
// to both.
#pragma once

#include <functional>
#include <vector>

#include "computation.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast {

// Seconds that `steps` step()s take: the steady clock on host, the device's events elsewhere.
using Timer = std::function<double(int steps)>;
Timer timer(Backend& backend, Computation& computation);

// Rounds begin until one of these is reached, but never fewer than the fewest. Processes differ by
// more than what is left of the noise then (baselines/README.md tells what was measured).
struct TimingBudget {
  double seconds = 0.15;
  int fewest_rounds = 3;
  // Of rounds so long on average, of which two fill the time, two suffice: either side begins one,
  // and their mean is known nearly as well as the middle one of three.
  double long_round_seconds = 0.075;
  int fewest_long_rounds = 2;
  int most_rounds = 400;
  // Samples of this length are taken once a round and not twice: there are few rounds of them, and
  // whatever interrupts them is short. Rounds of two sides then begin with either in turn.
  double long_sample_seconds = 0.03;
  // What a tolerance of some percent never sees: rounds end where their mean is known so well,
  // after a while that is long against whatever interrupts them.
  double settled_error = 0.002, settled_seconds = 0.1;
  // Where most rounds are disturbed, until there are so many others or so many times as much was
  // spent, on twice the fewest rounds at least.
  int fewest_undisturbed = 10;
  int rounds_per_undisturbed = 20;  // at most, or all of them count as disturbed
  double patience = 4;
  // Cores are shared in bursts of up to 200 ms. Where none is undisturbed and more rounds than
  // these fit in, so that they find a gap, until as many times as much was spent.
  int short_rounds = 10;
  double patience_with_bursts = 2;
};

// What others do to the threads of this process; none: nobody asks.
struct Others {
  std::function<double()> waited = {};  // seconds for which the threads wanted a CPU so far
  std::function<bool()> share = {};     // whether a core of theirs is shared right now
  bool lasts = false;                   // sharing: nobody waits for its end
};

// A round is disturbed where its threads waited for more than this share of it: threads that wait
// for each other are then hit, and one that runs alone is not.
inline constexpr double disturbed_share = 0.02;

// Steps per sample, so that one sample lasts at least `seconds`: far above the clock's resolution,
// and on a GPU long enough that the cost of an event is lost in it.
int batch_for(const Timer& timer, double seconds);

// Seconds per step: one value per round in each, the mean of the round's samples. Disturbed
// rounds are left out where enough are not, and of the others those that begin or end on a shared
// core: both sides of a round are slowed by that, but not alike.
struct Rounds {
  std::vector<double> a = {}, b = {};
  std::vector<double> log_ratios = {};  // ln(b / a) of each round
  double waited = 0, shared = 0;        // shares of the time of these rounds
};
Rounds time_in_turn(const Timer& a, int batch_a, const Timer& b, int batch_b,
                    const TimingBudget& budget, const Others& others = {});
struct Alone {
  std::vector<double> seconds = {};
  double waited = 0, shared = 0;
};
Alone time_alone(const Timer& timer, int batch, const TimingBudget& budget,
                 const Others& others = {});

double median(std::vector<double> values);
// Without the lowest and highest fifth; of three values or more without one of each at least, so
// that a single interrupted round of a slow computation is left out.
double trimmed_mean(std::vector<double> values);

}  // namespace holdfast
