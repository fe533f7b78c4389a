// SPDX-License-Identifier: Apache-2.0
// What C++ code holds of the heap, which no ledger counts. The library holdfast_heap replaces
// operator new and delete in the programs that link it; what C libraries take is not seen.
#pragma once

#include <cstdint>

namespace holdfast {

// While it lives, what all threads take and give back is noted. One at a time.
class HeapWatch {
 public:
  HeapWatch();
  ~HeapWatch();
  HeapWatch(const HeapWatch&) = delete;
  HeapWatch& operator=(const HeapWatch&) = delete;

  std::int64_t held_bytes() const;     // now, beyond what was held before
  std::int64_t peak_bytes() const;     // the most held at once, beyond what was held before
  std::int64_t largest_bytes() const;  // of one block
};

}  // namespace holdfast
