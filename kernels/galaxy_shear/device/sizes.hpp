// SPDX-License-Identifier: Apache-2.0
// How a device holds galaxies: one in a block's shared memory, or several blocks and planes between
// their launches. For launchers and for the formula of what is held.
#pragma once

#include <algorithm>
#include <cstdint>

#include "galaxy_shear/device/shared_bytes.hpp"
#include "galaxy_shear/problem/scene.hpp"
#include "runtime/count/launch.hpp"

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

// Blocks of the launches of a scene (scene.cu).
struct SceneBlocks {
  unsigned columns = 0;  // of samples, a block each
  unsigned rows = 0;     // a pair of rows to each group of threads
  unsigned objects = 0;  // that meet the residual, one to each group of threads
  unsigned slices = 0;   // among which columns of the residual are dealt out
  unsigned pieces = 0;   // of an object's sums: of each slice, one of each warp of its group
};
// Slices are as many as give a large device two blocks to each of its multiprocessors.
inline SceneBlocks scene_blocks(const Scene& scene, int objects) {
  const unsigned lanes = unsigned(scene.fft) / 8, groups = stamp_threads / lanes;
  SceneBlocks all = {.columns = unsigned(scene.fft) / 2 + 1};
  all.rows = blocks((scene.image + 1) / 2, groups);
  all.objects = blocks(objects, groups);
  all.slices = std::min(all.columns, blocks(256, all.objects));
  all.pieces = all.slices * std::max(1u, lanes / 32);
  return all;
}

// Bytes of a block's shared memory: waves along y of an object to each group of threads.
inline std::size_t scene_waves_bytes(const Scene& scene, std::size_t value) {
  return 2 * value * (8 * std::size_t{stamp_threads} / scene.fft) * (scene.fft / 2 + 1);
}

}  // namespace holdfast::galaxy_shear
