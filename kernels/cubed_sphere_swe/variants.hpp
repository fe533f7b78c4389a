// SPDX-License-Identifier: Apache-2.0
// Private to the workload: the factories of the four implementations. make_rhs, make_rk4_step and
// make_loop validate first and choose one of these.
#pragma once

#include <memory>
#include <vector>

#include "computation.hpp"
#include "cubed_sphere_swe/problem/problem.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast::cubed_sphere_swe {

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
