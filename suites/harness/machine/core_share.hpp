// SPDX-License-Identifier: Apache-2.0
// Detects whether the other half of a core is busy. Two hardware threads share its execution units;
// a hypervisor may give the other one to another machine, which no counter of this one shows, and
// work that fills a core then takes up to twice as long.
#pragma once

#include <functional>
#include <vector>

namespace holdfast {

// For each thread of the team, concurrently: the time of independent additions over that of
// dependent multiplications. The former need all units of a core, the latter one, and both follow
// its clock: the quotient grows only if the core is shared.
std::vector<double> crowding();

class CoreShare {
 public:
  explicit CoreShare(std::function<std::vector<double>()> probe = crowding)
      : probe_(std::move(probe)) {}

  // Checks, for some 30 us, whether one of the cores is shared, relative to the best value seen so
  // far.
  bool shared();

  // Notes whether a timing got no rounds on free cores. After a few such in a row, timings no
  // longer wait for the end of a burst.
  void note(bool never_free) { in_vain_ = never_free ? in_vain_ + 1 : 0; }
  bool lasting() const { return in_vain_ >= few; }

 private:
  static constexpr int few = 3;
  std::function<std::vector<double>()> probe_;
  std::vector<double> seen_ = {};  // sorted
  int in_vain_ = 0;
};

// The process's own, which observes for a while at first use.
CoreShare& core_share();

}  // namespace holdfast
