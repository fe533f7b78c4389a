// SPDX-License-Identifier: Apache-2.0
// Owns one handle of a C library and destroys it with the function named in the type. Destructors
// never throw: a failing free is an earlier error, already reported, or the driver going away at
// exit.
#pragma once

#include <memory>
#include <type_traits>

namespace holdfast {

template <auto destroy>
struct Destroy {
  template <class Raw>
  void operator()(Raw raw) const noexcept {
    (void)destroy(raw);
  }
};

// Handle<cudaStream_t, cudaStreamDestroy> is a move-only stream of the size of one pointer.
template <class Pointer, auto destroy>
using Handle = std::unique_ptr<std::remove_pointer_t<Pointer>, Destroy<destroy>>;

}  // namespace holdfast
