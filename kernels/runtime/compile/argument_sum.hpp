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

template <class T>
inline constexpr bool is_transparent = std::is_class_v<T>&& std::is_aggregate_v<T>;

// What of an integer counts: sizes do in full; of a key or a hash as much as lets the sum over a
// step's launches be a result's number, which holds 53 bits.
inline constexpr std::int64_t argument_range = std::int64_t{1} << 40;

inline constexpr unsigned char without_sign = 16;  // added to a width

template <class Aggregate>
Aggregate stencil();

// Becomes whatever a member is: an integer that tells its own width and sign, else zero.
struct Stencil {
  template <class T>
  requires std::is_default_constructible_v<T>
  operator T() const {
    constexpr std::size_t told = sizeof(T) + (std::is_signed_v<T> ? 0 : without_sign);
    if constexpr (is_integer<T>)
      return static_cast<T>(told);
    else if constexpr (is_transparent<T>)
      return stencil<T>();
    else
      return T{};
  }
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"  // a bit-field may not hold its width

template <class Aggregate, std::size_t... i>
constexpr bool takes(std::index_sequence<i...>) {
  return requires {
    Aggregate{(static_cast<void>(i), Stencil())...};
  };
}

template <class Aggregate, std::size_t taken, std::size_t refused>
constexpr std::size_t most_between() {
  constexpr std::size_t half = (taken + refused) / 2;
  if constexpr (half == taken)
    return taken;
  else if constexpr (takes<Aggregate>(std::make_index_sequence<half>()))
    return most_between<Aggregate, half, refused>();
  else
    return most_between<Aggregate, taken, half>();
}

// The most initialisers that an aggregate takes: one per member, and per element of an array.
template <class Aggregate, std::size_t some = 1>
constexpr std::size_t initialisers() {
  if constexpr (takes<Aggregate>(std::make_index_sequence<some>()))
    return initialisers<Aggregate, 2 * some>();
  else
    return most_between<Aggregate, some / 2, some>();
}

// An aggregate whose integers hold their own width, and which is zero elsewhere.
template <class Aggregate>
Aggregate stencil() {
  return []<std::size_t... i>(std::index_sequence<i...>) {
    return Aggregate{(static_cast<void>(i), Stencil())...};
  }
  (std::make_index_sequence<initialisers<Aggregate>()>());
}

#pragma GCC diagnostic pop

struct IntegerPlace {
  std::size_t offset = 0;
  int width = 0;
  bool has_sign = true;
};

// Where an aggregate holds integers, those of its arrays and of aggregates within included. The
// words of bit-fields count as whatever they look like.
template <class Aggregate>
const std::vector<IntegerPlace>& integer_places() {
  static const std::vector<IntegerPlace> places = [] {
    static const Aggregate widths = stencil<Aggregate>();  // static: zero between its members
    std::vector<IntegerPlace> found;
    for (std::size_t at = 0; at < sizeof widths;) {
      unsigned char told = 0;
      std::memcpy(&told, reinterpret_cast<const std::byte*>(&widths) + at, 1);
      const int width = told & ~without_sign;
      const bool whole = width == 1 || width == 2 || width == 4 || width == 8;
      const std::size_t next = at + (whole ? static_cast<std::size_t>(width) : 1);
      if (whole && next <= sizeof widths) found.push_back({at, width, told < without_sign});
      at = next;
    }
    return found;
  }();
  return places;
}

// The sum of the integers in an argument. What a pointer points to does not count, nor what a class
// hides.
template <class Argument>
std::int64_t integers_in(const Argument& argument) {
  if constexpr (is_integer<Argument>) return static_cast<std::int64_t>(argument % argument_range);
  std::int64_t sum = 0;
  if constexpr (is_transparent<Argument>)
    for (const auto& [offset, width, has_sign] : integer_places<Argument>()) {
      std::uint64_t value = 0;
      std::memcpy(&value, reinterpret_cast<const std::byte*>(&argument) + offset,
                  static_cast<std::size_t>(width));
      const int unused = 64 - 8 * width;
      const auto with_sign = static_cast<std::int64_t>(value << unused) >> unused;
      sum +=
          has_sign ? with_sign % argument_range : static_cast<std::int64_t>(value % argument_range);
    }
  return sum;
}

}  // namespace holdfast
