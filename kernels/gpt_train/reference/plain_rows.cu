// SPDX-License-Identifier: Apache-2.0
// A part of plain_model.cu: a model's operations between its products. Arithmetic in f32, results
// in bf16 except for sums; two numbers per thread, or one warp per row.

// x = E[tok]: [n, d].
__global__ void gather(gpt::Inputs in, const Bf16* e, long long pairs, int d, Bf16* x) {
  const long long k = plain::thread();
  if (k >= pairs) return;
  const long long row = 2 * k / d, column = 2 * k % d;
  *reinterpret_cast<unsigned*>(x + 2 * k) =
      *reinterpret_cast<const unsigned*>(e + static_cast<long long>(in.tokens[row]) * d + column);
}

// r = (mean x^2 + epsilon)^-1/2 of each row.
__global__ void inverse_roots(const Bf16* x, long long rows, int d, float epsilon, float* r) {
  const long long row = plain::thread() / 32;
  if (row >= rows) return;
  const int lane = threadIdx.x % 32;
  float squares = 0;
  for (int j = 2 * lane; j < d; j += 64) {
    const plain::Pair one = plain::load(x + row * d + j);
    squares += one.low * one.low + one.high * one.high;
  }
  squares = plain::sum_of_warp(squares);
  if (lane == 0) r[row] = rsqrtf(squares / static_cast<float>(d) + epsilon);
}

__global__ void scale_rows(const Bf16* x, const float* r, long long pairs, int d, Bf16* out) {
  const long long k = plain::thread();
  if (k >= pairs) return;
  const plain::Pair one = plain::load(x + 2 * k);
  const float by = r[2 * k / d];
  plain::store(out + 2 * k, by * one.low, by * one.high);
}

__global__ void scale_columns(const Bf16* x, const Bf16* g, long long pairs, int d, Bf16* out) {
  const long long k = plain::thread();
  if (k >= pairs) return;
  const plain::Pair one = plain::load(x + 2 * k), by = plain::load(g + 2 * k % d);
  plain::store(out + 2 * k, by.low * one.low, by.high * one.high);
}

// partial [blocks of rows, d] = sums of a b over norm_rows rows; one thread per two columns.
__global__ void column_products(const Bf16* a, const Bf16* b, int rows, int d, float* partial) {
  const int column = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (column >= d) return;
  const int first = blockIdx.y * gpt::norm_rows, end = min(first + gpt::norm_rows, rows);
  plain::Pair sum = {};
  for (int row = first; row < end; ++row) {
    const long long at = static_cast<long long>(row) * d + column;
    const plain::Pair x = plain::load(a + at), y = plain::load(b + at);
    sum.low += x.low * y.low;
    sum.high += x.high * y.high;
  }
  float* to = partial + static_cast<long long>(blockIdx.y) * d + column;
  to[0] = sum.low;
  to[1] = sum.high;
}
// out [d] = sums over the parts.
__global__ void sum_parts(const float* partial, int parts, int d, float* out) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= d) return;
  float sum = 0;
  for (int part = 0; part < parts; ++part)
    sum += partial[static_cast<long long>(part) * d + column];
  out[column] = sum;
}

// mean [rows] of a b.
__global__ void row_means(const Bf16* a, const Bf16* b, long long rows, int d, float* mean) {
  const long long row = plain::thread() / 32;
  if (row >= rows) return;
  const int lane = threadIdx.x % 32;
  float sum = 0;
  for (int j = 2 * lane; j < d; j += 64) {
    const plain::Pair x = plain::load(a + row * d + j), y = plain::load(b + row * d + j);
    sum += x.low * y.low + x.high * y.high;
  }
  sum = plain::sum_of_warp(sum);
  if (lane == 0) mean[row] = sum / static_cast<float>(d);
}

// out = r (w - xh mean)
__global__ void norm_slope(const Bf16* w, const Bf16* xh, const float* mean, const float* r,
                           long long pairs, int d, Bf16* out) {
  const long long k = plain::thread();
  if (k >= pairs) return;
  const plain::Pair x = plain::load(w + 2 * k), y = plain::load(xh + 2 * k);
  const long long row = 2 * k / d;
  plain::store(out + 2 * k, r[row] * (x.low - y.low * mean[row]),
               r[row] * (x.high - y.high * mean[row]));
}

__global__ void add(const Bf16* a, const Bf16* b, long long pairs, Bf16* out) {
  const long long k = plain::thread();
  if (k >= pairs) return;
  const plain::Pair x = plain::load(a + 2 * k), y = plain::load(b + 2 * k);
  plain::store(out + 2 * k, x.low + y.low, x.high + y.high);
}
__global__ void multiply(const Bf16* a, const Bf16* b, long long pairs, Bf16* out) {
  const long long k = plain::thread();
  if (k >= pairs) return;
  const plain::Pair x = plain::load(a + 2 * k), y = plain::load(b + 2 * k);
  plain::store(out + 2 * k, x.low * y.low, x.high * y.high);
}

