// SPDX-License-Identifier: Apache-2.0
// Several arrays in one allocation, so that a single upload transfers them all.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/backend/buffer.hpp"
#include "runtime/backend/pinned_bytes.hpp"

namespace holdfast {

// A device's allocation granularity, to which every part is aligned.
inline constexpr std::size_t allocation_unit = 256;
constexpr std::size_t rounded_up(std::size_t bytes) {
  return (bytes + allocation_unit - 1) / allocation_unit * allocation_unit;
}

// `elements` rounded up so that their bytes fill whole allocation units.
template <class E>
constexpr std::size_t whole_units(std::size_t elements) {
  return rounded_up(elements * sizeof(E)) / sizeof(E);
}

// `count` elements of T within a packed allocation, from the byte `offset` on.
template <class T>
struct Part {
  std::size_t offset = 0, count = 0;
};

class Packing {
 public:
  template <class T>
  Part<T> add(std::size_t count) {
    const Part<T> part = {bytes_, count};
    bytes_ += rounded_up(count * sizeof(T));
    return part;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

// A packed allocation on the device, and its contents on the host: one or several, of which the
// device holds the one sent last.
class Parcel {
 public:
  Parcel(Backend& backend, const Packing& packing, std::string site, int contents = 1)
      : buffer_(backend, packing.bytes(), std::move(site)) {
    for (int i = 0; i < contents; ++i) staging_.emplace_back(*backend.device, packing.bytes());
  }

  template <class T>
  std::span<T> host(Part<T> part, int content = 0) {
    return {reinterpret_cast<T*>(staging_[content].data() + part.offset), part.count};
  }
  template <class T>
  T* device(Part<T> part) const {
    return reinterpret_cast<T*>(buffer_.data() + part.offset);
  }
  void send(int content = 0) {
    buffer_.upload({staging_[content].data(), staging_[content].size()});
  }

 private:
  Buffer<std::byte> buffer_;
  std::vector<PinnedBytes> staging_ = {};
};

}  // namespace holdfast
