// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/host_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>

namespace holdfast {
namespace {

constexpr std::size_t line = 64;  // a cache line, and the widest vector register
constexpr std::size_t page = 4096;

// CPUs match loads and stores by the lowest twelve address bits, so a step may take a tenth longer
// if a written array lies a few lines ahead of a read one, modulo the page size. Large arrays get
// their own pages, each starting 23 lines further into its first page than the array before:
// placement depends on the program alone, and neighbours do not collide.
constexpr std::size_t large = 4 * page, lines_apart = 23;

bool has_own_pages(std::size_t bytes) {
  return bytes >= large && bytes <= std::numeric_limits<std::size_t>::max() - page;
}

}  // namespace

void* take_host_memory(std::size_t bytes, std::size_t& large_arrays) {
  if (!has_own_pages(bytes))
    return ::operator new (std::max<std::size_t>(bytes, 1), std::align_val_t{line}, std::nothrow);
  void* const pages = ::operator new (bytes + page, std::align_val_t{page}, std::nothrow);
  if (!pages) return nullptr;
  return static_cast<std::byte*>(pages) + large_arrays++ * lines_apart * line % page;
}

void give_back_host_memory(void* memory, std::size_t bytes) noexcept {
  if (!has_own_pages(bytes)) return ::operator delete (memory, std::align_val_t{line});
  const auto into_page = reinterpret_cast<std::uintptr_t>(memory) % page;
  ::operator delete (static_cast<std::byte*>(memory) - into_page, std::align_val_t{page});
}

}  // namespace holdfast
