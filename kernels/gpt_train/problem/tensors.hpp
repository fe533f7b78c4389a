// SPDX-License-Identifier: Apache-2.0
// The single list of a model's tensors, used to draw, update, count and store them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpt_train/problem/options.hpp"

namespace holdfast::gpt_train {

// The optimiser's rule for a tensor.
enum class Role { embedding, head, norm, matrix };

enum class Kind {
  embedding,
  head,
  final_norm,
  norm1,
  query,
  key,
  value,
  out,
  norm2,
  up,
  gate,
  down
};

// Row-major [rows, columns]. Up and gate are one drawn tensor [2, d, I] and two matrices: `first`
// is the index of its first number in the stream.
struct Tensor {
  Kind kind = {};
  Role role = {};
  std::string name = {};  // "Wq.0"
  int layer = -1;         // -1: none
  int rows = 1, columns = 0;
  std::uint64_t stream = 0;
  std::int64_t first = 0;
  double sigma = 0, upstream_sigma = 0;  // for norms: about 1

  std::int64_t size() const { return std::int64_t{rows} * columns; }
};

// E, W_head, g_final, then per layer g1, Wq, Wk, Wv, Wo, g2, up, gate, Wd: the order of results.
std::vector<Tensor> tensors_of(const Shape& shape);

// The tensors that a unit reads: all, those of layer 0, its part before attention, or the head's.
std::vector<Tensor> tensors_of(Unit unit, const Shape& shape);

// N, and the part of it in the model's products: N_mm, with the head, and N_t, without.
std::int64_t parameter_count(const Shape& shape);
std::int64_t product_count(const Shape& shape);
std::int64_t matrix_count(const Shape& shape);

// The layout of tensors in memory: the first element of each and its row pitch. Apart: one after
// the other. Joined: q | k | v are columns of one matrix, and so are up | gate.
enum class Layout { apart, joined };
struct Place {
  std::int64_t offset = 0;
  int pitch = 0;
};
std::vector<Place> places_of(const std::vector<Tensor>& tensors, Layout layout);

}  // namespace holdfast::gpt_train