__global__ void silu(const Bf16* a, long long pairs, Bf16* out) {
  const long long k = plain::thread();
  if (k >= pairs) return;
  const plain::Pair x = plain::load(a + 2 * k);
  plain::store(out + 2 * k, plain::silu(x.low), plain::silu(x.high));
}
// out = dh u silu'(a)
__global__ void silu_slope(const Bf16* dh, const Bf16* u, const Bf16* a, long long pairs,
                           Bf16* out) {
  const long long k = plain::thread();
  if (k >= pairs) return;
  const plain::Pair d = plain::load(dh + 2 * k), up = plain::load(u + 2 * k),
                    x = plain::load(a + 2 * k);
  plain::store(out + 2 * k, plain::silu_slope(d.low, up.low, x.low),
               plain::silu_slope(d.high, up.high, x.high));
}

// out = limit tanh(z / limit)
__global__ void cap(const Bf16* z, long long pairs, float limit, Bf16* out) {
  const long long k = plain::thread();
  if (k >= pairs) return;
  const plain::Pair one = plain::load(z + 2 * k);
  plain::store(out + 2 * k, limit * tanhf(one.low / limit), limit * tanhf(one.high / limit));
}

// A position's target, or -1 if it does not count.
__device__ inline int target_of(const gpt::Inputs& in, long long at) {
  if (at % in.columns + 1 == in.columns) return -1;
  const bool counts = in.tokens[at + 1] != in.padding && in.documents[at + 1] == in.documents[at];
  return counts ? in.tokens[at + 1] : -1;
}

// capped: [n, vocabulary]; losses: [n]. One block per row.
__global__ void row_losses(gpt::Inputs in, const Bf16* capped, int vocabulary, float limit,
                           float* losses) {
  const Bf16* of = capped + static_cast<long long>(blockIdx.x) * vocabulary;
  float sum = 0;
  for (int j = 2 * threadIdx.x; j < vocabulary; j += 2 * plain::row_threads) {
    const plain::Pair one = plain::load(of + j);
    sum += __expf(one.low - limit) + __expf(one.high - limit);
  }
  sum = plain::sum_of_row(sum);
  const int target = target_of(in, blockIdx.x);
  if (threadIdx.x == 0)
    losses[blockIdx.x] = target < 0 ? 0 : limit + logf(sum) - holdfast::widened(of[target]);
}

// p: [n, vocabulary], f32.
__global__ void softmax_logits(const Bf16* capped, int vocabulary, float limit, float* p) {
  const long long row = static_cast<long long>(blockIdx.x) * vocabulary;
  float sum = 0;
  for (int j = 2 * threadIdx.x; j < vocabulary; j += 2 * plain::row_threads) {
    const plain::Pair one = plain::load(capped + row + j);
    sum += __expf(one.low - limit) + __expf(one.high - limit);
  }
  sum = plain::sum_of_row(sum);
  for (int j = 2 * threadIdx.x; j < vocabulary; j += 2 * plain::row_threads) {
    const plain::Pair one = plain::load(capped + row + j);
    p[row + j] = __expf(one.low - limit) / sum;
    p[row + j + 1] = __expf(one.high - limit) / sum;
  }
}

// dz = (p - hit) / sqrt c if the position counts.
__global__ void logit_slopes(gpt::Inputs in, const float* p, long long pairs, int vocabulary,
                             Bf16* dz) {
  const long long k = plain::thread();
  if (k >= pairs) return;
  const int j = static_cast<int>(2 * k % vocabulary), target = target_of(in, 2 * k / vocabulary);
  const float scale = target < 0 ? 0 : in.schedule->inverse_root;
  plain::store(dz + 2 * k, (p[2 * k] - (j == target ? 1.0f : 0.0f)) * scale,
               (p[2 * k + 1] - (j + 1 == target ? 1.0f : 0.0f)) * scale);
}
// dz *= 1 - (capped / limit)^2
__global__ void cap_slope(const Bf16* capped, long long pairs, float limit, Bf16* dz) {
  const long long k = plain::thread();
  if (k >= pairs) return;
  const plain::Pair one = plain::load(capped + 2 * k), slope = plain::load(dz + 2 * k);
  const float low = one.low / limit, high = one.high / limit;
  plain::store(dz + 2 * k, slope.low * (1 - low * low), slope.high * (1 - high * high));
}
