// SPDX-License-Identifier: Apache-2.0
// Who knows the right results of this suite, and what must hold after the timed section.
#pragma once

#include <functional>

#include "cubed_sphere_swe/problem/golden.hpp"
#include "cubed_sphere_swe/row.hpp"
#include "families/invariants.hpp"

namespace holdfast::cubed_sphere_swe {

// Lengths of the fields of a row's result.
std::vector<std::size_t> fields(const Row& row);

// How far a result may be from its oracle, relative to each field's largest magnitude; that of a
// long loop farther, and that of a smooth start.
double accuracy(Precision precision);
double accuracy(const Row& row);

// The dense reference on the host; where that takes too long, what stands in for it. The smallest
// grid besides: `golden` are values of the row's result there, and where a row has none the host is
// asked for them too.
using Golden = std::function<std::vector<GoldenValue>(const std::vector<double>& result)>;
Oracle oracle(const Row& row, const Golden& golden);
Oracle oracle(const Row& row, std::vector<GoldenValue> (*golden)(const State&));

// What the oracle of the smallest grid is called.
std::string small_oracle(const Row& row);

// Mass is conserved to rounding and RK4 dissipates a rough state's energy in each step, so that an
// idle step, a lost border or a second forcing all show. Of a smooth state, or in shorter steps
// than the usual, the loss drowns in rounding: there energy does not grow, and values move.
Invariant conserves_mass_and_loses_energy(const Row& row);
bool loses_energy(const Row& row);

// A part of a tendency of unchanged inputs is the same every time, to the bit; a projection in
// place is that of a projection, which is itself to rounding; a penalty is added once more.
Invariant invariant_of_component(const Row& row);

}  // namespace holdfast::cubed_sphere_swe
