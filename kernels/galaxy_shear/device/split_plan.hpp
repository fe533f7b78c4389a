// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels of split.cu, for launcher and kernels.
#pragma once

#include "galaxy_shear/problem/formulas.hpp"

namespace holdfast::galaxy_shear {

// What pixels become: images; a weighted sum and its gradient; a loss with or without gradient.
enum Pass { draws, weighs, descends, compares };

// Galaxies from `first` on. zs: [batch, 8]; null: the states give the shapes.
template <class T>
struct SplitPlan {
  const T* attenuation = nullptr;
  const T* roots = nullptr;
  const double* zs = nullptr;
  FitState* states = nullptr;
  T* planes = nullptr;      // [galaxies of one launch, s, H + 1] complex
  double* parts = nullptr;  // [batch, parts, 7]
  int first = 0;
};

}  // namespace holdfast::galaxy_shear
