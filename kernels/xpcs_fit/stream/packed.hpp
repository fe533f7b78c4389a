// SPDX-License-Identifier: Apache-2.0
// Private to checkpoints: the state of a fit as bytes.
#pragma once

#include <cstring>
#include <string>

#include "runtime/base/error.hpp"

namespace holdfast::xpcs_fit {

// Values one after the other, as this machine has them.
struct Packer {
  std::string bytes = {};

  template <class T>
  Packer& one(const T& value) {
    return row(&value, 1);
  }
  template <class T>
  Packer& row(const T* values, std::size_t count) {
    bytes.append(reinterpret_cast<const char*>(values), count * sizeof(T));
    return *this;
  }
};
class Unpacker {
 public:
  explicit Unpacker(const std::string& bytes) : bytes_(bytes) {}

  template <class T>
  T one() {
    T value = {};
    row(&value, 1);
    return value;
  }
  template <class T>
  void row(T* values, std::size_t count) {
    if (count > (bytes_.size() - at_) / sizeof(T))
      throw Error(Fault::bad_input, "checkpoint_io: a checkpoint ends too early");
    std::memcpy(values, bytes_.data() + at_, count * sizeof(T));
    at_ += count * sizeof(T);
  }

 private:
  const std::string& bytes_;
  std::size_t at_ = 0;
};

}  // namespace holdfast::xpcs_fit
