// SPDX-License-Identifier: Apache-2.0
// The integers that a kernel is given (sizes, strides, iterations), as one sum: a kernel that is
// told to do twice as much is the same machine code, launched as often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace holdfast {

template <class T>
inline constexpr bool is_integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;

template <class Aggregate>
Aggregate stencil();

// Becomes whatever a member is: an integer that holds its own width, else zero.
struct Stencil {
  template <class T>
  operator T() const {
    if constexpr (is_integer<T>)
      return sizeof(T);
    else if constexpr (std::is_class_v<T>)
      return stencil<T>();
    else
      return T{};
  }
};

template <class Aggregate, std::size_t... i>
constexpr bool takes(std::index_sequence<i...>) {
  return requires {
    Aggregate{(static_cast<void>(i), Stencil())...};
  };
}

// The most initialisers that an aggregate takes: one per member, and per element of an array.
template <class Aggregate, std::size_t count = 0>
constexpr std::size_t initialisers() {
  if constexpr (takes<Aggregate>(std::make_index_sequence<count + 1>()))
    return initialisers<Aggregate, count + 1>();
  else
    return count;
}

// An aggregate whose integers hold their own width, and which is zero elsewhere.
template <class Aggregate>
Aggregate stencil() {
  static_assert(std::is_aggregate_v<Aggregate>, "a kernel takes numbers, pointers and aggregates");
  return []<std::size_t... i>(std::index_sequence<i...>) {
    return Aggregate{(static_cast<void>(i), Stencil())...};
  }
  (std::make_index_sequence<initialisers<Aggregate>()>());
}

struct IntegerPlace {
  std::size_t offset = 0;
  signed char width = 0;
};

// Where an aggregate holds integers, those of its arrays and of aggregates within included.
template <class Aggregate>
const std::vector<IntegerPlace>& integer_places() {
  static const std::vector<IntegerPlace> places = [] {
    static const Aggregate widths = stencil<Aggregate>();  // static: zero between its members
    std::vector<IntegerPlace> found;
    for (std::size_t at = 0; at < sizeof widths;) {
      IntegerPlace place{.offset = at};
      std::memcpy(&place.width, reinterpret_cast<const std::byte*>(&widths) + at, 1);
      if (place.width > 0) found.push_back(place);
      at += place.width > 0 ? static_cast<std::size_t>(place.width) : 1;
    }
    return found;
  }();
  return places;
}

// The sum of the integers in an argument; what a pointer points to does not count.
template <class Argument>
std::int64_t integers_in(const Argument& argument) {
  if constexpr (is_integer<Argument>) return static_cast<std::int64_t>(argument);
  std::int64_t sum = 0;
  if constexpr (std::is_class_v<Argument>)
    for (const auto& [offset, width] : integer_places<Argument>()) {
      std::int64_t value = 0;
      std::memcpy(&value, reinterpret_cast<const std::byte*>(&argument) + offset,
                  static_cast<std::size_t>(width));
      const int unused = 64 - 8 * width;
      sum += value << unused >> unused;  // keeps the sign
    }
  return sum;
}

}  // namespace holdfast
