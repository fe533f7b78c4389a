// SPDX-License-Identifier: Apache-2.0
// The oracle's answers in the form of a computation's result.
#pragma once

#include <cstddef>
#include <vector>

#include "gpt_train/newton_schulz.hpp"
#include "gpt_train/problem/problem.hpp"

namespace holdfast::gpt_train::oracle {

// The result after `steps` steps, of which only updates and training steps are chained.
std::vector<double> answer(Unit unit, const Options& options, int steps);

// For each of the matrices separately.
std::vector<double> answer(const Matrices& what);

// The worst field's difference relative to the norm of its expected values, or the norm of the
// found ones if nothing is expected.
double distance(const std::vector<std::size_t>& fields, const std::vector<double>& found,
                const std::vector<double>& expected);

// Below, `found` must have a finite distance from `expected`.

// The worst difference of a token's row, over all fields with a row per token, relative to the
// larger of its expected norm and the root mean square of its field's row norms.
double distance_of_rows(Unit unit, const Options& options, const std::vector<double>& found,
                        const std::vector<double>& expected);

// The worst difference of a row or column of one of the matrices, relative to the larger of its
// expected norm and the root mean square of those of its matrix.
double distance_of_lines(const Matrices& what, const std::vector<double>& found,
                         const std::vector<double>& expected);

// For a unit that trains: the worst tensor's difference relative to its expected distance from
// where it was drawn.
double distance_of_movement(const Options& options, const std::vector<double>& found,
                            const std::vector<double>& expected);

// The relative movement that a tensor needs for f32 to resolve it.
inline constexpr double resolved_movement = 1e-5;

}  // namespace holdfast::gpt_train::oracle
