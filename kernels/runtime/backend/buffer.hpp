// SPDX-License-Identifier: Apache-2.0
// Memory of a backend, counted by its ledger on all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/backend/backend.hpp"
#include "runtime/base/error.hpp"
#include "runtime/base/large_pages.hpp"

namespace holdfast {

// Raw bytes: 64-byte aligned on host, device memory elsewhere. `site` names the holder in the
// ledger.
void* allocate(Backend& backend, std::size_t bytes, std::string_view site);
void release(Backend& backend, void* memory, std::size_t bytes, std::string_view site) noexcept;

// `size` elements, uninitialised; freed on destruction. Move-only, like the memory. On a device
// `data()` is a device address; on host it can be dereferenced.
template <class T>
class Buffer {
 public:
  Buffer(Backend& backend, std::size_t size, std::string site)
      : backend_(&backend),
        data_(static_cast<T*>(allocate(backend, size * sizeof(T), site))),
        size_(size),
        site_(std::move(site)) {}
  Buffer(Backend& backend, std::span<const T> values, std::string site)
      : Buffer(backend, values.size(), std::move(site)) {
    upload(values);
  }
  Buffer(Buffer&& other) noexcept
      : backend_(other.backend_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        site_(std::move(other.site_)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(backend_, other.backend_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(site_, other.site_);
    return *this;
  }
  ~Buffer() {
    if (data_) release(*backend_, data_, size_ * sizeof(T), site_);
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

  void upload(std::span<const T> values);
  std::vector<T> to_host() const;

 private:
  Backend* backend_;
  T* data_;
  std::size_t size_;
  std::string site_;
};

template <class T>
void Buffer<T>::upload(std::span<const T> values) {
  if (values.size() != size_)
    throw Error(Fault::bad_input,
                text("buffer '", site_, "' holds ", size_, " elements, ", values.size(), " given"));
  if (backend_->device)
    backend_->device->upload(data_, values.data(), values.size_bytes());
  else
    std::copy(values.begin(), values.end(), data_);
}

template <class T>
std::vector<T> Buffer<T>::to_host() const {
  std::vector<T> values;
  grow(values, size_);
  if (backend_->device)
    backend_->device->download(values.data(), data_, bytes());
  else
    std::copy(data_, data_ + size_, values.begin());
  return values;
}

}  // namespace holdfast
