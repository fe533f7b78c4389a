// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/large_pages.hpp"

#include <sys/mman.h>

#include <memory>

namespace holdfast {

void wish_large_pages(void* begin, std::size_t bytes) {
  constexpr std::size_t page = std::size_t{2} << 20;
  if (std::align(page, page, begin, bytes)) madvise(begin, bytes / page * page, MADV_HUGEPAGE);
}

}  // namespace holdfast
