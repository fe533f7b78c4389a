// SPDX-License-Identifier: Apache-2.0
// A workload that can be made worse on purpose, for tests that the gate notices: a smoothing
// stencil on a ring, host and device, and plants for its optimized variant: HOLDFAST_PLANT=<plant>
// in the environment, or, so that a build carries its plant with it, "\nHOLDFAST_PLANT=<plant>"
// appended to the binary.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "computation.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast::planted {

struct Plant {
  enum class Kind {
    nothing,
    launch,       // one more kernel per step
    allocation,   // one more buffer
    recompile,    // a program compiled in every step, as permitted
    undeclared,   // the same without permission
    slow,         // more work on host
    coefficient,  // a wrong one
    crash,        // the process ends in the first step
    skips,        // every tenth step after forty does nothing, on host
    idles,        // every second step does nothing, where steps are not chained
    remembers,    // every second step returns the last one's result, likewise
    nan,          // the result is NaN, on host
    no_graph,     // the host launches the kernels of a graph
    shape,        // blocks of half the threads
    copy_back,    // the new state is copied over the old one, on a device
    fill,         // the new state is zeros before it is computed, on a device
    twice,        // a kernel that is told to do its work twice, on a device
    dynamic,      // unused dynamic shared memory
  };
  Kind kind = Kind::nothing;
  double percent = 0;  // of slow: extra work; "slow:5" is 5 %, "slow" is 100 %
  bool operator==(const Plant&) const = default;
};

// `percent` more work per step over n elements: passes over all of them, and over `elements` of the
// inner ones.
struct MoreWork {
  int passes = 0, elements = 0;
  bool operator==(const MoreWork&) const = default;
};
MoreWork more_work(double percent, int n);

Plant plant();                              // of this process
Plant parse_plant(std::string_view words);  // Error{bad_input} for an unknown one

// step(): x_i <- (x_{i-1} + 2 x_i + x_{i+1}) / 4 on a ring of n; result(): x.
std::unique_ptr<Computation> make_smooth(Backend& backend, Variant variant, int n);
Work smooth_work(int n);
std::vector<double> smooth_expected(int n, int steps);

// On host, not chained: y <- the same of x; result(): y. Input 1 is twice input 0.
std::unique_ptr<Computation> make_once(Backend& backend, Variant variant, int n);

// On a device: eight steps of `smooth` in one, which the optimized variant replays as a graph.
inline constexpr int loop_steps = 8;
std::unique_ptr<Computation> make_loop(Backend& backend, Variant variant, int n);

}  // namespace holdfast::planted
