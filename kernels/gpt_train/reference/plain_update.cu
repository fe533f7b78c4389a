// SPDX-License-Identifier: Apache-2.0
// The reference's update on a device, a kernel per operation on a tensor, in f32. G is the type of
// stored gradients.
#include "gpt_train/reference/plain_numbers.cuh"

// out = by_what what + by_old old; out may be old.
template <class G>
__global__ void blend(const G* what, float by_what, const float* old, float by_old, long long count,
                      float* out) {
  const long long k = plain::thread();
  if (k < count) out[k] = by_what * plain::number(what[k]) + by_old * old[k];
}
// keep = beta keep + (1 - beta) g^2
template <class G>
__global__ void blend_squares(const G* g, float beta, long long count, float* keep) {
  const long long k = plain::thread();
  if (k >= count) return;
  const float own = plain::number(g[k]);
  keep[k] = beta * keep[k] + (1 - beta) * own * own;
}
__global__ void scale_numbers(const float* x, float factor, long long count, float* out) {
  const long long k = plain::thread();
  if (k < count) out[k] = factor * x[k];
}
__global__ void quotient(const float* first, const float* second, float epsilon, long long count,
                         float* out) {
  const long long k = plain::thread();
  if (k < count) out[k] = first[k] / (sqrtf(second[k]) + epsilon);
}
__global__ void signs(const float* x, long long count, float* out) {
  const long long k = plain::thread();
  if (k < count) out[k] = static_cast<float>((x[k] > 0) - (x[k] < 0));
}
__global__ void add_numbers(const float* a, const float* b, long long count, float* out) {
  const long long k = plain::thread();
  if (k < count) out[k] = a[k] + b[k];
}
__global__ void cast(const float* x, long long pairs, Bf16* out) {
  const long long k = plain::thread();
  if (k < pairs) plain::store(out + 2 * k, x[2 * k], x[2 * k + 1]);
}

// sizes [rows]: roots of the mean squares; then rows beyond `greatest` are divided by their own.
__global__ void row_sizes(const float* p, long long rows, int d, float* sizes) {
  const long long row = plain::thread() / 32;
  if (row >= rows) return;
  float squares = 0;
  for (int j = threadIdx.x % 32; j < d; j += 32) squares += p[row * d + j] * p[row * d + j];
  squares = plain::sum_of_warp(squares);
  if (threadIdx.x % 32 == 0) sizes[row] = sqrtf(squares / static_cast<float>(d));
}
__global__ void project(const float* sizes, float greatest, long long count, int d, float* p) {
  const long long k = plain::thread();
  if (k < count && sizes[k / d] > greatest) p[k] /= sizes[k / d];
}

// partial [blocks]: sums of x^2 over each block's share; then one block's `inverse` of their root.
__global__ void sum_squares(const float* x, long long count, float* partial) {
  float squares = 0;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long k = plain::thread(); k < count; k += step) squares += x[k] * x[k];
  squares = plain::sum_of_row(squares);
  if (threadIdx.x == 0) partial[blockIdx.x] = squares;
}
__global__ void invert_norm(const float* partial, int parts, float epsilon, float* inverse) {
  float squares = 0;
  for (int k = threadIdx.x; k < parts; k += plain::row_threads) squares += partial[k];
  squares = plain::sum_of_row(squares);
  if (threadIdx.x == 0) *inverse = 1 / (sqrtf(squares) + epsilon);
}
__global__ void scale_by(const float* x, const float* factor, long long count, float* out) {
  const long long k = plain::thread();
  if (k < count) out[k] = *factor * x[k];
}

// out [columns, rows] = the transpose of x [rows, columns], in squares of 32 by blocks of [32, 8].
__global__ void turn(const float* x, int rows, int columns, float* out) {
  __shared__ float square[32][33];
  const int left = blockIdx.x * 32, top = blockIdx.y * 32;
  for (int i = threadIdx.y; i < 32; i += 8)
    if (top + i < rows && left + static_cast<int>(threadIdx.x) < columns)
      square[i][threadIdx.x] = x[static_cast<long long>(top + i) * columns + left + threadIdx.x];
  __syncthreads();
  for (int j = threadIdx.y; j < 32; j += 8)
    if (left + j < columns && top + static_cast<int>(threadIdx.x) < rows)
      out[static_cast<long long>(left + j) * rows + top + threadIdx.x] = square[threadIdx.x][j];
}
