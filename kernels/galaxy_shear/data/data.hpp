// SPDX-License-Identifier: Apache-2.0
// The observed stamps: the oracle's images of the truth, plus noise.
#pragma once

#include <vector>

#include "galaxy_shear/problem/problem.hpp"
#include "galaxy_shear/problem/scene.hpp"

namespace holdfast::galaxy_shear {

// philox: normal numbers of Philox4x32-10, seed 100; pattern: a formula in pixel and realisation.
enum class Noise { philox, pattern };

// [S, S], in units of the noise's standard deviation.
std::vector<double> noise_of(Noise noise, int image, int b);

// [S, S]: several galaxies in one image.
std::vector<double> scene_data_of(const Scene& scene, Noise noise, int objects);

// [batch, S, S], of realisations from `first` on. Stamps are drawn once per process and scene.
std::vector<double> data_of(const Scene& scene, Noise noise, int batch, int first = 0);

// For computations that start again: a problem's own truths or data (input 0), or those of the same
// number of following realisations (input 1).
std::vector<double> truths_of(const Problem& problem, int input);
std::vector<double> data_of(const Problem& problem, int input);

}  // namespace holdfast::galaxy_shear
