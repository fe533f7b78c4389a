// SPDX-License-Identifier: Apache-2.0
// The model's stages as written: each product and each operation by itself with a result of its
// own, attention over the whole square, a layer computed again for its backward pass. Compiled once
// for each instruction set.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "gpt_train/problem/problem.hpp"
#include "gpt_train/reference/plain_update.hpp"
#include "gpt_train/stepped/inputs.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

template <class T>
class Plain {
 public:
  Plain(Backend& backend, const Problem& problem)
      : problem_(problem),
        s_(problem.options.shape),
        n_(s_.tokens()),
        blas_(backend),
        parameters_(backend,
                    problem.has_attention() ? std::vector<Tensor>() : tensors_of(problem.unit, s_),
                    Layout::apart, "state: parameters"),
        gradients_(backend, has_gradients() ? tensors_of(problem.unit, s_) : std::vector<Tensor>(),
                   Layout::apart, "result: gradients"),
        segments_(backend, problem.unit == Unit::update ? 0 : n_, "inputs: segments"),
        losses_(backend, problem.has_head() ? n_ : 0, "result: losses"),
        x_(backend, streams() * n_ * s_.width, "activations"),
        angles_(backend, runs_attention() ? 2 * (s_.columns * s_.head / 2) : 0, "inputs: angles"),
        incoming_(backend, incoming_size(), "inputs"),
        layer_(backend, n_ * layer_width(), "activations: layer"),
        attention_(backend, runs_attention() ? attention_size() : 0, "activations: attention"),
        back_(backend, n_ * back_width(), "gradients: activations"),
        inverses_(backend, 2 * n_, "activations"),
        logits_(backend,
                problem.has_head() ? (problem.head_passes_back() ? 4 : 2) * n_ * s_.vocabulary : 0,
                "logits") {
    if (runs_attention()) fill_angles();
    if (problem.trains()) update_.emplace(backend, problem.options);
    place();
  }

  void draw() {
    parameters_.draw(problem_.options.start);
    if (update_) update_->clear();
    if (problem_.unit == Unit::update) gradients_.draw_gradient();
  }
  void take(const std::vector<double>& x) { std::copy(x.begin(), x.end(), x_.data()); }
  void take(const Projected& in) {
    std::copy(in.q.begin(), in.q.end(), q_);
    std::copy(in.k.begin(), in.k.end(), k_);
    std::copy(in.v.begin(), in.v.end(), v_);
  }
  void take_incoming(const std::vector<double>& d) {
    std::copy(d.begin(), d.end(), incoming_.data());
  }
  void restore_incoming() { std::copy_n(incoming_.data(), n_ * s_.width, dx_); }
  void take(const Batch& batch, const Targets& targets) {
    tokens_ = batch.tokens;
    targets_ = targets;
    std::copy(targets.segments.begin(), targets.segments.end(), segments_.data());
  }

  void embed() {
    const T* e = parameters_.of(Kind::embedding);
    for (std::int64_t row = 0; row < n_; ++row)
      std::copy_n(e + std::int64_t{tokens_[row]} * s_.width, s_.width, x_.data() + row * s_.width);
  }

  void layer_forward(int l) { layer(l, stream(l + 1)); }

  void layer_backward(int l) {
    const int d = s_.width, da = s_.query_width(), dk = s_.key_width(), inner = s_.inner;
    const std::int64_t wide = n_ * inner;
    layer(l, nullptr);
    {
      const Scope scope("gated_mlp");
      product_backward(n_, d, inner, h_, Kind::down, l, dx_, dh_);
      plain::multiply(dh_, silu_, wide, du_);
      plain::silu_slope(dh_, u_, a_, wide, da_);
      product_backward(n_, inner, d, y2_, Kind::up, l, du_, dy_);
      product_backward(n_, inner, d, y2_, Kind::gate, l, da_, other_);
      plain::add(dy_, other_, n_ * d, dy_);
      norm_backward(x1_, Kind::norm2, l, true);
    }
    const Scope scope("attention");
    product_backward(n_, d, da, o_, Kind::out, l, dx_, d_o_);
    square_backward(d_o_);
    product_backward(n_, da, d, y1_, Kind::query, l, dq_, dy_);
    product_backward(n_, dk, d, y1_, Kind::key, l, dk_, other_);
    plain::add(dy_, other_, n_ * d, dy_);
    product_backward(n_, dk, d, y1_, Kind::value, l, dv_, other_);
    plain::add(dy_, other_, n_ * d, dy_);
    norm_backward(stream(l), Kind::norm1, l, true);
  }

