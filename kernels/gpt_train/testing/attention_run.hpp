// SPDX-License-Identifier: Apache-2.0
// For tests: attention on a device against the oracle, with numbers that are exact in bf16.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "gpt_train/data/data.hpp"
#include "gpt_train/device/attention.hpp"
#include "gpt_train/oracle/oracle.hpp"

namespace holdfast::gpt_train {

using oracle::Values;

// Rotated queries and keys, values, and the gradient of o; segments of documents of about the
// shape's length, and a tail of padding in the last row.
struct AttentionInput {
  Shape shape = {};
  std::vector<int> segments = {};
  Values q = {}, k = {}, v = {}, d_o = {};
};

inline Values rounded_field(std::uint64_t stream, std::int64_t count) {
  Values values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(
        double{widened(narrowed(static_cast<float>(near_normal(stream, std::uint64_t(i)))))});
  return values;
}

inline AttentionInput attention_input(const Shape& s, int pad_tail) {
  AttentionInput in = {.shape = s,
                       .q = rounded_field(81, s.tokens() * s.query_width()),
                       .k = rounded_field(82, s.tokens() * s.key_width()),
                       .v = rounded_field(83, s.tokens() * s.key_width()),
                       .d_o = rounded_field(84, s.tokens() * s.query_width())};
  for (std::int64_t n = 0, segment = 0; n < s.tokens(); ++n) {
    if (n % s.columns == 0) segment = 0;
    if (s.document > 0 && hashed(seed, 85, std::uint64_t(n)) % s.document == 0) ++segment;
    in.segments.push_back(n < s.tokens() - pad_tail ? static_cast<int>(segment) : -1);
  }
  return in;
}

// Attention's results on a device.
struct AttentionOutput {
  Values o = {}, log_sums = {}, d_q = {}, d_k = {}, d_v = {};  // by rotated queries and keys
};

inline std::vector<Bf16> as_bf16(const Values& values) {
  std::vector<Bf16> all;
  for (const double x : values) all.push_back(narrowed(static_cast<float>(x)));
  return all;
}
template <class T>
Values as_values(const std::vector<T>& numbers) {
  Values all;
  for (const T x : numbers) {
    if constexpr (std::is_same_v<T, Bf16>)
      all.push_back(double{widened(x)});
    else
      all.push_back(double{x});
  }
  return all;
}

// Columns `first` to first + width of rows of `pitch` numbers.
inline Values columns_of(const Values& all, int pitch, int first, int width) {
  Values some;
  for (std::size_t row = 0; row < all.size(); row += std::size_t(pitch))
    some.insert(some.end(), all.begin() + std::ptrdiff_t(row) + first,
                all.begin() + std::ptrdiff_t(row) + first + width);
  return some;
}
inline Values joined(const AttentionInput& in) {
  Values all;
  const int da = in.shape.query_width(), dk = in.shape.key_width();
  for (std::int64_t n = 0; n < in.shape.tokens(); ++n) {
    all.insert(all.end(), in.q.begin() + n * da, in.q.begin() + (n + 1) * da);
    all.insert(all.end(), in.k.begin() + n * dk, in.k.begin() + (n + 1) * dk);
    all.insert(all.end(), in.v.begin() + n * dk, in.v.begin() + (n + 1) * dk);
  }
  return all;
}

inline AttentionOutput attended(Backend& backend, const AttentionInput& in) {
  const Shape& s = in.shape;
  const auto positions = std::size_t(s.tokens()), numbers = positions * std::size_t(s.heads());
  const Buffer<Bf16> qkv(backend, as_bf16(joined(in)), "qkv"), d_o(backend, as_bf16(in.d_o), "do"),
      o(backend, d_o.size(), "o"), d_qkv(backend, qkv.size(), "dqkv");
  const Buffer<float> log_sums(backend, numbers, "lse"), whole(backend, numbers, "whole");
  const Buffer<int> segments(backend, in.segments, "segments");
  TiledAttention attention(backend, s);
  attention.see(segments.data());
  const Heads<const Bf16> heads = joined_heads<const Bf16>(s, qkv.data());
  attention.forward(heads, o.data(), log_sums.data());
  attention.backward(heads, o.data(), log_sums.data(), d_o.data(), whole.data(),
                     joined_heads(s, d_qkv.data()));
  const Values d = as_values(d_qkv.to_host());
  const int da = s.query_width(), dk = s.key_width(), pitch = da + 2 * dk;
  return {as_values(o.to_host()), as_values(log_sums.to_host()), columns_of(d, pitch, 0, da),
          columns_of(d, pitch, da, dk), columns_of(d, pitch, da + dk, dk)};
}

// Rotates by each position's angle, which undoes the oracle's rotation of its gradients; turned: by
// the opposite angle, which undoes that of its inputs.
inline Values rotated(const Shape& s, int heads, Values x, bool turned) {
  const int half = s.head / 2;
  for (std::int64_t n = 0; n < s.tokens(); ++n)
    for (int h = 0; h < heads; ++h)
      for (int j = 0; j < half; ++j) {
        const double phi = double(n % s.columns) * std::pow(rope_base, -double(j) / half);
        const double c = std::cos(phi), w = turned ? -std::sin(phi) : std::sin(phi);
        double& first = x[std::size_t((n * heads + h) * s.head + j)];
        double& second = x[std::size_t((n * heads + h) * s.head + j + half)];
        const double old = first;
        first = old * c - second * w;
        second = second * c + old * w;
      }
  return x;
}

inline AttentionOutput expected_attention(const AttentionInput& in) {
  const Shape& s = in.shape;
  const auto done = oracle::attend(s, in.segments, rotated(s, s.heads(), in.q, true),
                                   rotated(s, s.groups, in.k, true), in.v);
  const auto d = oracle::attend_backward(s, done, in.d_o);
  return {done.o, done.log_sums, rotated(s, s.heads(), d.q, false),
          rotated(s, s.groups, d.k, false), d.v};
}

// The worst difference of a row of `width` numbers, relative to its norm and the average norm of
// rows: a single wrong pair shows in its row, but not in the norm of all.
inline double worst_row(const Values& found, const Values& expected, int width) {
  if (found.size() != expected.size()) return INFINITY;
  const double average =
      oracle::norm(expected) / std::sqrt(double(expected.size()) / double(width));
  double worst = 0;
  for (std::size_t row = 0; row < found.size(); row += std::size_t(width)) {
    double off = 0, norm = 0;
    for (std::size_t i = row; i < row + std::size_t(width); ++i) {
      off += (found[i] - expected[i]) * (found[i] - expected[i]);
      norm += expected[i] * expected[i];
    }
    const double share = std::sqrt(off) / (std::sqrt(norm) + average);
    worst = std::isnan(share) ? INFINITY : std::max(worst, share);
  }
  return worst;
}

// The relative error of the overall scale, which single roundings hide: by the factor that brings
// the expected values nearest.
inline double scale_error(const Values& found, const Values& expected) {
  double both = 0, squares = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    both += found.at(i) * expected[i];
    squares += expected[i] * expected[i];
  }
  return std::abs(both / squares - 1);
}

}  // namespace holdfast::gpt_train
