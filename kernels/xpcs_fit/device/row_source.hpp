// SPDX-License-Identifier: Apache-2.0
// Private to streams on a device: batches of whole rows of every angle, copied through page-locked
// slots while the one before is computed, or parts of resident data, or generated on the device.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "runtime/backend/buffer.hpp"
#include "xpcs_fit/data/held.hpp"
#include "xpcs_fit/device/arguments.hpp"
#include "xpcs_fit/device/generator.hpp"
#include "xpcs_fit/device/slots.hpp"
#include "xpcs_fit/streams.hpp"

namespace holdfast::xpcs_fit {

template <class T>
class RowSource {
 public:
  RowSource(Backend& backend, const Problem& problem, int rows, DataSource source, int slots)
      : input_(problem.input),
        rows_(rows),
        resident_(held_data<T>(backend, problem, source == DataSource::resident)) {
    if (source == DataSource::resident) return;
    if (source == DataSource::generated) {
      generator_.emplace(backend, problem, std::int64_t{rows} * input_->size.frames);
      made_.emplace(backend, slot_points(), "slot");
      return;
    }
    slots_.emplace(backend, slots, slot_points());
  }

  int count() const { return (input_->size.frames + rows_ - 1) / rows_; }
  std::int64_t pairs(int batch) const { return std::int64_t{rows_in(batch)} * input_->size.frames; }
  std::int64_t points(int batch) const { return pairs(batch) * input_->size.angles; }

  // The batch, for kernels enqueued on the main lane from here on.
  Points<T> fetch(int slot, int batch, bool poisoned) {
    const std::int64_t row = input_->size.frames, first = std::int64_t{batch} * rows_;
    if (generator_) {
      generator_->enqueue(pairs(batch), static_cast<int>(first), made_->data());
      return {.data = made_->data(),
              .pairs = pairs(batch),
              .angle_pitch = pairs(batch),
              .first_row = static_cast<int>(first)};
    }
    if (!slots_)
      return {.data = resident_.data() + first * row,
              .pairs = pairs(batch),
              .angle_pitch = input_->size.plane(),
              .first_row = static_cast<int>(first)};
    return {
        .data = slots_->send(slot, points(batch), [&](T* home) { fill(home, batch, poisoned); }),
        .pairs = pairs(batch),
        .angle_pitch = pairs(batch),
        .first_row = static_cast<int>(first)};
  }
  // All kernels that read the slot have been enqueued on the main lane.
  void release(int slot) {
    if (slots_) slots_->release(slot);
  }

 private:
  int rows_in(int batch) const { return std::min(rows_, input_->size.frames - batch * rows_); }
  std::size_t slot_points() const {
    return static_cast<std::size_t>(rows_) * input_->size.frames * input_->size.angles;
  }
  void fill(T* to, int batch, bool poisoned) const {
    const std::int64_t row = input_->size.frames, first = std::int64_t{batch} * rows_ * row;
    for (int a = 0; a < input_->size.angles; ++a) {
      const double* const from = input_->data.data() + a * input_->size.plane() + first;
      std::transform(from, from + pairs(batch), to + a * pairs(batch),
                     [](double x) { return static_cast<T>(x); });
    }
    if (poisoned) *to = static_cast<T>(std::nan(""));
  }

  std::shared_ptr<const Input> input_;
  int rows_;
  Buffer<T> resident_;
  std::optional<Generator<T>> generator_ = {};
  std::optional<Buffer<T>> made_ = {};  // generated data of one batch
  std::optional<Slots<T>> slots_ = {};
};

}  // namespace holdfast::xpcs_fit
