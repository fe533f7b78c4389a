// SPDX-License-Identifier: Apache-2.0
// The verbs as kernels, one per row of a table: each reads whole arrays and writes a fresh one. A
// workload adds its own kernels in a .cu that includes this file; both are then one program.
#include "arrays/verbs.hpp"

// For one-dimensional launches: one thread per element.
__device__ inline long long global_index() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
// For two-dimensional launches, in which neighbouring threads have neighbouring columns.
__device__ inline long long global_row() {
  return static_cast<long long>(blockIdx.x) * blockDim.y + threadIdx.y;
}
__device__ inline int global_column() {
  return blockIdx.y * blockDim.x + threadIdx.x;
}

// Kernels of a table's rows: HOLDFAST_ARRAY_VERBS(HOLDFAST_KERNEL, HOLDFAST_NOTHING).
#define HOLDFAST_KERNEL(kind, shape, name, parameters, ...) \
  HOLDFAST_KERNEL_##shape(name, parameters, __VA_ARGS__)
#define HOLDFAST_KERNEL_Line(name, parameters, ...)                     \
  template <class T>                                                    \
  __global__ void name(HOLDFAST_UNPACKED parameters, long long count) { \
    const long long i = global_index();                                 \
    if (i < count) {                                                    \
      __VA_ARGS__;                                                      \
    }                                                                   \
  }
#define HOLDFAST_KERNEL_Plane(name, parameters, ...)                                \
  template <class T>                                                                \
  __global__ void name(HOLDFAST_UNPACKED parameters, long long rows, int columns) { \
    const long long r = global_row();                                               \
    const int c = global_column();                                                  \
    if (r < rows && c < columns) {                                                  \
      __VA_ARGS__;                                                                  \
    }                                                                               \
  }
#define HOLDFAST_KERNEL_Columns(name, parameters, ...)                              \
  template <class T>                                                                \
  __global__ void name(HOLDFAST_UNPACKED parameters, int rows, long long columns) { \
    const long long c = global_index();                                             \
    if (c < columns) {                                                              \
      __VA_ARGS__;                                                                  \
    }                                                                               \
  }

HOLDFAST_ARRAY_VERBS(HOLDFAST_KERNEL, HOLDFAST_NOTHING)

template <class T>
__global__ void place(const T* whole, const T* part, long long first, long long end, T* out,
                      long long count) {
  const long long i = global_index();
  if (i < count) out[i] = i >= first && i < end ? part[i - first] : whole[i];
}

// Combines one value of each of the block's SUM_ROWS lines, for SUM_COLUMNS columns at once; every
// thread of a column gets the result.
template <class T, class Combine>
__device__ T along_rows(T value, Combine combine) {
  __shared__ T values[SUM_ROWS][SUM_COLUMNS];
  values[threadIdx.y][threadIdx.x] = value;
  for (int half = SUM_ROWS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y < half)
      values[threadIdx.y][threadIdx.x] =
          combine(values[threadIdx.y][threadIdx.x], values[threadIdx.y + half][threadIdx.x]);
  }
  __syncthreads();
  const T result = values[0][threadIdx.x];
  __syncthreads();
  return result;
}
template <class T>
struct Sum {
  __device__ T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct Maximum {
  __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};

// out[w]: of in[n, w] along n. Block: SUM_COLUMNS x SUM_ROWS threads.
template <class T>
__global__ void weighted_sum(const T* weights, const T* in, T* out, long long n, int w) {
  const int c = blockIdx.x * SUM_COLUMNS + threadIdx.x;
  T sum = 0;
  if (c < w)
    for (long long i = threadIdx.y; i < n; i += SUM_ROWS) sum += weights[i] * in[i * w + c];
  sum = along_rows(sum, Sum<T>());
  if (threadIdx.y == 0 && c < w) out[c] = sum;
}
template <class T>
__global__ void log_sum(const T* in, T* out, long long n, int w) {
  const int c = blockIdx.x * SUM_COLUMNS + threadIdx.x;
  T most = c < w ? in[c] : T(0);
  if (c < w)
    for (long long i = threadIdx.y; i < n; i += SUM_ROWS) most = Maximum<T>()(most, in[i * w + c]);
  most = along_rows(most, Maximum<T>());
  T sum = 0;
  if (c < w)
    for (long long i = threadIdx.y; i < n; i += SUM_ROWS) sum += exp(in[i * w + c] - most);
  sum = along_rows(sum, Sum<T>());
  if (threadIdx.y == 0 && c < w) out[c] = most + log(sum);
}

// out[rows]: of in[rows, columns] along the columns. A warp per row.
template <class T>
__global__ void row_maximum(const T* in, T* out, long long rows, int columns) {
  const long long r = global_row();
  if (r >= rows) return;
  T most = in[r * columns];
  for (int c = threadIdx.x; c < columns; c += 32) most = Maximum<T>()(most, in[r * columns + c]);
  for (int lanes = 16; lanes > 0; lanes /= 2)
    most = Maximum<T>()(most, __shfl_xor_sync(0xffffffffu, most, lanes));
  if (threadIdx.x == 0) out[r] = most;
}

// out[rows[j], c] += values[j, c]. The rows ascend: the first spike of a row takes all of them.
template <class T>
__global__ void segment_sum(const T* values, const int* rows, T* out, long long m, int columns) {
  const long long first = global_row();
  const int c = global_column();
  if (first >= m || c >= columns || (first > 0 && rows[first] == rows[first - 1])) return;
  T sum = 0;
  for (long long j = first; j < m && rows[j] == rows[first]; ++j) sum += values[j * columns + c];
  out[static_cast<long long>(rows[first]) * columns + c] += sum;
}
