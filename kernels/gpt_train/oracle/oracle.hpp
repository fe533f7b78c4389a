// SPDX-License-Identifier: Apache-2.0
// The model, its gradient and its optimisers in f64 and plain loops, following README.md line by
// line. Shares the list of tensors, the inputs and the constants with the variants, but no
// arithmetic.
#pragma once

#include <vector>

#include "gpt_train/data/data.hpp"
#include "gpt_train/problem/rates.hpp"

namespace holdfast::gpt_train::oracle {

using Values = std::vector<double>;
using Tensors = std::vector<Values>;  // in the order of tensors_of

Tensors parameters(const Shape& shape, Start start);
Tensors zeros(const Shape& shape);

// Rotated q [n, Da] and k [n, Dk], v, the shares P [B, heads, T, T], o [n, Da] and the logarithms
// of their sums [B, heads, T].
struct Attention {
  Values q = {}, k = {}, v = {}, p = {}, o = {}, log_sums = {};
};
Attention attend(const Shape& shape, const std::vector<int>& segments, const Values& q,
                 const Values& k, const Values& v);  // not rotated yet
struct AttentionGradient {
  Values q = {}, k = {}, v = {};  // before rotation
};
AttentionGradient attend_backward(const Shape& shape, const Attention& done, const Values& d_o);

struct Layer {
  Values x = {}, y1 = {}, x1 = {}, y2 = {}, u = {}, a = {}, out = {};
  Attention attention = {};
};
Layer layer(const Shape& shape, const Tensors& p, int l, const std::vector<int>& segments,
            const Values& x);
// Adds to the layer's gradients; returns dx.
Values layer_backward(const Shape& shape, const Tensors& p, int l, const Layer& done, Values dx,
                      Tensors& gradients);

struct Loss {
  double mean = 0, deviation = 0, objective = 0;
  std::int64_t count = 0;
  Values each = {};    // [n]
  Values logits = {};  // z [n, V]
  Values dx = {};      // of the objective, by x
};
Loss lm_head(const Shape& shape, const Tensors& p, const Targets& targets, const Values& x,
             Tensors& gradients);

Values embedded(const Shape& shape, const Tensors& p, const Batch& batch);

struct Pass {
  std::vector<Layer> layers = {};
  Values x = {};  // after the last layer
  Loss loss = {};
  Tensors gradients = {};
};
Pass forward_backward(const Shape& shape, const Tensors& p, const Batch& batch);

Values newton_schulz(Values x, int rows, int columns);

// A matrix's singular values, the greatest first.
Values singular_values(Values x, int rows, int columns);

// The optimiser's state; a tensor's moments have the same index.
struct State {
  Tensors parameters = {};
  std::vector<Tensors> moments = {};  // up to three
  std::int64_t step = 0;
};
State begun(const Options& options);
void update(const Options& options, const Tensors& gradients, State& state);
// A whole step on its own batch; returns its pass, from before the update.
Pass train_step(const Options& options, State& state);

double norm(const Values& values);
double norm(const Tensors& tensors);

}  // namespace holdfast::gpt_train::oracle
