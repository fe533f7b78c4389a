// SPDX-License-Identifier: Apache-2.0
// The minimal work of each computation.
#pragma once

#include "computation.hpp"
#include "cubed_sphere_swe/problem/options.hpp"

namespace holdfast::cubed_sphere_swe {

// Work per step() of each computation.
Work rhs_work(Size size, const Options& options = {});
Work rk4_step_work(Size size, const Options& options = {});
Work loop_work(Size size, const Options& options);
Work component_work(Size size, const Component& component, const Options& options);

}  // namespace holdfast::cubed_sphere_swe
