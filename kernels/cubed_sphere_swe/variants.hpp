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

using VariantFactory = std::unique_ptr<Computation>(Backend& backend, Problem problem);

// Require backend.device.
VariantFactory make_cuda_reference, make_cuda_optimized;

// Every field between a state and its tendency in the reference; for tests and for learning.
struct Intermediates {
  std::vector<double> projected = {};      // A h
  std::vector<double> up1 = {}, up2 = {};  // v^1, v^2
  std::vector<double> divergence = {};     // Dcv u1 + Dcv u2
  std::vector<double> penalised = {};      // the same with the boundary penalties
  std::vector<double> consensus = {};      // F*: [12 edges, n+1], along side A
};

// backend.device is null. The same sources, compiled once for each instruction set.
namespace isa_v3 {
VariantFactory make_host_reference, make_host_optimized;
Intermediates reference_intermediates(Backend& backend, const Problem& problem);
// max |h - A h| of the one-sided h that the optimized variant keeps, after problem.steps RK4 steps.
double one_sided_spread(Backend& backend, Problem problem);
}  // namespace isa_v3
namespace isa_v4 {
VariantFactory make_host_reference, make_host_optimized;
}

}  // namespace holdfast::cubed_sphere_swe
