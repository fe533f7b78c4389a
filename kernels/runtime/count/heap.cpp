// SPDX-License-Identifier: Apache-2.0
#include "runtime/count/heap.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> watched = false;
std::atomic<std::int64_t> held = 0, peak = 0, largest = 0;  // bytes, since the watch began

void raise_to(std::int64_t bytes, std::atomic<std::int64_t>& highest) {
  std::int64_t known = highest;
  while (bytes > known && !highest.compare_exchange_weak(known, bytes)) continue;
}

// Outside a watch, thus in all timed steps but the first slow one, each call costs a load and a
// branch more.
void* taken(void* memory) noexcept {
  if (!watched.load(std::memory_order_relaxed) || !memory) return memory;
  const auto bytes = static_cast<std::int64_t>(::malloc_usable_size(memory));
  raise_to(bytes, largest);
  raise_to(held += bytes, peak);
  return memory;
}
[[gnu::noinline]] void give_back(void* memory) noexcept {
  if (watched.load(std::memory_order_relaxed))
    held -= static_cast<std::int64_t>(::malloc_usable_size(memory));
  std::free(memory);
}

// Null where the machine has no more.
[[gnu::noinline]] void* take(std::size_t bytes) noexcept {
  return taken(std::malloc(std::max<std::size_t>(bytes, 1)));
}
[[gnu::noinline]] void* take(std::size_t bytes, std::align_val_t aligned) noexcept {
  const auto alignment = static_cast<std::size_t>(aligned);
  const std::size_t whole = bytes + (-bytes & (alignment - 1));  // as aligned_alloc demands
  return whole < bytes ? nullptr : taken(std::aligned_alloc(alignment, whole));
}
void* or_throw(void* memory) {
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

// All forms that a sanitizer has, too, since its forms do not call one another.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return take(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return take(bytes, alignment);
}
void* operator new(std::size_t bytes) {
  return or_throw(take(bytes));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return or_throw(take(bytes, alignment));
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  give_back(memory);
}

namespace holdfast {

HeapWatch::HeapWatch() {
  held = peak = largest = 0;
  watched = true;
}
HeapWatch::~HeapWatch() {
  watched = false;
}
std::int64_t HeapWatch::held_bytes() const {
  return held;
}
std::int64_t HeapWatch::peak_bytes() const {
  return peak;
}
std::int64_t HeapWatch::largest_bytes() const {
  return largest;
}

}  // namespace holdfast
