// SPDX-License-Identifier: Apache-2.0
// The words for the values of an enum, for printing and reading.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "runtime/base/error.hpp"

namespace holdfast {

// `words` are in the order of the enumerators, from 0 on.
template <class Enum, std::size_t count>
struct Words {
  std::string_view axis = {};  // what the enum is about
  std::array<std::string_view, count> words = {};

  constexpr std::string_view of(Enum value) const { return words[static_cast<std::size_t>(value)]; }

  // Throws Error{bad_input} "unknown <axis> ..." with the list if no word equals `wanted`.
  Enum read(std::string_view wanted) const {
    for (std::size_t k = 0; k < count; ++k)
      if (words[k] == wanted) return static_cast<Enum>(k);
    throw Error(Fault::bad_input,
                text("unknown ", axis, " '", wanted, "'; use one of ", listed(words)));
  }
};

}  // namespace holdfast
