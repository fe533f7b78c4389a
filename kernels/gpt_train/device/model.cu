// SPDX-License-Identifier: Apache-2.0
// A model's operations between its products, forward. The products add the residual sums; sizes are
// arguments, so that all shapes share one program.
//
// Against the plain formulation (a kernel for each written operation):
//   gathering and first norm are one pass, a norm and its inverse root are one
//   rotation is in place in the rows of q | k | v, without permuting heads
//   the gated unit is one pass over up | gate
//   a row of logits is read once: cap, logarithm of the sum, loss and gradient from shared memory
#include "gpt_train/data/hash.hpp"
#include "gpt_train/device/numbers.cuh"

#include "gpt_train/device/backward.cuh"
#include "gpt_train/device/classifier.cuh"

// f32, and bf16 rounded from it; either may be null.
__global__ void draw(gpt::Drawing what, float* wide, Bf16* narrow) {
  const long long count = what.rows * what.columns;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long k = thread_of_grid(); k < count; k += step) {
    const long long row = k / what.columns, at = row * what.pitch + k - row * what.columns;
    const auto index = what.first + static_cast<unsigned long long>(k);
    const auto value =
        static_cast<float>(what.mean + gpt::near_normal(what.stream, index) * what.sigma);
    if (wide) wide[at] = value;
    if (narrow) narrow[at] = narrowed(value);
  }
}

// x = E[tok], drawn without the table: [n, width].
__global__ void draw_stream(gpt::Inputs in, gpt::Drawing what, Bf16* x) {
  const long long k = thread_of_grid();
  if (k >= static_cast<long long>(in.count) * what.columns) return;
  const long long row = k / what.columns, column = k - row * what.columns;
  const auto index = static_cast<unsigned long long>(in.tokens[row]) * what.columns + column;
  x[k] = narrowed(static_cast<float>(gpt::near_normal(what.stream, index) * what.sigma));
}

// Segments [n]: -1 for padding, else the document.
__global__ void segment(gpt::Inputs in, int* segments) {
  const long long k = thread_of_grid();
  if (k < in.count) segments[k] = in.tokens[k] == in.padding ? -1 : in.documents[k];
}

// One warp per row: y = x r g; stores r.
__device__ inline void norm_row(const Bf16* x, const Bf16* g, int d, float epsilon, Bf16* y,
                                float* inverse) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  float squares = 0;
  for (int j = 8 * lane; j < d; j += 256) {
    const Eight own = load8(x + j);
#pragma unroll
    for (int i = 0; i < 8; ++i) squares += own.of[i] * own.of[i];
  }
  const float r = rsqrtf(warp_sum(squares) / static_cast<float>(d) + epsilon);
  for (int j = 8 * lane; j < d; j += 256) {
    Eight own = load8(x + j);
    const Eight by = load8(g + j);
#pragma unroll
    for (int i = 0; i < 8; ++i) own.of[i] *= r * by.of[i];
    store8(y + j, own);
  }
  if (lane == 0) *inverse = r;
}

__global__ void normalise(const Bf16* x, const Bf16* g, int rows, int d, float epsilon, Bf16* y,
                          float* inverse) {
  const long long row = thread_of_grid() / 32;
  if (row < rows) norm_row(x + row * d, g, d, epsilon, y + row * d, inverse + row);
}

// x = E[tok] and its first norm.
__global__ void embed(gpt::Inputs in, const Bf16* e, const Bf16* g, int d, float epsilon, Bf16* x,
                      Bf16* y, float* inverse) {
  const long long row = thread_of_grid() / 32;
  if (row >= in.count) return;
  const Bf16* const from = e + static_cast<long long>(in.tokens[row]) * d;
  for (int j = 8 * static_cast<int>(threadIdx.x % 32); j < d; j += 256)
    store8(x + row * d + j, load8(from + j));
  norm_row(from, g, d, epsilon, y + row * d, inverse + row);
}

// One block per row of q | k | v. Values, which are not rotated, are copied if `from` is not `to`.
__global__ void rotate(gpt::Rotation form, const Bf16* cosines, const Bf16* sines, const Bf16* from,
                       Bf16* to) {
  const long long row = blockIdx.x;
  const int half = form.head / 2;
  const Bf16* const own = from + row * form.pitch;
  Bf16* const out = to + row * form.pitch;
  const long long angle = row % form.columns * half;
  for (int k = 8 * static_cast<int>(threadIdx.x); k < form.rotated / 2; k += 8 * blockDim.x) {
    const int head = k / half, j = k - head * half, at = head * form.head + j;
    const Eight c = load8(cosines + angle + j), s = load8(sines + angle + j);
    Eight low = load8(own + at), high = load8(own + at + half);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float x = low.of[i], y = high.of[i], sine = form.direction * s.of[i];
      low.of[i] = x * c.of[i] - y * sine;
      high.of[i] = y * c.of[i] + x * sine;
    }
    store8(out + at, low);
    store8(out + at + half, high);
  }
  if (from == to) return;
  for (int k = form.rotated + 8 * static_cast<int>(threadIdx.x); k < form.pitch;
       k += 8 * blockDim.x)
    store8(out + k, load8(own + k));
}

// both: [n, 2 inner], up | gate; h = up silu(gate).
__global__ void gated(const Bf16* both, long long rows, int inner, Bf16* h) {
  const long long k = 8 * thread_of_grid();
  if (k >= rows * inner) return;
  const long long row = k / inner, at = row * 2 * inner + k - row * inner;
  Eight u = load8(both + at);
  const Eight a = load8(both + at + inner);
#pragma unroll
  for (int i = 0; i < 8; ++i) u.of[i] *= a.of[i] / (1 + __expf(-a.of[i]));
  store8(h + k, u);
}

// Mean and deviation of the losses l; one block.
__global__ void sum_losses(gpt::Inputs in, const float* losses, double* told) {
  const double count = in.schedule->count;
  double sum = 0;
  for (int k = static_cast<int>(threadIdx.x); k < in.count; k += gpt::sum_threads) sum += losses[k];
  const double mean = block_sum<gpt::sum_threads>(sum) / count;
  double squares = 0;
  for (int k = static_cast<int>(threadIdx.x); k < in.count; k += gpt::sum_threads)
    squares += (losses[k] - mean) * (losses[k] - mean);
  const double deviation = sqrt(block_sum<gpt::sum_threads>(squares) / count);
  if (threadIdx.x > 0) return;
  told[0] = mean;
  told[1] = deviation;
}
