// SPDX-License-Identifier: Apache-2.0
// What two processes of two builds took for a step, sample by sample.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace holdfast::gate {

inline constexpr std::size_t fewest_rounds = 5;  // of samples, below which they say nothing

// By either clock: seconds per step, or the log ratio of two.
struct Reading {
  double real = 0, cpu = 0;
};

// What a sample took, the total time that its threads waited for a CPU (empty if the suite does not
// report it), and whether the device was slowed down or shared meanwhile.
struct Sample : Reading {
  std::optional<double> waited = {};
  bool disturbed = false;

  // The mean number of threads that ran or waited for a CPU at once.
  double at_once() const { return (cpu + waited.value_or(0)) / real; }
};

// Samples of both builds.
struct Samples {
  std::vector<Sample> base = {}, head = {};

  // Leaves out disturbed samples if enough others remain, and returns their share. Samples taken in
  // turn go by whole rounds, one of each build; else each goes by itself.
  double leave_out_disturbed(bool in_turn);
  // The second highest number of threads at once in any sample: the highest may be a clock error.
  double threads() const;
  // ln(head / base) of the threads at once, in the mean over all samples.
  std::optional<double> at_once() const;
  // The share of all samples' time spent waiting; empty if one sample does not report it.
  std::optional<double> waited_share() const;
  // ln(head / base) of first quartiles.
  Reading log_ratio() const;
  // ln(head / base) of means without the twentieth at either end.
  Reading log_ratio_of_means() const;
};

}  // namespace holdfast::gate
