// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "gpt_train/oracle/oracle.hpp"

namespace holdfast::gpt_train::oracle {
namespace {

// Rotates the halves of every head by the angle of its column; backward: by the opposite angle.
void rotate(const Shape& s, int heads, Values& x, bool backward) {
  const int half = s.head / 2;
  for (std::int64_t n = 0; n < s.tokens(); ++n)
    for (int h = 0; h < heads; ++h)
      for (int j = 0; j < half; ++j) {
        const double phi = double(n % s.columns) * std::pow(rope_base, -double(j) / half);
        const double c = std::cos(phi), w = backward ? -std::sin(phi) : std::sin(phi);
        double* at = x.data() + (n * heads + h) * s.head + j;
        const double first = at[0], second = at[half];
        at[0] = first * c - second * w;
        at[half] = second * c + first * w;
      }
}

// Calls body(index of the share, of the query, of the key) for every position and those up to it.
template <class Body>
void each_pair(const Shape& s, const Body& body) {
  for (int b = 0; b < s.batch; ++b)
    for (int h = 0; h < s.heads(); ++h)
      for (int t = 0; t < s.columns; ++t)
        for (int e = 0; e <= t; ++e) {
          const std::int64_t row = std::int64_t{b} * s.columns;
          body(((std::int64_t{b} * s.heads() + h) * s.columns + t) * s.columns + e,
               ((row + t) * s.heads() + h) * s.head,
               ((row + e) * s.groups + h / s.repeats) * s.head);
        }
}

double dot(const double* a, const double* b, int count) {
  double sum = 0;
  for (int k = 0; k < count; ++k) sum += a[k] * b[k];
  return sum;
}

}  // namespace

Attention attend(const Shape& s, const std::vector<int>& segments, const Values& q, const Values& k,
                 const Values& v) {
  const std::int64_t shares = std::int64_t{s.batch} * s.heads() * s.columns;
  Attention a = {q, k, v, Values(shares * s.columns), Values(q.size()), Values(shares)};
  rotate(s, s.heads(), a.q, false);
  rotate(s, s.groups, a.k, false);
  const double scale = 1 / std::sqrt(double(s.head));
  for (std::int64_t row = 0; row < shares; ++row) {
    const int t = static_cast<int>(row % s.columns);
    const std::int64_t h = row / s.columns % s.heads();
    const std::int64_t n = row / s.columns / s.heads() * s.columns;
    const double* query = a.q.data() + ((n + t) * s.heads() + h) * s.head;
    double* p = a.p.data() + row * s.columns;
    double most = -INFINITY, sum = 0;
    for (int e = 0; e <= t; ++e) {
      const double* key = a.k.data() + ((n + e) * s.groups + h / s.repeats) * s.head;
      p[e] = segments[n + e] == segments[n + t] ? scale * dot(query, key, s.head) : -INFINITY;
      most = std::max(most, p[e]);
    }
    for (int e = 0; e <= t; ++e) sum += p[e] = std::exp(p[e] - most);
    for (int e = 0; e <= t; ++e) p[e] /= sum;
    a.log_sums[row] = most + std::log(sum);
  }
  each_pair(s, [&](std::int64_t share, std::int64_t query, std::int64_t key) {
    for (int j = 0; j < s.head; ++j) a.o[query + j] += a.p[share] * a.v[key + j];
  });
  return a;
}

AttentionGradient attend_backward(const Shape& s, const Attention& a, const Values& d_o) {
  AttentionGradient d = {Values(a.q.size()), Values(a.k.size()), Values(a.v.size())};
  const double scale = 1 / std::sqrt(double(s.head));
  each_pair(s, [&](std::int64_t share, std::int64_t query, std::int64_t key) {
    const double p = a.p[share];
    const double whole = dot(d_o.data() + query, a.o.data() + query, s.head);
    const double ds = p * (dot(d_o.data() + query, a.v.data() + key, s.head) - whole);
    for (int j = 0; j < s.head; ++j) {
      d.q[query + j] += scale * ds * a.k[key + j];
      d.k[key + j] += scale * ds * a.q[query + j];
      d.v[key + j] += p * d_o[query + j];
    }
  });
  rotate(s, s.heads(), d.q, true);
  rotate(s, s.groups, d.k, true);
  return d;
}

}  // namespace holdfast::gpt_train::oracle
