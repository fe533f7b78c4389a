// SPDX-License-Identifier: Apache-2.0
// What the kernels of split.cu are given; for launcher and kernels.
#pragma once

#include "galaxy_shear/problem/formulas.hpp"

namespace holdfast::galaxy_shear {

// What becomes of pixels: images; a sum with weights, and back; a loss, and back or not.
enum Pass { draws, weighs, descends, compares };

// Galaxies from `first` on. zs: [batch, 8], or none, and the shapes are those of states.
template <class T>
struct SplitPlan {
  const T* attenuation = nullptr;
  const T* roots = nullptr;
  const double* zs = nullptr;
  FitState* states = nullptr;
  T* planes = nullptr;      // [of one launch, s, H + 1] complex
  double* parts = nullptr;  // [batch, parts, 7]
  int first = 0;
};

}  // namespace holdfast::galaxy_shear
