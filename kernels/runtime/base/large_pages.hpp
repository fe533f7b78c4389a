// SPDX-License-Identifier: Apache-2.0
// Large pages for results of a gigabyte: first touching that much memory in small pages takes
// longer than filling it.
#pragma once

#include <cstddef>
#include <vector>

namespace holdfast {

// Requests large pages for the whole ones within this memory; if the system refuses, small ones
// remain.
void wish_large_pages(void* begin, std::size_t bytes);

// Appends room for `more` numbers, in large pages if the system has them; returns where it begins.
template <class T>
T* grow(std::vector<T>& numbers, std::size_t more) {
  const std::size_t before = numbers.size();
  numbers.reserve(before + more);
  wish_large_pages(numbers.data() + before, more * sizeof(T));
  numbers.resize(before + more);
  return numbers.data() + before;
}

}  // namespace holdfast
