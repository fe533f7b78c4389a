// SPDX-License-Identifier: Apache-2.0
// Private to streams on a device: batches of the flat order of points, which may begin and end
// within a row, and the sums over them.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "xpcs_fit/device/frames.hpp"
#include "xpcs_fit/device/slots.hpp"
#include "xpcs_fit/problem/normal.hpp"
#include "xpcs_fit/streams.hpp"

namespace holdfast::xpcs_fit {

template <class T>
class FlatSource {
 public:
  FlatSource(Backend& backend, const Problem& problem, const StreamOptions& options)
      : input_(problem.input),
        each_(std::min(options.batch, input_->size.points())),
        count_(sum_count(local_parameters(problem.options.mode))),
        blocks_(resident_blocks(backend, each_, 2)),
        slots_(backend, stream_slots, static_cast<std::size_t>(each_)),
        frames_(backend, problem),
        kernels_(*backend.compiler, problem.options),
        partial_(backend, std::size_t{blocks_} * count_, "partial sums") {}

  int count() const { return static_cast<int>((input_->size.points() + each_ - 1) / each_); }
  std::int64_t points(int batch) const {
    return std::min(each_, input_->size.points() - batch * each_);
  }
  std::size_t sum_size() const { return static_cast<std::size_t>(count_); }

  void prepare(const double* parameters, int parameter_count) const {
    frames_.enqueue(parameters, parameter_count);
  }
  void add_up(int slot, int batch, bool poisoned, double* sums) {
    const std::int64_t first = batch * each_, many = points(batch);
    const T* const data = slots_.send(slot, many, [&](T* home) {
      const double* const from = input_->data.data() + first;
      std::transform(from, from + many, home, [](double x) { return static_cast<T>(x); });
      if (poisoned) *home = static_cast<T>(std::nan(""));
    });
    kernels_.flat_pass({.grid = {blocks_}, .block = {pair_threads}}, frames_.grid(), first, many,
                       data, frames_.frames(), frames_.rows(), partial_.data());
    frames_.reduce(partial_.data(), 1, static_cast<int>(blocks_), count_, sums);
    slots_.release(slot);
  }

 private:
  std::shared_ptr<const Input> input_;
  std::int64_t each_;
  int count_;
  unsigned blocks_;
  Slots<T> slots_;
  DeviceFrames<T> frames_;
  FlatPassKernels<T> kernels_;
  Buffer<double> partial_;
};

}  // namespace holdfast::xpcs_fit
