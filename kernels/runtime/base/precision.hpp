// SPDX-License-Identifier: Apache-2.0
// Of arithmetic and storage.
#pragma once

#include <string_view>

namespace holdfast {

enum class Precision { f32, f64 };

constexpr std::string_view name(Precision precision) {
  return precision == Precision::f32 ? "f32" : "f64";
}

}  // namespace holdfast
