// SPDX-License-Identifier: Apache-2.0
// What a kernel is told (sizes, strides, iterations, flags, limits, whether there is an array),
// added up: a kernel that is told to do twice as much is the same machine code, launched as often.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/count/launch.hpp"

namespace holdfast {

// How a word of an argument counts, as a bit beside its width in bytes.
enum class Told : unsigned char { with_sign = 0, without_sign = 16, floating = 32, pointer = 64 };
inline constexpr unsigned char width_bits = 15;

template <class T>
inline constexpr bool is_word = (std::is_arithmetic_v<T> || std::is_enum_v<T> ||
                                 std::is_pointer_v<T>)&&sizeof(T) <= sizeof(std::uint64_t);

template <class T>
inline constexpr bool is_transparent = std::is_class_v<T>&& std::is_aggregate_v<T>;

template <class T>
constexpr Told told_as() {
  if constexpr (std::is_pointer_v<T>)
    return Told::pointer;
  else if constexpr (std::is_floating_point_v<T>)
    return Told::floating;
  else if constexpr (std::is_enum_v<T>)
    return told_as<std::underlying_type_t<T>>();
  else
    return std::is_unsigned_v<T> && !std::is_same_v<T, bool> ? Told::without_sign : Told::with_sign;
}

// A word whose first byte says how wide it is and how it counts. That of a flag is 1, its width.
template <class T>
T marked() {
  constexpr auto mark = static_cast<unsigned char>(sizeof(T) | static_cast<unsigned>(told_as<T>()));
  using Bits = std::conditional_t<
      sizeof(T) == 8, std::uint64_t,
      std::conditional_t<sizeof(T) == 4, std::uint32_t,
                         std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;
  if constexpr (std::is_same_v<T, bool>)
    return true;
  else
    return std::bit_cast<T>(Bits{mark});
}

// Becomes whatever a member is: a marked word, or zero for what hides its members. It becomes no
// aggregate, so that those within an aggregate are filled in place, member by member.
struct Stencil {
  template <class T>
  requires(std::is_default_constructible_v<T> && (!is_transparent<T> || std::is_empty_v<T>))
  operator T() const {
    if constexpr (is_word<T>)
      return marked<T>();
    else if constexpr (std::is_trivially_copyable_v<T>)
      return std::bit_cast<T>(std::array<std::byte, sizeof(T)>{});  // its defaults are no marks
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

// The most initialisers that an aggregate takes: one per word.
template <class Aggregate, std::size_t some = 1>
constexpr std::size_t initialisers() {
  if constexpr (takes<Aggregate>(std::make_index_sequence<some>()))
    return initialisers<Aggregate, 2 * some>();
  else
    return most_between<Aggregate, some / 2, some>();
}

// An aggregate of marked words, and zero elsewhere: between its members as well, because it is
// static and nothing was copied into it.
template <class Aggregate, std::size_t... i>
const Aggregate& stencil(std::index_sequence<i...>) {
  static const Aggregate marks = {(static_cast<void>(i), Stencil())...};
  return marks;
}

#pragma GCC diagnostic pop

struct Word {
  std::size_t offset = 0;
  std::size_t width = 0;
  Told as = Told::with_sign;
};

// The words of an aggregate, those of its arrays and of aggregates within included. Bit-fields
// count as whatever their words look like.
template <class Aggregate>
const std::vector<Word>& words_of() {
  static const std::vector<Word> words = [] {
    const auto& marks = stencil<Aggregate>(std::make_index_sequence<initialisers<Aggregate>()>());
    std::vector<Word> found;
    for (std::size_t at = 0; at < sizeof marks;) {
      unsigned char mark = 0;
      std::memcpy(&mark, reinterpret_cast<const std::byte*>(&marks) + at, 1);
      const std::size_t width = mark & width_bits;
      const bool whole = std::has_single_bit(width) && at + width <= sizeof marks;
      if (whole) found.push_back({at, width, static_cast<Told>(mark & ~width_bits)});
      at += whole ? width : 1;
    }
    return found;
  }();
  return words;
}

// What of an integer counts: sizes do in full; of a key or a hash as much as lets the sum over a
// step's launches be a result's number, which holds 53 bits.
inline constexpr std::int64_t integer_range = std::int64_t{1} << 40;

// The power of two next to a number, above 0 for all but 0. Hosts whose mathematical libraries
// differ in a last place agree in it: neither round numbers nor powers of two lie at its steps.
inline std::int64_t magnitude(double x) {
  constexpr std::int64_t of_one = 2048, of_no_number = 2 * of_one;
  if (x == 0) return 0;
  return std::isfinite(x) ? of_one + std::ilogb(0.7 * x) : of_no_number;
}

// What kernels are told, in two sums: `words` of integers and flags as they are and 1 for each
// pointer to something, which is the same in each step; and `magnitudes` of numbers, which may
// follow the step's number.
struct ArgumentSums {
  std::int64_t words = 0, magnitudes = 0;

  ArgumentSums& operator+=(const ArgumentSums& other) {
    words += other.words;
    magnitudes += other.magnitudes;
    return *this;
  }
  friend ArgumentSums operator+(ArgumentSums a, const ArgumentSums& b) { return a += b; }
};

inline ArgumentSums told_by(const std::byte* bytes, const Word& word) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes + word.offset, word.width);
  switch (word.as) {
    case Told::pointer:
      return {.words = bits != 0 ? 1 : 0};
    case Told::without_sign:
      return {.words = static_cast<std::int64_t>(bits % integer_range)};
    case Told::floating:
      return {.magnitudes = magnitude(word.width == sizeof(float)
                                          ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                                          : std::bit_cast<double>(bits))};
    default:
      break;
  }
  const std::size_t unused = 8 * (sizeof bits - word.width);
  return {.words = (static_cast<std::int64_t>(bits << unused) >> unused) % integer_range};
}

// Over the words of an argument. What a pointer points to does not count, nor what a class hides.
template <class Argument>
ArgumentSums argument_sums(const Argument& argument) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&argument);
  ArgumentSums sums;
  if constexpr (is_word<Argument>)
    sums = told_by(bytes, {.width = sizeof(Argument), .as = told_as<Argument>()});
  else if constexpr (is_transparent<Argument>)
    for (const Word& word : words_of<Argument>()) sums += told_by(bytes, word);
  return sums;
}

template <class Argument>
void add_pointers(std::size_t argument, std::vector<PointerPlace>& places) {
  if constexpr (std::is_pointer_v<Argument>)
    places.push_back({.argument = argument});
  else if constexpr (is_transparent<Argument>)
    for (const Word& word : words_of<Argument>())
      if (word.as == Told::pointer && word.width == sizeof(void*))
        places.push_back({argument, word.offset});
}

// The pointers among a kernel's arguments, those of aggregates included.
template <class... Arguments>
const std::vector<PointerPlace>& pointers_among() {
  static const std::vector<PointerPlace> places = [] {
    std::vector<PointerPlace> found;
    std::size_t argument = 0;
    (add_pointers<Arguments>(argument++, found), ...);
    return found;
  }();
  return places;
}

}  // namespace holdfast