  void attention_forward() { square(); }
  void attention_backward() { square_backward(incoming_.data()); }

  void head() {
    const std::int64_t all = n_ * s_.vocabulary;
    T *z = logits_.data(), *capped = z + all, *losses = losses_.data();
    norm(last(), Kind::final_norm, -1, y1_);
    product(n_, s_.vocabulary, s_.width, y1_, parameters_.of(Kind::head), z);
    plain::cap(z, all, capped);
    const int v = s_.vocabulary;
    plain::each_long<T>(n_, 8 * v, [=, this](std::int64_t row) {
      const T* of = capped + row * v;
      T sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int j = 0; j < v; ++j) sum += std::exp(of[j]);
      losses[row] = targets_.counted[row] ? std::log(sum) - of[targets_.targets[row]] : T(0);
    });
  }
  void head_backward() {
    const int v = s_.vocabulary;
    const std::int64_t all = n_ * v;
    T *capped = logits_.data() + all, *p = capped + all, *dz = p + all;
    const T scale = static_cast<T>(1 / std::sqrt(double(targets_.count)));
    plain::softmax(capped, n_, v, p);
    plain::each_row<T>(n_, v, [=, this](std::int64_t i, std::int64_t j) {
      const T hit = j == targets_.targets[i] ? T(1) : T(0);
      dz[i * v + j] = targets_.counted[i] ? (p[i * v + j] - hit) * scale : T(0);
    });
    plain::each<T>(all, [=](std::int64_t k) {
      const T t = capped[k] / T(logit_cap);
      dz[k] *= 1 - t * t;
    });
    product_backward(n_, v, s_.width, y1_, Kind::head, -1, dz, dy_);
    norm_backward(last(), Kind::final_norm, -1, false);
  }

  void embed_backward() {
    T* de = gradients_.of(Kind::embedding);
    std::fill_n(de, std::int64_t{s_.vocabulary} * s_.width, T(0));
    for (std::int64_t row = 0; row < n_; ++row)
      for (int j = 0; j < s_.width; ++j)
        de[std::int64_t{tokens_[row]} * s_.width + j] += dx_[row * s_.width + j];
  }

  void update(const Rates& rates) {
    (*update_)(blas_, rates, gradients_, parameters_);
  }

  const T* losses() const {
    return losses_.data();
  }
  double gradient_norm() const {
    double squares = 0;
    for (const T value : gradients_.all()) squares += double(value) * double(value);
    return std::sqrt(squares);
  }
  void tell_parameters(std::vector<double>& to) const {
    parameters_.tell(to);
  }
  void tell(std::vector<double>& to) const {
    const auto add = [&](const T* from, std::int64_t count) {
      to.insert(to.end(), from, from + count);
    };
    if (problem_.unit == Unit::forward) add(losses_.data(), n_);
    if (problem_.unit == Unit::layer_forward) add(stream(1), n_ * s_.width);
    if (problem_.unit == Unit::attention_forward) add(o_, n_ * s_.query_width());
    if (problem_.unit == Unit::attention_backward) {
      add(dq_, n_ * s_.query_width());
      add(dk_, n_ * s_.key_width());
      add(dv_, n_ * s_.key_width());
    }
    if (problem_.unit == Unit::layer_backward || problem_.unit == Unit::lm_head)
      add(dx_, n_ * s_.width);
    gradients_.tell(to);
  }

 private:
  bool runs_layers() const {
    return problem_.has_layers() || problem_.has_layer();
  }
  bool runs_attention() const {
    return runs_layers() || problem_.has_attention();
  }
  bool layers_go_back() const {
    return problem_.passes_back() || problem_.unit == Unit::layer_backward;
  }
  bool attention_goes_back() const {
    return layers_go_back() || problem_.unit == Unit::attention_backward;
  }
  bool streams_go_back() const {
    return layers_go_back() || problem_.unit == Unit::lm_head;
  }
  bool has_gradients() const {
    return streams_go_back() || problem_.unit == Unit::update;
  }
  std::size_t streams() const {
    if (problem_.has_layers()) return s_.layers + 1;
    return problem_.has_layer() ? 2 : problem_.unit == Unit::lm_head;
  }
  std::size_t incoming_size() const {
    if (problem_.unit == Unit::layer_backward) return n_ * s_.width;
    return problem_.unit == Unit::attention_backward ? n_ * s_.query_width() : 0;
  }
  T* stream(int l) const {
    return x_.data() + l * n_ * s_.width;
  }
  const T* last() const {
    return stream(problem_.has_layers() ? s_.layers : 0);
  }

  // A token's share of the arrays that place() hands out.
  std::size_t layer_width() const {
    if (runs_layers()) return 4 * s_.width + 4 * s_.inner;
    return problem_.unit == Unit::lm_head ? s_.width : 0;
  }
  std::size_t back_width() const {
    const std::size_t head = streams_go_back() ? 4 * s_.width : 0;
    const std::size_t layer = layers_go_back() ? 3 * s_.inner + s_.query_width() : 0;
    return head + layer;
  }
  std::size_t square_count() const {
    return std::size_t(s_.batch) * s_.heads() * s_.columns * s_.columns;
  }
  std::size_t attention_size() const {
    const std::size_t da = s_.query_width(), dk = s_.key_width();
    const std::size_t forward = n_ * (8 * da + 3 * dk) + 3 * square_count();
    const std::size_t back = n_ * (7 * da + 3 * dk) + 2 * square_count();
    return forward + (attention_goes_back() ? back : 0);
  }

  void place() {
    const std::int64_t d = n_ * s_.width, inner = n_ * s_.inner, da = n_ * s_.query_width(),
                       dk = n_ * s_.key_width();
    const auto square = static_cast<std::int64_t>(square_count());
    T* next = layer_.data();
    const auto out_of = [&](std::initializer_list<std::pair<T**, std::int64_t>> wanted) {
      for (const auto& [to, count] : wanted) {
        *to = next;
        next += count;
      }
    };
    if (problem_.unit == Unit::lm_head) out_of({{&y1_, d}});
    if (runs_layers())
      out_of({{&y1_, d},
              {&x1_, d},
              {&y2_, d},
              {&added_, d},
              {&u_, inner},
              {&a_, inner},
              {&silu_, inner},
              {&h_, inner}});
    next = attention_.data();
    if (runs_attention())
      out_of({{&q_, da},
              {&k_, dk},
              {&v_, dk},
              {&rotated_q_, da},
              {&rotated_k_, dk},
              {&heads_q_, da},
              {&heads_k_, da},
              {&heads_v_, da},
              {&heads_o_, da},
              {&scaled_, da},
              {&o_, da},
              {&scores_, square},
              {&masked_, square},
              {&shares_, square}});
    if (attention_goes_back())
      out_of({{&heads_d_o_, da},
              {&heads_dq_, da},
              {&heads_dk_, da},
              {&heads_dv_, da},
              {&scaled_back_, da},
              {&rotated_dq_, da},
              {&dq_, da},
              {&rotated_dk_, dk},
              {&dk_, dk},
              {&dv_, dk},
              {&d_shares_, square},
              {&d_scores_, square}});
    next = back_.data();
    if (streams_go_back()) out_of({{&dx_, d}, {&dy_, d}, {&other_, d}, {&weighed_, d}});
    if (layers_go_back()) out_of({{&dh_, inner}, {&du_, inner}, {&da_, inner}, {&d_o_, da}});
  }

  void fill_angles() {
    const int half = s_.head / 2;
    for (int t = 0; t < s_.columns; ++t)
      for (int j = 0; j < half; ++j) {
        const double angle = t * std::pow(rope_base, -double(j) / half);
        angles_.data()[t * half + j] = static_cast<T>(std::cos(angle));
        angles_.data()[(s_.columns + t) * half + j] = static_cast<T>(std::sin(angle));
      }
  }

  void norm(const T* x, Kind kind, int l, T* y) {
    T* r = inverses_.data();
    plain::inverse_roots(x, n_, s_.width, r);
    plain::scale_rows(x, r, n_, s_.width, y);
    plain::scale_columns(y, parameters_.of(kind, l), n_, s_.width, y);
  }
  // Of dy: dx += or =, dg.
  void norm_backward(const T* x, Kind kind, int l, bool add) {
    const int d = s_.width;
    T *r = inverses_.data(), *mean = r + n_;
    plain::inverse_roots(x, n_, d, r);
    plain::scale_rows(x, r, n_, d, other_);
    plain::column_sums_of_products(dy_, other_, n_, d, gradients_.of(kind, l));
    plain::scale_columns(dy_, parameters_.of(kind, l), n_, d, weighed_);
    plain::row_means_of_products(weighed_, other_, n_, d, mean);
    if (!add) return plain::norm_slope(weighed_, other_, mean, r, n_, d, dx_);
    plain::norm_slope(weighed_, other_, mean, r, n_, d, weighed_);
    plain::add(dx_, weighed_, n_ * d, dx_);
  }

  // out: null where the layer is computed again and its end is not needed.
  void layer(int l, T* out) {
    const int d = s_.width, da = s_.query_width(), dk = s_.key_width(), inner = s_.inner;
    norm(stream(l), Kind::norm1, l, y1_);
    product(n_, da, d, y1_, parameters_.of(Kind::query, l), q_);
    product(n_, dk, d, y1_, parameters_.of(Kind::key, l), k_);
    product(n_, dk, d, y1_, parameters_.of(Kind::value, l), v_);
    {
      const Scope scope("attention");
      square();
    }
    product(n_, d, da, o_, parameters_.of(Kind::out, l), added_);
    plain::add(stream(l), added_, n_ * d, x1_);
    const Scope scope("gated_mlp");
    norm(x1_, Kind::norm2, l, y2_);
    product(n_, inner, d, y2_, parameters_.of(Kind::up, l), u_);
    product(n_, inner, d, y2_, parameters_.of(Kind::gate, l), a_);
    plain::silu(a_, n_ * inner, silu_);
    plain::multiply(u_, silu_, n_ * inner, h_);
    if (!out) return;
    product(n_, d, inner, h_, parameters_.of(Kind::down, l), added_);
    plain::add(x1_, added_, n_ * d, out);
  }

  // Attention from q, k and v to o.
  void square() {
    const int b = s_.batch, t = s_.columns, heads = s_.heads(), width = s_.head;
    const T *cosines = angles_.data(), *sines = cosines + t * width / 2;
    plain::rotate(q_, cosines, sines, n_, t, heads, width, false, rotated_q_);
    plain::rotate(k_, cosines, sines, n_, t, s_.groups, width, false, rotated_k_);
    plain::heads_first(rotated_q_, b, t, heads, 1, width, heads_q_);
    plain::heads_first(rotated_k_, b, t, s_.groups, s_.repeats, width, heads_k_);
    plain::heads_first(v_, b, t, s_.groups, s_.repeats, width, heads_v_);
    const T scale = static_cast<T>(1 / std::sqrt(double(width)));
    const T* from = heads_q_;
    T* to = scaled_;
    plain::each<T>(n_ * s_.query_width(), [=](std::int64_t k) { to[k] = scale * from[k]; });
    by_head(t, t, width, false, true, scaled_, heads_k_, scores_);
    plain::mask(scores_, segments_.data(), b, heads, t, masked_);
    plain::softmax(masked_, std::int64_t{b} * heads * t, t, shares_);
    by_head(t, width, t, false, false, shares_, heads_v_, heads_o_);
    plain::heads_last(heads_o_, b, t, heads, 1, width, o_);
  }
  // From d_o to dq, dk and dv.
  void square_backward(const T* d_o) {
    const int b = s_.batch, t = s_.columns, heads = s_.heads(), width = s_.head;
    const T *cosines = angles_.data(), *sines = cosines + t * width / 2;
    plain::heads_first(d_o, b, t, heads, 1, width, heads_d_o_);
    by_head(t, t, width, false, true, heads_d_o_, heads_v_, d_shares_);
    by_head(t, width, t, true, false, shares_, heads_d_o_, heads_dv_);
    plain::softmax_slope(shares_, d_shares_, std::int64_t{b} * heads * t, t, d_scores_);
    by_head(t, width, t, true, false, d_scores_, scaled_, heads_dk_);
    by_head(t, width, t, false, false, d_scores_, heads_k_, heads_dq_);
    const T scale = static_cast<T>(1 / std::sqrt(double(width)));
    const T* from = heads_dq_;
    T* to = scaled_back_;
    plain::each<T>(n_ * s_.query_width(), [=](std::int64_t k) { to[k] = scale * from[k]; });
    plain::heads_last(scaled_back_, b, t, heads, 1, width, rotated_dq_);
    plain::heads_last(heads_dk_, b, t, s_.groups, s_.repeats, width, rotated_dk_);
    plain::heads_last(heads_dv_, b, t, s_.groups, s_.repeats, width, dv_);
    plain::rotate(rotated_dq_, cosines, sines, n_, t, heads, width, true, dq_);
    plain::rotate(rotated_dk_, cosines, sines, n_, t, s_.groups, width, true, dk_);
  }

  static constexpr Precision precision = sizeof(T) == 4 ? Precision::f32 : Precision::f64;
  // One product for each row and head: c [m, n] = op(a) op(b).
  void by_head(int m, int n, int k, bool turn_a, bool turn_b, const T* a, const T* b, T* c) {
    blas_({.precision = precision,
           .m = m,
           .n = n,
           .k = k,
           .transpose_a = turn_a,
           .transpose_b = turn_b,
           .lda = turn_a ? m : k,
           .ldb = turn_b ? k : n,
           .ldc = n,
           .stride_a = std::int64_t{m} * k,
           .stride_b = std::int64_t{n} * k,
           .stride_c = std::int64_t{m} * n,
           .batch = s_.batch * s_.heads()},
          a, b, c);
  }
  void product(std::int64_t m, int n, int k, const T* a, const T* b, T* c) {
    blas_({.precision = precision, .m = int(m), .n = n, .k = k, .lda = k, .ldb = n, .ldc = n}, a, b,
          c);
  }
  // Of out = in w, with w [k, n]: its gradient, and that of in.
  void product_backward(std::int64_t m, int n, int k, const T* in, Kind kind, int l, const T* d_out,
                        T* d_in) {
    blas_({.precision = precision,
           .m = k,
           .n = n,
           .k = int(m),
           .transpose_a = true,
           .lda = k,
           .ldb = n,
           .ldc = n},
          in, d_out, gradients_.of(kind, l));
    blas_({.precision = precision,
           .m = int(m),
           .n = k,
           .k = n,
           .transpose_b = true,
           .lda = n,
           .ldb = n,
           .ldc = k},
          d_out, parameters_.of(kind, l), d_in);
  }

  Problem problem_;
  Shape s_;
  std::int64_t n_;
  Blas blas_;
  Held<T> parameters_, gradients_;
  std::vector<int> tokens_ = {};
  Targets targets_ = {};
  Buffer<int> segments_;
  Buffer<T> losses_, x_, angles_, incoming_, layer_, attention_, back_, inverses_, logits_;
  std::optional<PlainUpdate<T>> update_ = {};

  T *y1_ = nullptr, *x1_ = nullptr, *y2_ = nullptr, *added_ = nullptr, *u_ = nullptr, *a_ = nullptr,
    *silu_ = nullptr, *h_ = nullptr;
  T *q_ = nullptr, *k_ = nullptr, *v_ = nullptr, *rotated_q_ = nullptr, *rotated_k_ = nullptr,
    *heads_q_ = nullptr, *heads_k_ = nullptr, *heads_v_ = nullptr, *heads_o_ = nullptr,
    *scaled_ = nullptr, *o_ = nullptr, *scores_ = nullptr, *masked_ = nullptr, *shares_ = nullptr;
  T *heads_d_o_ = nullptr, *heads_dq_ = nullptr, *heads_dk_ = nullptr, *heads_dv_ = nullptr,
    *scaled_back_ = nullptr, *rotated_dq_ = nullptr, *dq_ = nullptr, *rotated_dk_ = nullptr,
    *dk_ = nullptr, *dv_ = nullptr, *d_shares_ = nullptr, *d_scores_ = nullptr;
  T *dx_ = nullptr, *dy_ = nullptr, *other_ = nullptr, *weighed_ = nullptr, *dh_ = nullptr,
    *du_ = nullptr, *da_ = nullptr, *d_o_ = nullptr;
};

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
