// SPDX-License-Identifier: Apache-2.0
// bf16 as storage: the upper half of an f32, for host and device code alike. Arithmetic is done in
// f32.
#pragma once

#include "runtime/device_code/both.hpp"

namespace holdfast {

struct Bf16 {
  unsigned short bits = 0;
};

HOLDFAST_BOTH inline float widened(Bf16 x) {
  return __builtin_bit_cast(float, static_cast<unsigned>(x.bits) << 16);
}

// Rounds to nearest, ties to even; NaN stays NaN.
HOLDFAST_BOTH inline Bf16 narrowed(float x) {
  const unsigned bits = __builtin_bit_cast(unsigned, x);
  const bool number = (bits & 0x7fffffffu) <= 0x7f800000u;
  const unsigned rounded = number ? bits + 0x7fffu + (bits >> 16 & 1u) : bits | 0x400000u;
  return {static_cast<unsigned short>(rounded >> 16)};
}

}  // namespace holdfast
