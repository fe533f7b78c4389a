// SPDX-License-Identifier: Apache-2.0
// Counts a program's heap use, which the ledger does not. For one source of a test program:
// replaces operator new and delete in all of it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace holdfast::heap {

inline std::atomic<std::size_t> taken = 0;  // bytes, by all threads

// Null where the machine has no more.
[[gnu::noinline]] inline void* take(std::size_t bytes, std::size_t alignment) noexcept {
  taken += bytes;
  void* memory = nullptr;
  if (::posix_memalign(&memory, std::max(alignment, sizeof(void*)), bytes) != 0) return nullptr;
  return memory;
}
inline void* or_throw(void* memory) {
  if (!memory) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] inline void give_back(void* memory) {
  std::free(memory);
}

}  // namespace holdfast::heap

// Replaces the library's, and a sanitizer's, whose forms do not call one another.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return holdfast::heap::take(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return holdfast::heap::take(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes) {
  return holdfast::heap::or_throw(::operator new(bytes, std::nothrow));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return holdfast::heap::or_throw(::operator new(bytes, alignment, std::nothrow));
}
void operator delete(void* memory) noexcept {
  holdfast::heap::give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  holdfast::heap::give_back(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  holdfast::heap::give_back(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  holdfast::heap::give_back(memory);
}
