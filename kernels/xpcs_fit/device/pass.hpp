// SPDX-License-Identifier: Apache-2.0
// Private to the device's optimized variant: a pass over all data in three launches.
#pragma once

#include <algorithm>

#include "xpcs_fit/device/frames.hpp"
#include "xpcs_fit/problem/normal.hpp"

namespace holdfast::xpcs_fit {

template <class T>
class DevicePass {
 public:
  DevicePass(Backend& backend, const Problem& problem)
      : DevicePass(backend, problem, problem.input->size.plane()) {}
  // For up to `pairs` pairs at a time.
  DevicePass(Backend& backend, const Problem& problem, std::int64_t pairs)
      : count_(sum_count(local_parameters(problem.options.mode))),
        groups_(group_count(problem.options, problem.input->size.angles)),
        blocks_(static_cast<int>(resident_blocks(backend, pairs, blocks_each(groups_)))),
        loss_scale_(problem.options.loss_scale),
        frames_(backend, problem),
        kernels_(*backend.compiler, problem.options),
        partial_(backend, static_cast<std::size_t>(groups_) * blocks_ * count_, "partial sums"),
        sums_(backend, static_cast<std::size_t>(groups_) * count_, "result") {}

  void enqueue(const Points<T>& points, const double* parameters, int parameter_count) const {
    prepare(parameters, parameter_count);
    add_up(points, sums_.data());
  }
  // The two halves of a pass: the values that depend on the parameters only, and sums over some
  // points.
  void prepare(const double* parameters, int parameter_count) const {
    frames_.enqueue(parameters, parameter_count);
  }
  void add_up(const Points<T>& points, double* sums) const {
    kernels_.pass({.grid = {static_cast<unsigned>(blocks_), static_cast<unsigned>(groups_)},
                   .block = {pair_threads}},
                  frames_.grid(), points, frames_.grid().angles / groups_, loss_scale_,
                  frames_.frames(), frames_.rows(), partial_.data());
    frames_.reduce(partial_.data(), groups_, blocks_, count_, sums);
  }
  std::size_t sum_size() const { return sums_.size(); }
  const CommonKernels& kernels() const { return frames_.kernels(); }
  // [groups, count], for assemble().
  const Buffer<double>& sums() const { return sums_; }

 private:
  // Two blocks' registers fill a multiprocessor; a few times as many if each angle is a group.
  static int blocks_each(int groups) { return groups == 1 ? 2 : std::max(1, 8 / groups); }

  int count_, groups_, blocks_;
  double loss_scale_;
  DeviceFrames<T> frames_;
  PassKernels<T> kernels_;
  Buffer<double> partial_, sums_;
};

}  // namespace holdfast::xpcs_fit
