// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/large_pages.hpp"

#include <sys/mman.h>

#include <memory>

namespace holdfast {

double* grow(std::vector<double>& numbers, std::size_t more) {
  constexpr std::size_t page = std::size_t{2} << 20;
  const std::size_t before = numbers.size();
  numbers.reserve(before + more);
  void* room = numbers.data() + before;
  std::size_t bytes = more * sizeof(double);
  // It is a wish: where it is not granted there are small pages.
  if (std::align(page, page, room, bytes)) madvise(room, bytes / page * page, MADV_HUGEPAGE);
  numbers.resize(before + more);
  return numbers.data() + before;
}

}  // namespace holdfast
