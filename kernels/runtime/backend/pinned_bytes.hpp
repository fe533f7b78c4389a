// SPDX-License-Identifier: Apache-2.0
// Source memory of uploads, for work that includes the copy.
#pragma once

#include <cstddef>
#include <utility>

#include "runtime/device/device.hpp"

namespace holdfast {

// `size` bytes of host memory, initially zero; page-locked where a GPU copies from them. Move-only,
// and not counted by the ledger, whose account is device memory.
class PinnedBytes {
 public:
  PinnedBytes(Device& device, std::size_t size)
      : device_(&device),
        data_(static_cast<std::byte*>(device.allocate_pinned(size))),
        size_(size) {}
  PinnedBytes(PinnedBytes&& other) noexcept
      : device_(other.device_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  PinnedBytes& operator=(PinnedBytes&&) = delete;
  ~PinnedBytes() {
    if (data_) device_->release_pinned(data_);
  }

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  Device* device_;
  std::byte* data_;
  std::size_t size_;
};

}  // namespace holdfast
