// SPDX-License-Identifier: Apache-2.0
// How a device holds galaxies: one in a block's shared memory, or several blocks and planes between
// their launches. For launchers and for the formula of what is held.
#pragma once

#include <algorithm>
#include <cstdint>

#include "galaxy_shear/device/shared_bytes.hpp"
#include "galaxy_shear/problem/scene.hpp"

namespace holdfast::galaxy_shear {

// Threads of a block: THREADS in the kernels.
inline constexpr int stamp_threads = 256;
inline constexpr unsigned split_parts = 16;  // blocks that share a galaxy

// value: bytes of a number; most: of a block's shared memory, by the architecture.
inline bool fused(const Scene& scene, std::int64_t value, std::int64_t most) {
  return static_cast<std::int64_t>(shared_bytes(value, scene.fft, scene.image, stamp_threads)) <=
         most;
}

// Samples between the launches, of one galaxy; galaxies whose planes stay within 32 MiB, which the
// second level of caches holds.
inline std::int64_t split_plane(const Scene& scene) {
  return std::int64_t{scene.image} * (scene.fft / 2 + 1);
}
inline int split_galaxies(const Scene& scene, std::int64_t value, int batch) {
  const std::int64_t room = (std::int64_t{32} << 20) / (2 * value * split_plane(scene));
  return static_cast<int>(std::clamp<std::int64_t>(room, 1, batch));
}

// Blocks that share the image of a scene: a group of threads for each column.
inline unsigned scene_parts(const Scene& scene) {
  return std::max(1u, unsigned(scene.fft) * unsigned(scene.fft) / (16 * stamp_threads));
}

}  // namespace holdfast::galaxy_shear
