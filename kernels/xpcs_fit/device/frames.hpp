// SPDX-License-Identifier: Apache-2.0
// Private to the device's optimized variant: the integrals over the frames for sets of parameters,
// and launch shapes.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/backend/buffer.hpp"
#include "xpcs_fit/device/kernels.hpp"

namespace holdfast::xpcs_fit {

inline Grid grid_of(const Problem& problem) {
  const Input& input = *problem.input;
  return {.kappa = input.physics.kappa(),
          .flow = input.physics.flow(),
          .dt = input.physics.dt,
          .angles = input.size.angles,
          .count = input.size.frames,
          .laminar = laminar(problem.options),
          .per_angle = problem.options.scaling == Scaling::per_angle};
}

// As many blocks as there is work for, and at most as many as the device holds at once.
inline unsigned resident_blocks(const Backend& backend, std::int64_t pairs,
                                int per_multiprocessor) {
  const auto most = static_cast<std::int64_t>(backend.device->architecture().multiprocessors) *
                    per_multiprocessor;
  return static_cast<unsigned>(std::clamp<std::int64_t>((pairs + pair_threads - 1) / pair_threads,
                                                        1, std::max<std::int64_t>(most, 1)));
}

template <class T>
class DeviceFrames {
 public:
  DeviceFrames(Backend& backend, const Problem& problem, int sets = 1)
      : grid_(grid_of(problem)),
        sets_(sets),
        kernels_(*backend.compiler),
        angles_(backend, problem.input->angles, "angles"),
        work_(backend, static_cast<std::size_t>(sets) * 8 * grid_.count, "frames"),
        frames_(backend, work_.size(), "frames"),
        rows_(backend, static_cast<std::size_t>(sets) * grid_.angles, "angles") {}

  // parameters: [sets, parameter_count], on the device.
  void enqueue(const double* parameters, int parameter_count) const {
    const unsigned arrays = grid_.laminar ? 8 : 4;
    kernels_.prefix<T>()({.grid = {static_cast<unsigned>(sets_), arrays}, .block = {frame_threads}},
                         grid_, parameters, parameter_count, angles_.data(), work_.data(),
                         frames_.data(), rows_.data());
  }
  // partial: [groups, slots, count].
  void reduce(const double* partial, int groups, int slots, int count, double* sums) const {
    kernels_.reduce({.grid = {static_cast<unsigned>(count), static_cast<unsigned>(groups)},
                     .block = {sum_threads}},
                    partial, slots, count, sums);
  }
  const CommonKernels& kernels() const { return kernels_; }
  const Grid& grid() const { return grid_; }
  const T* frames() const { return frames_.data(); }
  const AngleRow<T>* rows() const { return rows_.data(); }

 private:
  Grid grid_;
  int sets_;
  CommonKernels kernels_;
  Buffer<double> angles_, work_;
  Buffer<T> frames_;
  Buffer<AngleRow<T>> rows_;
};

}  // namespace holdfast::xpcs_fit
