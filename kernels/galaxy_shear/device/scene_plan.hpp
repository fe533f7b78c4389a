// SPDX-License-Identifier: Apache-2.0
// What the kernels of scene.cu are given; for launcher and kernels.
#pragma once

#include "galaxy_shear/problem/objects.hpp"

namespace holdfast::galaxy_shear {

template <class T>
struct ScenePlan {
  const T* attenuation = nullptr;
  const T* roots = nullptr;
  FitState* states = nullptr;  // [1 + objects]
  T* waves = nullptr;          // [objects, along x and y, H + 1] complex
  T* forms = nullptr;          // [objects, 4]
  T* rows = nullptr;           // [s, H + 1] complex
  T* spectrum = nullptr;       // [H, n] complex
  double* misfits = nullptr;   // [parts]
  Share* shares = nullptr;     // [objects]
  int objects = 0;
};

}  // namespace holdfast::galaxy_shear
