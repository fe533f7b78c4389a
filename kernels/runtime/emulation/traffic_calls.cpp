// SPDX-License-Identifier: Apache-2.0
// What gcc's -fsanitize=thread calls before each access to memory. With this in place of the
// sanitizer's library an access is noted, and nothing is checked.
#include <cstddef>
#include <cstdint>

#include "runtime/emulation/traffic.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier): these names are the compiler's.
#define HOLDFAST_NOTED(name, note, bytes)                                  \
  extern "C" void name(const void* memory) {                               \
    holdfast::emulation::note(memory, bytes, __builtin_return_address(0)); \
  }
#define HOLDFAST_NOTED_BYTES(bytes)                             \
  HOLDFAST_NOTED(__tsan_read##bytes, note_read, bytes)          \
  HOLDFAST_NOTED(__tsan_write##bytes, note_write, bytes)        \
  HOLDFAST_NOTED(__tsan_volatile_read##bytes, note_read, bytes) \
  HOLDFAST_NOTED(__tsan_volatile_write##bytes, note_write, bytes)
HOLDFAST_NOTED_BYTES(1)
HOLDFAST_NOTED_BYTES(2)
HOLDFAST_NOTED_BYTES(4)
HOLDFAST_NOTED_BYTES(8)
HOLDFAST_NOTED_BYTES(16)
extern "C" void __tsan_read_range(const void* memory, std::size_t bytes) {
  holdfast::emulation::note_read(memory, bytes, __builtin_return_address(0));
}
extern "C" void __tsan_write_range(const void* memory, std::size_t bytes) {
  holdfast::emulation::note_write(memory, bytes, __builtin_return_address(0));
}
// Atomics, of which the shim has these; they are not noted.
extern "C" std::uint32_t __tsan_atomic32_fetch_add(volatile std::uint32_t* at, std::uint32_t value,
                                                   int) {
  return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);
}
extern "C" void __tsan_atomic_thread_fence(int) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_vptr_update(void**, void*) {}
extern "C" void __tsan_vptr_read(void**) {}
// NOLINTEND(bugprone-reserved-identifier)
