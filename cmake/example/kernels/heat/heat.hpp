// SPDX-License-Identifier: Apache-2.0
// Two-dimensional heat conduction on a torus, by explicit steps (README.md).
#pragma once

#include <memory>
#include <vector>

#include "computation.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast::heat {

struct Size {
  int n = 64;  // points along either direction
};

// step(): one step of the chained state; result(): u, [n, n].
std::unique_ptr<Computation> make_step(Backend& backend, Variant variant, Size size);
Work step_work(Size size);
// The state after so many steps, by the growth factor of its mode; after none: the start.
std::vector<double> exact(Size size, int steps);

// Private to the workload: make_step validates and chooses one of these.
using Factory = std::unique_ptr<Computation>(Backend& backend, Variant variant, Size size);
Factory make_on_device;
namespace isa_v3 {
Factory make_on_host;
}
namespace isa_v4 {
Factory make_on_host;
}

}  // namespace holdfast::heat
