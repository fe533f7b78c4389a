// SPDX-License-Identifier: Apache-2.0
// The oracle's answers in the form of a computation's result.
#pragma once

#include <cstddef>
#include <vector>

#include "gpt_train/newton_schulz.hpp"
#include "gpt_train/problem/problem.hpp"

namespace holdfast::gpt_train::oracle {

// After so many steps, of which only an update and a training step go on from one another.
std::vector<double> answer(Unit unit, const Options& options, int steps);

// Each of the matrices by itself.
std::vector<double> answer(const Matrices& what);

// The worst field's difference, each by the norm of what is expected of it; the norm of what was
// found where nothing is expected.
double distance(const std::vector<std::size_t>& fields, const std::vector<double>& found,
                const std::vector<double>& expected);

// Below, `found` has a finite distance from `expected`.

// The worst token's row of all fields that have one for each token, by the norm that is expected of
// it or by that of its field's rows in the root mean square, whichever is larger.
double distance_of_rows(Unit unit, const Options& options, const std::vector<double>& found,
                        const std::vector<double>& expected);

// The worst tensor's difference, of a unit that trains, by how far it is expected to have moved
// from where it was drawn.
double distance_of_movement(const Options& options, const std::vector<double>& found,
                            const std::vector<double>& expected);

// By so much of itself a tensor must move for f32 to tell how far.
inline constexpr double resolved_movement = 1e-5;

}  // namespace holdfast::gpt_train::oracle
