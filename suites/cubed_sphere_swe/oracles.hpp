// SPDX-License-Identifier: Apache-2.0
// The oracles of this suite, and the invariants that must hold after the timed section.
#pragma once

#include <functional>

#include "cubed_sphere_swe/problem/golden.hpp"
#include "cubed_sphere_swe/row.hpp"
#include "families/invariants.hpp"

namespace holdfast::cubed_sphere_swe {

// Lengths of the fields of a row's result.
std::vector<std::size_t> fields(const Row& row);

// The allowed error relative to each field's largest magnitude; larger for long loops and for
// smooth starts.
double accuracy(Precision precision);
double accuracy(const Row& row);

// The dense reference on the host, or a substitute where that takes too long. Also the smallest
// grid: `golden` are values of the row's result there; for a row without any the host computes
// them.
using Golden = std::function<std::vector<GoldenValue>(const std::vector<double>& result)>;
Oracle oracle(const Row& row, const Golden& golden);
Oracle oracle(const Row& row, std::vector<GoldenValue> (*golden)(const State&));

// The name of the smallest grid's oracle.
std::string small_oracle(const Row& row);

// Mass is conserved to rounding and RK4 dissipates a rough state's energy in each step, which
// exposes an idle step, a lost border or a second forcing. For a smooth state, or steps shorter
// than usual, the loss drowns in rounding: then energy must not grow, and values must change.
Invariant conserves_mass_and_loses_energy(const Row& row);
bool loses_energy(const Row& row);

// A part of a tendency of unchanged inputs repeats to the bit; a projection in place is projected
// again, which changes nothing beyond rounding; a penalty is added again.
Invariant invariant_of_component(const Row& row);

}  // namespace holdfast::cubed_sphere_swe
