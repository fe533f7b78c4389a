// SPDX-License-Identifier: Apache-2.0
// Private to streams on a device: page-locked slots, through which a batch is copied on the copy
// lane while the one before is computed.
#pragma once

#include <memory>
#include <vector>

#include "runtime/backend/buffer.hpp"
#include "runtime/backend/pinned_bytes.hpp"

namespace holdfast::xpcs_fit {

template <class T>
class Slots {
 public:
  Slots(Backend& backend, int slots, std::size_t points)
      : device_(*backend.device), executes_(backend.executes()) {
    for (int slot = 0; slot < slots; ++slot) slots_.emplace_back(backend, points);
  }

  // `points` points, written by fill(T*), for kernels enqueued on the main lane from here on.
  template <class Fill>
  const T* send(int slot, std::int64_t points, const Fill& fill) {
    Slot& at = slots_[static_cast<std::size_t>(slot)];
    if (at.used) device_.await(*at.arrived);  // its page-locked memory is free again
    if (executes_) fill(reinterpret_cast<T*>(at.home.data()));
    if (at.used) device_.wait(Lane::copies, *at.read);
    device_.upload_later(at.there.data(), at.home.data(),
                         static_cast<std::size_t>(points) * sizeof(T));
    device_.record(*at.arrived, Lane::copies);
    device_.wait(Lane::main, *at.arrived);
    return at.there.data();
  }
  // All kernels that read the slot have been enqueued on the main lane.
  void release(int slot) {
    Slot& at = slots_[static_cast<std::size_t>(slot)];
    device_.record(*at.read, Lane::main);
    at.used = true;
  }

 private:
  struct Slot {
    Slot(Backend& backend, std::size_t points)
        : home(*backend.device, points * sizeof(T)),
          there(backend, points, "slot"),
          arrived(backend.device->make_event("arrived")),
          read(backend.device->make_event("read")) {}
    PinnedBytes home;
    Buffer<T> there;
    std::unique_ptr<LaneEvent> arrived, read;
    bool used = false;
  };

  Device& device_;
  bool executes_;
  std::vector<Slot> slots_ = {};
};

}  // namespace holdfast::xpcs_fit
