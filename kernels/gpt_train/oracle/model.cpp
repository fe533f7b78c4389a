// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "gpt_train/oracle/oracle.hpp"
#include "gpt_train/oracle/products.hpp"

namespace holdfast::gpt_train::oracle {
namespace {

constexpr int embedding_at = 0, head_at = 1, final_norm_at = 2;

// The index of a layer's tensor in the list.
int place(int l, Kind kind) {
  return 3 + 9 * l + static_cast<int>(kind) - static_cast<int>(Kind::norm1);
}

double inverse_root_mean_square(const double* x, int d) {
  double squares = 0;
  for (int j = 0; j < d; ++j) squares += x[j] * x[j];
  return 1 / std::sqrt(squares / d + norm_epsilon);
}

Values normed(int d, const Values& x, const Values& g) {
  Values y(x.size());
  for (std::size_t row = 0; row < x.size(); row += d) {
    const double r = inverse_root_mean_square(x.data() + row, d);
    for (int j = 0; j < d; ++j) y[row + j] = x[row + j] * r * g[j];
  }
  return y;
}
void norm_backward(int d, const Values& x, const Values& g, const Values& dy, Values& dg,
                   Values& dx) {
  for (std::size_t row = 0; row < x.size(); row += d) {
    const double r = inverse_root_mean_square(x.data() + row, d);
    double mean = 0;
    for (int j = 0; j < d; ++j) {
      mean += dy[row + j] * g[j] * x[row + j] * r / d;
      dg[j] += dy[row + j] * x[row + j] * r;
    }
    for (int j = 0; j < d; ++j) dx[row + j] += r * (dy[row + j] * g[j] - x[row + j] * r * mean);
  }
}

double sigmoid(double a) {
  return 1 / (1 + std::exp(-a));
}

void add(Values& to, const Values& what) {
  for (std::size_t k = 0; k < to.size(); ++k) to[k] += what[k];
}

}  // namespace

Layer layer(const Shape& s, const Tensors& p, int l, const std::vector<int>& segments,
            const Values& x) {
  const auto of = [&](Kind kind) -> const Values& { return p[place(l, kind)]; };
  const std::int64_t n = s.tokens();
  const int d = s.width, da = s.query_width(), dk = s.key_width();
  Layer it = {.x = x, .y1 = normed(d, x, of(Kind::norm1)), .x1 = x};
  it.attention =
      attend(s, segments, product(n, da, d, it.y1, of(Kind::query)),
             product(n, dk, d, it.y1, of(Kind::key)), product(n, dk, d, it.y1, of(Kind::value)));
  add(it.x1, product(n, d, da, it.attention.o, of(Kind::out)));
  it.y2 = normed(d, it.x1, of(Kind::norm2));
  it.u = product(n, s.inner, d, it.y2, of(Kind::up));
  it.a = product(n, s.inner, d, it.y2, of(Kind::gate));
  Values h(it.u.size());
  for (std::size_t k = 0; k < h.size(); ++k) h[k] = it.u[k] * it.a[k] * sigmoid(it.a[k]);
  it.out = it.x1;
  add(it.out, product(n, d, s.inner, h, of(Kind::down)));
  return it;
}

Values layer_backward(const Shape& s, const Tensors& p, int l, const Layer& it, Values dx,
                      Tensors& gradients) {
  const auto of = [&](Kind kind) -> const Values& { return p[place(l, kind)]; };
  const auto gradient = [&](Kind kind) -> Values& { return gradients[place(l, kind)]; };
  const std::int64_t n = s.tokens();
  const int d = s.width, da = s.query_width(), dk = s.key_width();
  Values h(it.u.size()), dh(it.u.size()), du(it.u.size()), dgate(it.u.size());
  for (std::size_t k = 0; k < h.size(); ++k) h[k] = it.u[k] * it.a[k] * sigmoid(it.a[k]);
  product_backward(n, d, s.inner, h, of(Kind::down), dx, gradient(Kind::down), dh);
  for (std::size_t k = 0; k < h.size(); ++k) {
    const double a = it.a[k], g = sigmoid(a);
    du[k] = dh[k] * a * g;
    dgate[k] = dh[k] * it.u[k] * g * (1 + a * (1 - g));
  }
  Values dy(it.y2.size());
  product_backward(n, s.inner, d, it.y2, of(Kind::up), du, gradient(Kind::up), dy);
  product_backward(n, s.inner, d, it.y2, of(Kind::gate), dgate, gradient(Kind::gate), dy);
  norm_backward(d, it.x1, of(Kind::norm2), dy, gradient(Kind::norm2), dx);

  Values d_o(it.attention.o.size());
  product_backward(n, d, da, it.attention.o, of(Kind::out), dx, gradient(Kind::out), d_o);
  const AttentionGradient back = attend_backward(s, it.attention, d_o);
  dy.assign(dy.size(), 0);
  product_backward(n, da, d, it.y1, of(Kind::query), back.q, gradient(Kind::query), dy);
  product_backward(n, dk, d, it.y1, of(Kind::key), back.k, gradient(Kind::key), dy);
  product_backward(n, dk, d, it.y1, of(Kind::value), back.v, gradient(Kind::value), dy);
  norm_backward(d, it.x, of(Kind::norm1), dy, gradient(Kind::norm1), dx);
  return dx;
}

Loss lm_head(const Shape& s, const Tensors& p, const Targets& targets, const Values& x,
             Tensors& gradients) {
  const std::int64_t n = s.tokens();
  const int d = s.width, v = s.vocabulary;
  const Values y = normed(d, x, p[final_norm_at]);
  Loss loss = {.count = targets.count, .each = Values(n), .dx = Values(n * d)};
  loss.logits = product(n, v, d, y, p[head_at]);
  const double scale = 1 / std::sqrt(double(loss.count));
  Values dz(loss.logits.size()), capped(v);
  for (std::int64_t row = 0; row < n; ++row) {
    double sum = 0;
    for (int j = 0; j < v; ++j) {
      capped[j] = logit_cap * std::tanh(loss.logits[row * v + j] / logit_cap);
      sum += std::exp(capped[j]);
    }
    if (!targets.counted[row]) continue;
    const int target = targets.targets[row];
    loss.each[row] = std::log(sum) - capped[target];
    for (int j = 0; j < v; ++j) {
      const double t = capped[j] / logit_cap;
      dz[row * v + j] = (std::exp(capped[j]) / sum - (j == target)) * scale * (1 - t * t);
    }
  }
  double total = 0, squares = 0;
  for (const double l : loss.each) total += l;
  loss.mean = total / double(loss.count);
  loss.objective = total * scale;
  for (const double l : loss.each) squares += (l - loss.mean) * (l - loss.mean);
  loss.deviation = std::sqrt(squares / double(loss.count));
  Values dy(y.size());
  product_backward(n, v, d, y, p[head_at], dz, gradients[head_at], dy);
  norm_backward(d, x, p[final_norm_at], dy, gradients[final_norm_at], loss.dx);
  return loss;
}

Values embedded(const Shape& s, const Tensors& p, const Batch& batch) {
  Values x;
  for (const int token : batch.tokens)
    for (int j = 0; j < s.width; ++j)
      x.push_back(p[embedding_at][std::int64_t{token} * s.width + j]);
  return x;
}

Pass forward_backward(const Shape& s, const Tensors& p, const Batch& batch) {
  const Targets targets = targets_of(s, batch);
  Pass pass = {.x = embedded(s, p, batch), .gradients = zeros(s)};
  for (int l = 0; l < s.layers; ++l) {
    pass.layers.push_back(layer(s, p, l, targets.segments, pass.x));
    pass.x = pass.layers.back().out;
  }
  pass.loss = lm_head(s, p, targets, pass.x, pass.gradients);
  Values dx = pass.loss.dx;
  for (int l = s.layers; l-- > 0;)
    dx = layer_backward(s, p, l, pass.layers[l], std::move(dx), pass.gradients);
  for (std::size_t k = 0; k < dx.size(); ++k)
    pass.gradients[embedding_at][std::int64_t{batch.tokens[k / s.width]} * s.width + k % s.width] +=
        dx[k];
  return pass;
}

}  // namespace holdfast::gpt_train::oracle
