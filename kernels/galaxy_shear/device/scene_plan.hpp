// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels of scene.cu, for launcher and kernels.
#pragma once

#include "galaxy_shear/problem/objects.hpp"

namespace holdfast::galaxy_shear {

// The threads of scene_finish, and the objects whose sums it adds up at once.
inline constexpr int finishing_threads = 512, objects_at_once = 16;

// In arrays of [1 + objects] the first entry is the shear's.
template <class T>
struct ScenePlan {
  const T* attenuation = nullptr;
  const T* roots = nullptr;
  FitState* states = nullptr;  // [1 + objects]
  Point* points = nullptr;     // [1 + objects], an object's with the shear
  T* waves = nullptr;          // [objects, along x and y, H + 1] complex
  T* forms = nullptr;          // [objects, 4]
  T* rows = nullptr;           // [s, H + 1] complex
  double* misfits = nullptr;   // [parts of the rows]
  double* sums = nullptr;      // [pieces, objects, 6]
  Share* shares = nullptr;     // [objects]
  int objects = 0;
};

}  // namespace holdfast::galaxy_shear
