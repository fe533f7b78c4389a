// SPDX-License-Identifier: Apache-2.0
// Memory of an eager program, in which every step writes a fresh array and an array's memory is
// free again when its last reader is done. One accounted allocation serves them all; a rehearsal,
// which runs the same steps without computing, finds its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "runtime/backend/buffer.hpp"

namespace holdfast::arrays {

class Arena {
 public:
  explicit Arena(Backend& backend) : backend_(&backend) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  bool rehearsing() const { return !memory_; }
  void open();  // ends the rehearsal: allocates its peak

  // Returns the lowest free offset.
  std::size_t take(std::size_t bytes);
  void give_back(std::size_t offset) noexcept { held_.erase(offset); }
  void* at(std::size_t offset) const { return memory_ ? memory_->data() + offset : nullptr; }

  std::size_t peak_bytes() const { return peak_bytes_; }

  // Arrays begin at multiples of this, like a device's own allocations.
  static constexpr std::size_t alignment = 256;

 private:
  Backend* backend_;
  std::map<std::size_t, std::size_t> held_ = {};  // offset -> end
  std::size_t peak_bytes_ = 0;
  std::optional<Buffer<unsigned char>> memory_ = {};
};

// An array in the arena, to which its destructor returns the memory. data() is null in a rehearsal.
template <class T>
class Array {
 public:
  Array(Arena& arena, std::int64_t size)
      : arena_(&arena),
        offset_(arena.take(static_cast<std::size_t>(size) * sizeof(T))),
        size_(size) {}
  Array(Array&& other) noexcept
      : arena_(std::exchange(other.arena_, nullptr)), offset_(other.offset_), size_(other.size_) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(arena_, other.arena_);
    std::swap(offset_, other.offset_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Array() {
    if (arena_) arena_->give_back(offset_);
  }

  T* data() const { return static_cast<T*>(arena_->at(offset_)); }
  std::int64_t size() const { return size_; }

 private:
  Arena* arena_;
  std::size_t offset_;
  std::int64_t size_;
};

}  // namespace holdfast::arrays
