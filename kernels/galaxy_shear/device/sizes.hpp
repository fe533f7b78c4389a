// SPDX-License-Identifier: Apache-2.0
// How a device holds galaxies: one in a block's shared memory, or split over several blocks, with
// planes in global memory between their launches. For launchers and for the memory formula.
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

// value: bytes per number; most: the architecture's limit of shared memory per block.
inline bool fused(const Scene& scene, std::int64_t value, std::int64_t most) {
  return static_cast<std::int64_t>(shared_bytes(value, scene.fft, scene.image, stamp_threads)) <=
         most;
}

// split_plane: samples per galaxy between the launches; split_galaxies: galaxies at a time, whose
// planes stay within 32 MiB and so in the L2 cache.
inline std::int64_t split_plane(const Scene& scene) {
  return std::int64_t{scene.image} * (scene.fft / 2 + 1);
}
inline int split_galaxies(const Scene& scene, std::int64_t value, int batch) {
  const std::int64_t room = (std::int64_t{32} << 20) / (2 * value * split_plane(scene));
  return static_cast<int>(std::clamp<std::int64_t>(room, 1, batch));
}

// Numbers of blocks and parts in the launches of a scene (scene.cu).
struct SceneBlocks {
  unsigned columns = 0;  // of samples, one block each
  unsigned rows = 0;     // one pair of rows per group of threads
  unsigned objects = 0;  // blocks that combine objects with the residual, one per group of threads
  unsigned slices = 0;   // that the residual's columns are dealt out to
  unsigned pieces = 0;   // sums per object: one per slice and warp of its group
};
// As many slices as give a large device two blocks per multiprocessor.
inline SceneBlocks scene_blocks(const Scene& scene, int objects) {
  const unsigned lanes = unsigned(scene.fft) / 8, groups = stamp_threads / lanes;
  SceneBlocks all = {.columns = unsigned(scene.fft) / 2 + 1};
  all.rows = blocks((scene.image + 1) / 2, groups);
  all.objects = blocks(objects, groups);
  all.slices = std::min(all.columns, blocks(256, all.objects));
  all.pieces = all.slices * std::max(1u, lanes / 32);
  return all;
}

// Bytes of shared memory per block: an object's waves along y for each group of threads.
inline std::size_t scene_waves_bytes(const Scene& scene, std::size_t value) {
  return 2 * value * (8 * std::size_t{stamp_threads} / scene.fft) * (scene.fft / 2 + 1);
}

}  // namespace holdfast::galaxy_shear
