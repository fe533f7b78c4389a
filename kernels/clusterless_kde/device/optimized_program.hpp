// SPDX-License-Identifier: Apache-2.0
// Private to the optimized variant on a device: programs made of optimized.cu, whose kernels are
// all templates, so that each program compiles what it names and nothing else.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "clusterless_kde/device/values.hpp"
#include "clusterless_kde/sources.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/sources.hpp"

namespace holdfast::clusterless_kde {

inline Program optimized_program(std::vector<WantedKernel> entries) {
  return {
      .code = sources::optimized_cu,
      .headers = {runtime::sources::both_hpp, sources::formulas_hpp, sources::values_hpp,
                  sources::value_quads_cuh, sources::arguments_hpp, sources::model_arguments_hpp,
                  sources::encode_cuh, sources::local_cuh, sources::marks_cuh, sources::places_cuh,
                  sources::warp_product_cuh, runtime::sources::tensor_core_cuh},
      .entries = std::move(entries)};
}

// A type as the device code spells it.
template <class V>
constexpr std::string_view spelled() {
  if constexpr (std::is_same_v<V, SplitBf16>) return "kde::SplitBf16";
  if constexpr (std::is_same_v<V, Tf32>) return "kde::Tf32";
  if constexpr (std::is_same_v<V, float>) return "float";
  return "double";
}

}  // namespace holdfast::clusterless_kde
