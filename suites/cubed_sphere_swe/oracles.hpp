// SPDX-License-Identifier: Apache-2.0
// Who knows the right results of this suite, and what must hold after the timed section.
#pragma once

#include "cubed_sphere_swe/row.hpp"

namespace holdfast::cubed_sphere_swe {

// Lengths of the fields of a row's result.
std::vector<std::size_t> fields(const Row& row);

// How far a result may be from its oracle, relative to each field's largest magnitude.
double accuracy(Precision precision);

// The dense reference on the host; where that takes too long, what stands in for it. The
// smallest grid besides.
Oracle oracle(const Row& row, int warm_up);

Invariant invariant(const Row& row, int warm_up);

// What the row computes, on the smallest grid: its error against golden values, or against the
// host where there are none, and what that oracle is called.
double small_error(const Row& row, Backend& backend, Variant variant);
std::string small_oracle(const Row& row);

}  // namespace holdfast::cubed_sphere_swe
