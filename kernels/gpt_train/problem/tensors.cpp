// SPDX-License-Identifier: Apache-2.0
#include "gpt_train/problem/tensors.hpp"

#include <cmath>

#include "runtime/base/error.hpp"

namespace holdfast::gpt_train {
namespace {

struct LayerRow {
  Kind kind;
  Role role;
  const char* name;
  int rows, columns, offset;
  std::int64_t first;
  double sigma, upstream_sigma;
};

std::int64_t sum(const Shape& shape, bool (*counted)(const Tensor&)) {
  std::int64_t total = 0;
  for (const Tensor& tensor : tensors_of(shape))
    if (counted(tensor)) total += tensor.size();
  return total;
}

}  // namespace

// Upstream's standard deviations treat all axes but the last as inputs, including heads and the
// pair of up and gate.
std::vector<Tensor> tensors_of(const Shape& s) {
  const int d = s.width, da = s.query_width(), dk = s.key_width();
  const double to_d = 1 / std::sqrt(double(d)), layers = s.layers;
  std::vector<Tensor> all = {
      {Kind::embedding, Role::embedding, "E", -1, s.vocabulary, d, 16, 0, 1, 1},
      {Kind::head, Role::head, "W_head", -1, d, s.vocabulary, 17, 0, 4 * to_d, 0},
      {Kind::final_norm, Role::norm, "g_final", -1, 1, d, 18, 0, 0.1, 0}};
  const std::int64_t up = std::int64_t{d} * s.inner;
  const LayerRow rows[] = {
      {Kind::norm1, Role::norm, "g1", 1, d, 0, 0, 0.1, 0},
      {Kind::query, Role::matrix, "Wq", d, da, 1, 0, to_d, to_d / std::sqrt(s.heads())},
      {Kind::key, Role::matrix, "Wk", d, dk, 2, 0, to_d, to_d / std::sqrt(s.groups)},
      {Kind::value, Role::matrix, "Wv", d, dk, 3, 0, to_d, to_d / std::sqrt(s.groups)},
      {Kind::out, Role::matrix, "Wo", da, d, 4, 0, 1 / std::sqrt(2 * layers * da), 0},
      {Kind::norm2, Role::norm, "g2", 1, d, 5, 0, 0.1, 0},
      {Kind::up, Role::matrix, "Wf_up", d, s.inner, 6, 0, to_d, to_d / std::sqrt(2)},
      {Kind::gate, Role::matrix, "Wf_gate", d, s.inner, 6, up, to_d, to_d / std::sqrt(2)},
      {Kind::down, Role::matrix, "Wd", s.inner, d, 7, 0, 1 / std::sqrt(2 * layers * s.inner), 0}};
  for (int l = 0; l < s.layers; ++l)
    for (const LayerRow& row : rows)
      all.push_back({row.kind, row.role, text(row.name, '.', l), l, row.rows, row.columns,
                     std::uint64_t(32 + 16 * l + row.offset), row.first, row.sigma,
                     row.upstream_sigma});
  return all;
}

std::vector<Tensor> tensors_of(Unit unit, const Shape& shape) {
  std::vector<Tensor> all = tensors_of(shape);
  const bool head = unit == Unit::lm_head;
  const bool layer = unit == Unit::layer_forward || unit == Unit::layer_backward;
  const bool attention = unit == Unit::attention_forward || unit == Unit::attention_backward;
  std::erase_if(all, [=](const Tensor& tensor) {
    if (head) return tensor.kind != Kind::head && tensor.kind != Kind::final_norm;
    return (layer || attention) && (tensor.layer != 0 || (attention && tensor.kind > Kind::value));
  });
  return all;
}

std::int64_t parameter_count(const Shape& shape) {
  return sum(shape, [](const Tensor&) { return true; });
}
std::int64_t product_count(const Shape& shape) {
  return sum(shape, [](const Tensor& t) { return t.role == Role::matrix || t.role == Role::head; });
}
std::int64_t matrix_count(const Shape& shape) {
  return sum(shape, [](const Tensor& t) { return t.role == Role::matrix; });
}

std::vector<Place> places_of(const std::vector<Tensor>& tensors, Layout layout) {
  std::vector<Place> places;
  std::int64_t next = 0;
  for (std::size_t k = 0; k < tensors.size();) {
    std::size_t end = k + 1;  // of those that are joined
    if (layout == Layout::joined && tensors[k].kind == Kind::query) end = k + 3;
    if (layout == Layout::joined && tensors[k].kind == Kind::up) end = k + 2;
    int pitch = 0;
    for (std::size_t j = k; j < end; ++j) pitch += tensors[j].columns;
    for (std::int64_t column = 0; k < end; column += tensors[k++].columns)
      places.push_back({next + column, pitch});
    next += std::int64_t{tensors[end - 1].rows} * pitch;
  }
  return places;
}

}  // namespace holdfast::gpt_train
