// SPDX-License-Identifier: Apache-2.0
// Sizes of a model and of its batch, and the five named models.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "runtime/base/words.hpp"

namespace holdfast::gpt_train {

// Grouped heads: query head h R + r reads key and value head h.
struct Shape {
  int vocabulary = 0;  // V; its last id is padding
  int width = 0;       // d
  int layers = 0;      // L
  int groups = 0;      // H, heads of keys and values
  int repeats = 0;     // R, query heads per group
  int head = 0;        // K, width of a head
  int inner = 0;       // I, width of the gated unit
  int batch = 0;       // B
  int columns = 0;     // T
  int document = 0;    // D, mean document length

  auto operator<=>(const Shape&) const = default;

  int heads() const { return groups * repeats; }
  int query_width() const { return heads() * head; }  // Da
  int key_width() const { return groups * head; }     // Dk
  std::int64_t tokens() const { return std::int64_t{batch} * columns; }
};

enum class Model { micro, tiny, small, llama3_150m, gpt2_124m };
inline constexpr Words<Model, 5> model_words = {
    "model", {"micro", "tiny", "small", "llama3-150m", "gpt2-124m"}};

inline constexpr Shape shapes[] = {
    {61, 16, 2, 2, 2, 8, 20, 2, 12, 5},
    {1024, 128, 2, 2, 2, 32, 384, 2, 128, 64},
    {8192, 256, 4, 2, 2, 64, 896, 4, 256, 128},
    {50432, 1024, 8, 8, 2, 64, 3584, 4, 512, 256},
    {50432, 768, 12, 12, 1, 64, 2048, 16, 1024, 256},
};
constexpr const Shape& shape_of(Model model) {
  return shapes[static_cast<int>(model)];
}

}  // namespace holdfast::gpt_train
