// SPDX-License-Identifier: Apache-2.0
#include "arrays/arena.hpp"

#include <algorithm>

namespace holdfast::arrays {

void Arena::open() {
  memory_.emplace(*backend_, peak_bytes_, "arena");
}

std::size_t Arena::take(std::size_t bytes) {
  // At least one unit, so that empty arrays have distinct offsets too.
  const std::size_t wanted = std::max((bytes + alignment - 1) / alignment, std::size_t{1});
  const std::size_t size = wanted * alignment;
  std::size_t offset = 0;
  for (const auto& [begin, end] : held_) {
    if (offset + size <= begin) break;
    offset = end;
  }
  if (memory_ && offset + size > memory_->size())
    throw Error(Fault::broken_rule,
                text("an arena of ", memory_->size(), " bytes, of which a step takes ",
                     offset + size, ": the rehearsal must go through the same steps"));
  held_.emplace(offset, offset + size);
  peak_bytes_ = std::max(peak_bytes_, offset + size);
  return offset;
}

}  // namespace holdfast::arrays
