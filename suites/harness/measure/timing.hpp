// SPDX-License-Identifier: Apache-2.0
// Timing of one computation, or of two interleaved. Two are timed in ABBA rounds within one
// process, or if samples are long in AB and BA rounds, so that disturbances of the machine affect
// both.
#pragma once

#include <functional>
#include <vector>

#include "computation.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast {

// Seconds that `steps` step()s take: the steady clock on host, the device's events elsewhere.
using Timer = std::function<double(int steps)>;
Timer timer(Backend& backend, Computation& computation);

// Rounds begin until one of these limits is reached, but never fewer than the minimum. Processes
// differ by more than the noise that remains then (baselines/measured.md has the measurements).
struct TimingBudget {
  double seconds = 0.15;
  int fewest_rounds = 3;
  // Two rounds are enough if they are this long on average and fill the time: each side begins one,
  // and their mean is nearly as accurate as the median of three.
  double long_round_seconds = 0.075;
  int fewest_long_rounds = 2;
  int most_rounds = 400;
  // Samples of this length are taken once a round instead of twice: there are few such rounds, and
  // interruptions are comparatively short. The two sides then begin rounds alternately.
  double long_sample_seconds = 0.03;
  // Far below any tolerance, which is some percent: rounds end once their mean is known this well,
  // but not before a time that is long compared with interruptions.
  double settled_error = 0.002, settled_seconds = 0.1;
  // If most rounds are disturbed, more begin until this many are not, or until `patience` times the
  // budget is spent and twice the minimum of rounds is done.
  int fewest_undisturbed = 10;
  int rounds_per_undisturbed = 20;  // at most; otherwise all rounds count as disturbed
  double patience = 4;
  // Cores are shared in bursts of up to 200 ms. If too few of more than `short_rounds` rounds are
  // undisturbed, more begin until this many times the budget is spent, to find a gap.
  int short_rounds = 10;
  double patience_with_bursts = 2;
};

// Effects of other work on this process's threads; null: not observed.
struct Others {
  std::function<double()> waited = {};  // seconds so far that runnable threads had no CPU
  std::function<bool()> share = {};     // whether a core of theirs is shared right now
  bool lasts = false;                   // sharing persists: do not wait for its end
};

// A round is disturbed if its threads waited for more than this fraction of it, which affects
// threads that wait for each other, but not one that runs alone.
inline constexpr double disturbed_share = 0.02;

// Steps per sample, so that one sample lasts at least `seconds`: far above the clock's resolution,
// and on a GPU long enough to make an event's cost negligible.
int batch_for(const Timer& timer, double seconds);

// Seconds per step, one value per round and side, the mean of the round's samples. Disturbed rounds
// are left out if enough others remain, and among those the ones that begin or end on a shared
// core, which slows both sides of a round, but unequally.
struct Rounds {
  std::vector<double> a = {}, b = {};
  std::vector<double> log_ratios = {};  // ln(b / a) of each round
  double waited = 0, shared = 0;        // fractions of these rounds' time
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
// The mean without the lowest and highest fifth, which for three or more values is at least one at
// each end, so that a single interrupted round of a slow computation is left out.
double trimmed_mean(std::vector<double> values);

}  // namespace holdfast
