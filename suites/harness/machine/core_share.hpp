// SPDX-License-Identifier: Apache-2.0
// Whether somebody else computes on the other half of a core. Two hardware threads share its units
// of execution; a hypervisor may give the other one to another machine, which no counter of this
// one tells, and what fills a core then takes up to twice as long.
#pragma once

#include <functional>
#include <vector>

namespace holdfast {

// Of each thread of the team at once: how long independent additions take, over how long
// multiplications that wait for each other take. Those need all units of a core and these one, and
// both follow its clock: the quotient grows where the core is shared, and for no other reason.
std::vector<double> crowding();

class CoreShare {
 public:
  explicit CoreShare(std::function<std::vector<double>()> probe = crowding)
      : probe_(std::move(probe)) {}

  // Looks, for some 30 us: whether one of the cores is shared, by the best that was seen so far.
  bool shared();

  // What was timed: whether it had to do without rounds on free cores. After a few such findings
  // in a row nobody waits for the end of a burst any more.
  void note(bool never_free) { in_vain_ = never_free ? in_vain_ + 1 : 0; }
  bool lasting() const { return in_vain_ >= few; }

 private:
  static constexpr int few = 3;
  std::function<std::vector<double>()> probe_;
  std::vector<double> seen_ = {};  // sorted
  int in_vain_ = 0;
};

// The process's own, which has looked around for a while when it is first asked for.
CoreShare& core_share();

}  // namespace holdfast
