// SPDX-License-Identifier: Apache-2.0
// Room for results of a gigabyte in large pages: the first touch of so much memory in small ones
// takes longer than filling it does.
#pragma once

#include <cstddef>
#include <vector>

namespace holdfast {

// Wishes for large pages from the first to the last whole one of this memory; where the system does
// not grant it there are small ones.
void wish_large_pages(void* begin, std::size_t bytes);

// Makes room for `more` numbers, in large pages where the system has them; where they begin.
template <class T>
T* grow(std::vector<T>& numbers, std::size_t more) {
  const std::size_t before = numbers.size();
  numbers.reserve(before + more);
  wish_large_pages(numbers.data() + before, more * sizeof(T));
  numbers.resize(before + more);
  return numbers.data() + before;
}

}  // namespace holdfast
