// SPDX-License-Identifier: Apache-2.0
// What two processes of two builds took for a step, sample by sample.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace holdfast::gate {

inline constexpr std::size_t fewest_rounds = 5;  // of samples, that say anything

// By either clock: seconds per step, or the log ratio of two.
struct Reading {
  double real = 0, cpu = 0;
};

// What a sample took, how long its threads waited for a CPU, together (empty from a suite that does
// not tell), and whether the device was slowed down or shared meanwhile.
struct Sample : Reading {
  std::optional<double> waited = {};
  bool disturbed = false;

  // Threads that ran or waited for a CPU at once, in the mean.
  double at_once() const { return (cpu + waited.value_or(0)) / real; }
};

// Samples of both builds.
struct Samples {
  std::vector<Sample> base = {}, head = {};

  // Leaves out the disturbed ones where enough were not, and returns their share: whole rounds of
  // those that were taken in turn, one of each build in one place; else each by itself.
  double leave_out_disturbed(bool in_turn);
  // The second highest of both: one sample may be the clocks' chance.
  double threads() const;
  // ln(head / base) of the threads at once, in the mean over all samples.
  std::optional<double> at_once() const;
  // Of the time of all samples; empty where one of them does not tell.
  std::optional<double> waited_share() const;
  // ln(head / base) of first quartiles.
  Reading log_ratio() const;
};

}  // namespace holdfast::gate
