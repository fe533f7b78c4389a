// SPDX-License-Identifier: Apache-2.0
// Number formats, for storage and computation.
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

namespace holdfast {

// tf32 is f32 in memory, of which a matrix unit reads 10 bits of mantissa; bf16 is the upper half
// of an f32. Products of both are added up in f32.
enum class Precision { f32, f64, tf32, bf16 };

template <std::floating_point T>
inline constexpr Precision precision_of = sizeof(T) == 4 ? Precision::f32 : Precision::f64;

constexpr std::string_view name(Precision precision) {
  constexpr std::string_view names[] = {"f32", "f64", "tf32", "bf16"};
  return names[static_cast<std::size_t>(precision)];
}

// Bytes of a number in memory.
constexpr int stored_bytes(Precision precision) {
  constexpr int bytes[] = {4, 8, 4, 2};
  return bytes[static_cast<std::size_t>(precision)];
}

}  // namespace holdfast
