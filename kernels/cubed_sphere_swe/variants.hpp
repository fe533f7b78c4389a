// SPDX-License-Identifier: Apache-2.0
// Private to the workload: what the four implementations are given, and their factories. make_rhs,
// make_rk4_step and make_loop validate first and choose one of these.
#pragma once

#include <memory>
#include <vector>

#include "computation.hpp"
#include "cubed_sphere_swe/cubed_sphere_swe.hpp"
#include "runtime/backend.hpp"

namespace holdfast::cubed_sphere_swe {

enum class Unit {
  rhs,        // step(): the tendency of the start; result(): dh, dv1, dv2
  rk4_step,   // step(): one step of the chained state; result(): h, v1, v2
  loop,       // step(): `steps` steps of the chained state; result(): h, v1, v2
  component,  // step(): one part of a tendency; result(): as Component says
};

// Validated: a factory allocates and computes, and refuses nothing.
struct Problem {
  Unit unit = Unit::rhs;
  int n = 48;
  double dt = 0;         // > 0
  Options options = {};  // its dt is not read: the one above is
  Component component = {};
  State start = {};
};

// backend.device is not null.
std::unique_ptr<Computation> make_cuda_reference(Backend& backend, Problem problem);
std::unique_ptr<Computation> make_cuda_optimized(Backend& backend, Problem problem);

// Every field between a state and its tendency, as the reference forms them; for tests and for
// learning.
struct Intermediates {
  std::vector<double> projected = {};      // A h
  std::vector<double> up1 = {}, up2 = {};  // v^1, v^2
  std::vector<double> divergence = {};     // Dcv u1 + Dcv u2
  std::vector<double> penalised = {};      // the same with the boundary penalties
  std::vector<double> consensus = {};      // F*: [12 edges, n+1], along side A
};

// Parts of a stage that the optimized host variant shares among its threads, per panel. As few as
// keep all threads equally busy, for each computes a few rows of its neighbours anew.
constexpr int host_blocks_per_panel(int n, int threads) {
  int blocks = 1;
  while (6 * blocks % threads != 0 && n / (blocks + 1) >= 8) ++blocks;
  return blocks;
}

// backend.device is null. The same sources, compiled once for each instruction set.
namespace isa_v3 {
std::unique_ptr<Computation> make_host_reference(Backend& backend, Problem problem);
std::unique_ptr<Computation> make_host_optimized(Backend& backend, Problem problem);
Intermediates reference_intermediates(Backend& backend, Problem problem);
// max |h - A h| of the one-sided h that the optimized variant keeps, after problem.steps RK4 steps.
double one_sided_spread(Backend& backend, Problem problem);
}  // namespace isa_v3
namespace isa_v4 {
std::unique_ptr<Computation> make_host_reference(Backend& backend, Problem problem);
std::unique_ptr<Computation> make_host_optimized(Backend& backend, Problem problem);
Intermediates reference_intermediates(Backend& backend, Problem problem);
double one_sided_spread(Backend& backend, Problem problem);
}  // namespace isa_v4

}  // namespace holdfast::cubed_sphere_swe
