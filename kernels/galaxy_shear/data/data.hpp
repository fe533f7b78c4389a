// SPDX-License-Identifier: Apache-2.0
// The observed stamps: what the oracle draws of the truth, and noise.
#pragma once

#include <vector>

#include "galaxy_shear/problem/scene.hpp"

namespace holdfast::galaxy_shear {

// philox: normal numbers of Philox4x32-10, seed 100; pattern: a formula in pixel and realisation.
enum class Noise { philox, pattern };

// [S, S], in units of the noise's standard deviation.
std::vector<double> noise_of(Noise noise, int image, int b);

// [S, S]: several galaxies in one image.
std::vector<double> scene_data_of(const Scene& scene, Noise noise, int objects);

// [batch, S, S]. Stamps are drawn once per process and scene.
std::vector<double> data_of(const Scene& scene, Noise noise, int batch);

}  // namespace holdfast::galaxy_shear
