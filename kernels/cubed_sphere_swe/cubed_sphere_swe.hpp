// SPDX-License-Identifier: Apache-2.0
// Linear shallow water on the cubed sphere: the computations for given sizes, options and states.
// README.md has the mathematics and the notation.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "computation.hpp"
#include "cubed_sphere_swe/problem/options.hpp"
#include "cubed_sphere_swe/problem/state.hpp"
#include "cubed_sphere_swe/problem/work.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast::cubed_sphere_swe {

// Throws Error{bad_input} for unsupported sizes or options, before anything is allocated.
void validate(Size size, const Options& options);
double time_step(Size size, const Options& options);

// result(): h, v1, v2 of the tendency or the state, concatenated in this order.
std::unique_ptr<Computation> make_rhs(Backend&, Variant, Size, const Options& = {},
                                      const std::optional<State>& start = {});
std::unique_ptr<Computation> make_rk4_step(Backend&, Variant, Size, const Options& = {},
                                           const std::optional<State>& start = {});
std::unique_ptr<Computation> make_loop(Backend&, Variant, Size, const Options& = {},
                                       const std::optional<State>& start = {});

std::unique_ptr<Computation> make_component(Backend&, Variant, Size, const Component&,
                                            const Options& = {},
                                            const std::optional<State>& start = {});

// High-water mark in bytes of device memory of a step, or of a loop if `diagnostics` are requested,
// by the README's formula, for the bound "within 1 %"; a tendency alone holds fewer states.
std::int64_t formula_peak_bytes(const Backend&, Variant, Size, const Options& options = {});

}  // namespace holdfast::cubed_sphere_swe
