// SPDX-License-Identifier: Apache-2.0
// For tests: claims about variational inference and Hamiltonian Monte Carlo that hold on every
// backend.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "galaxy_shear/oracle/oracle.hpp"
#include "galaxy_shear/problem/walks.hpp"
#include "galaxy_shear/testing/support.hpp"
#include "testing/differences.hpp"

namespace holdfast::galaxy_shear {

// The published evidence bound of the benchmark, and its slopes by location and rho, a tenth of
// which are the moments after a first step.
inline Problem published_inference() {
  Problem problem = batch_of(Unit::vi_step, {});
  problem.starts = {0.01, 0, 0.05, -0.02};
  problem.spread = 1e-3;
  problem.noise = {0.3, -1.1, 0.7, 0.2};
  return problem;
}
inline void expect_published_inference(const std::vector<double>& found) {
  const double slopes[] = {9.0542973389185232e+05,  -3.6847957886032565e+06, 4.8716371202830588e+06,
                           -1.9493281783606333e+06, 2.7049365080101802e+02,  4.0502499049902681e+03,
                           3.4074419792550202e+03,  -3.9067026798228045e+02};
  ASSERT_EQ(found.size(), 4u * 4 + 3);
  for (int k = 0; k < 8; ++k)
    EXPECT_NEAR(10 * found[8 + k], slopes[k], 1e-9 * std::abs(slopes[k < 4 ? 2 : 5])) << k;
  EXPECT_NEAR(found[16], 1.1628465598029217e+05, 1e-5);
  EXPECT_EQ(found[17], 1) << "evaluations";
  EXPECT_EQ(found[18], 0) << "status";
}

// Three steps with drawn noise.
inline void expect_inference(Backend& backend) {
  const golden::Golden t = golden::t_gaussian();
  const Problem problem = problem_of(Unit::vi_step, t);
  const auto found = after(backend, Variant::optimized, problem, 3);
  const auto expected = oracle::inference(t.scene, problem.data, t.start, problem.spread, 3);
  const std::span all(found);
  EXPECT_LT(largest_difference(all.first(8), expected.location), 1e-10);
  EXPECT_LT(largest_difference(all.subspan(8, 8), expected.rho), 1e-10);
  EXPECT_NEAR(found[32], expected.loss, 1e-9 * std::abs(expected.loss));
}

// Each of two galaxies has data of its own and, if these are equal, noise of its own.
inline void expect_walks_apart(Backend& backend) {
  const auto repeat_first = [](std::vector<double>& values) {
    const auto half = static_cast<std::ptrdiff_t>(values.size() / 2);
    std::copy_n(values.begin(), half, values.begin() + half);
  };
  for (const Unit unit : {Unit::vi_step, Unit::hmc_sample}) {
    const Problem two = batch_of(unit, {.fft = 16, .image = 8, .batch = 2});
    Problem other_data = two;
    repeat_first(other_data.starts);
    Problem alike = other_data;
    repeat_first(alike.data);
    const auto of_both = after(backend, Variant::optimized, alike);
    const std::size_t fields = unit == Unit::vi_step ? 4 : 3;  // [2, latents], before the losses
    const std::size_t at = fields * 2 * two.scene.latents.size();
    EXPECT_EQ(of_both.at(at), after(backend, Variant::optimized, alone(two, 0)).at(at / 2));
    EXPECT_NE(of_both.at(at + 1), of_both.at(at)) << int(unit);
    EXPECT_NE(of_both.at(at + 1), after(backend, Variant::optimized, other_data).at(at + 1))
        << int(unit);
  }
}

// Whether a trajectory is accepted is drawn for each galaxy separately. Data of little noise make
// leapfrogs so coarse that an end is refused, and that the first galaxy's draw would decide
// differently for another galaxy.
inline void expect_own_acceptance(Backend& backend) {
  constexpr unsigned batch = 6;
  Problem problem = batch_of(Unit::hmc_sample, {.fft = 16, .image = 8, .batch = batch});
  problem.scene.noise *= 0.3;
  const auto found = after(backend, Variant::optimized, problem);
  const auto last = std::span(found).last(4 * batch);  // losses, errors, taken, evaluations
  const auto errors = last.subspan(batch, batch), taken = last.subspan(2 * batch, batch);
  const auto keeps = [&](unsigned b, unsigned whose) {
    return std::log(drawn(8, whose, Hamiltonian::stream, 0).first) < -errors[b];
  };
  int refused = 0, unlike_the_first = 0;
  for (unsigned b = 0; b < batch; ++b) {
    EXPECT_EQ(taken[b], keeps(b, b)) << "galaxy " << b << ", error " << errors[b];
    refused += !keeps(b, b);
    unlike_the_first += keeps(b, b) != keeps(b, 0);
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(unlike_the_first, 0);
}

// Samples of a small scene against leapfrogs with the oracle's gradients.
inline void expect_samples(Backend& backend, int samples = 2) {
  const golden::Golden t = golden::t_gaussian();
  Problem problem = problem_of(Unit::hmc_sample, t);
  problem.starts = latents_of(t.scene, t.truth);
  const auto found = after(backend, Variant::optimized, problem, samples);
  const oracle::Chain expected = oracle::chain(t.scene, problem.data, problem.starts, samples);
  const std::size_t count = problem.starts.size();
  const std::span all(found);
  ASSERT_EQ(found.size(), 3 * count + 4);
  EXPECT_LT(largest_difference(all.first(count), expected.u), 1e-10);
  EXPECT_LT(largest_difference(all.subspan(count, count), expected.end), 1e-10);
  EXPECT_LT(largest_difference(all.subspan(2 * count, count), expected.momentum), 1e-8);
  EXPECT_NEAR(found[3 * count], expected.loss, 1e-9 * std::abs(expected.loss));
  EXPECT_NEAR(found[3 * count + 1], expected.error, 1e-8);
  EXPECT_LT(std::abs(expected.error), 1e-3) << "a leapfrog keeps its energy";
  EXPECT_EQ(found[3 * count + 2], expected.taken);
  EXPECT_EQ(found[3 * count + 3], 17 * samples) << "evaluations of the gradient";
}

}  // namespace holdfast::galaxy_shear
