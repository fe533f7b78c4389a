// SPDX-License-Identifier: Apache-2.0
// Private to the host variants: the factories of single parts of a tendency.
#pragma once

#include <memory>

#include "computation.hpp"
#include "cubed_sphere_swe/problem/problem.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {

std::unique_ptr<Computation> make_host_reference_component(Backend& backend,
                                                           const Problem& problem);
std::unique_ptr<Computation> make_host_optimized_component(Backend& backend, Problem problem);

}  // namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA
