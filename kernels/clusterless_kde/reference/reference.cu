// SPDX-License-Identifier: Apache-2.0
// The published formulation as an eager array program: one kernel per array operation, each reads
// whole arrays and writes a fresh one. Products of matrices are the library's.
#include "clusterless_kde/problem/formulas.hpp"

namespace kde = holdfast::clusterless_kde;

// Of one-dimensional launches: one thread per element.
__device__ inline long long global_index() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
// Of two-dimensional launches, which let neighbouring threads have neighbouring columns.
__device__ inline long long global_row() {
  return static_cast<long long>(blockIdx.x) * blockDim.y + threadIdx.y;
}
__device__ inline int global_column() {
  return blockIdx.y * blockDim.x + threadIdx.x;
}

template <class T>
__global__ void fill(T value, T* out, long long count) {
  const long long i = global_index();
  if (i < count) out[i] = value;
}

// out[n, w]: of sample i at point c.
template <class T>
__global__ void pdf(const T* samples, const T* points, T inverse_width, T scale, T* out,
                    long long n, int w) {
  const long long i = global_row();
  const int c = global_column();
  if (i < n && c < w)
    out[i * w + c] = scale * exp(kde::gauss_exponent(points[c], samples[i], inverse_width));
}
template <class T>
__global__ void log_pdf(const T* samples, const T* points, T inverse_width, T log_scale, T* out,
                        long long n, int w) {
  const long long i = global_row();
  const int c = global_column();
  if (i < n && c < w)
    out[i * w + c] = log_scale + kde::gauss_exponent(points[c], samples[i], inverse_width);
}

template <class T>
__global__ void add(const T* a, const T* b, T* out, long long count) {
  const long long i = global_index();
  if (i < count) out[i] = a[i] + b[i];
}
template <class T>
__global__ void subtract(const T* a, const T* b, T* out, long long count) {
  const long long i = global_index();
  if (i < count) out[i] = a[i] - b[i];
}
template <class T>
__global__ void multiply(const T* a, const T* b, T* out, long long count) {
  const long long i = global_index();
  if (i < count) out[i] = a[i] * b[i];
}
template <class T>
__global__ void exponential(const T* a, T* out, long long count) {
  const long long i = global_index();
  if (i < count) out[i] = exp(a[i]);
}
template <class T>
__global__ void logarithm(const T* a, T* out, long long count) {
  const long long i = global_index();
  if (i < count) out[i] = log(a[i]);
}
template <class T>
__global__ void shift(const T* a, T by, T* out, long long count) {
  const long long i = global_index();
  if (i < count) out[i] = a[i] + by;
}
template <class T>
__global__ void scale(const T* a, T by, T* out, long long count) {
  const long long i = global_index();
  if (i < count) out[i] = a[i] * by;
}
template <class T>
__global__ void divide(const T* a, T by, T* out, long long count) {
  const long long i = global_index();
  if (i < count) out[i] = a[i] / by;
}
template <class T>
__global__ void clip(const T* a, T least, T* out, long long count) {
  const long long i = global_index();
  if (i < count) out[i] = a[i] < least ? least : a[i];
}
template <class T>
__global__ void masked_ratio(const T* a, const T* b, T otherwise, T* out, long long count) {
  const long long i = global_index();
  if (i < count) out[i] = b[i] > 0 ? a[i] / b[i] : otherwise;
}
template <class T>
__global__ void below(const T* a, T least, unsigned char* out, long long count) {
  const long long i = global_index();
  if (i < count) out[i] = a[i] < least && a[i] > -least;
}
template <class T>
__global__ void select(const unsigned char* mask, T value, const T* otherwise, T* out,
                       long long count) {
  const long long i = global_index();
  if (i < count) out[i] = mask[i] ? value : otherwise[i];
}
// A copy of `whole` in which `part` has the place [first, end).
template <class T>
__global__ void place(const T* whole, const T* part, long long first, long long end, T* out,
                      long long count) {
  const long long i = global_index();
  if (i < count) out[i] = i >= first && i < end ? part[i - first] : whole[i];
}

// a, out: [rows, columns]; b: [columns].
template <class T>
__global__ void divide_columns(const T* a, const T* b, T* out, long long rows, int columns) {
  const long long r = global_row();
  const int c = global_column();
  if (r < rows && c < columns) out[r * columns + c] = a[r * columns + c] / b[c];
}
template <class T>
__global__ void subtract_columns(const T* a, const T* b, T* out, long long rows, int columns) {
  const long long r = global_row();
  const int c = global_column();
  if (r < rows && c < columns) out[r * columns + c] = a[r * columns + c] - b[c];
}
template <class T>
__global__ void keep_columns(const T* a, const T* b, T otherwise, T* out, long long rows,
                             int columns) {
  const long long r = global_row();
  const int c = global_column();
  if (r < rows && c < columns) out[r * columns + c] = b[c] > 0 ? a[r * columns + c] : otherwise;
}
template <class T>
__global__ void negated_rows(const T* row, T* out, long long rows, int columns) {
  const long long r = global_row();
  const int c = global_column();
  if (r < rows && c < columns) out[r * columns + c] = -row[c];
}

// The whole block's `combine` of one value of each of its SUM_ROWS lines, for SUM_COLUMNS columns
// at once; thread (column, 0) has the result.
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

// out[r, c] = from[r, c] by[r]; rows of `from` are `pitch` apart.
template <class T>
__global__ void scale_rows(const T* from, long long pitch, const T* by, T* out, long long rows,
                           int columns) {
  const long long r = global_row();
  const int c = global_column();
  if (r < rows && c < columns) out[r * columns + c] = from[r * pitch + c] * by[r];
}
// out[c]: the sum of squares of in[rows, columns] along the rows.
template <class T>
__global__ void square_sum(const T* in, T* out, int rows, long long columns) {
  const long long c = global_index();
  if (c >= columns) return;
  T sum = 0;
  for (int r = 0; r < rows; ++r) sum += in[r * columns + c] * in[r * columns + c];
  out[c] = sum;
}
// out[n, w] of a[n], b[w] and cross[n, w].
template <class T>
__global__ void expanded(const T* a, const T* b, const T* cross, T log_scale, T* out, long long n,
                         int w) {
  const long long i = global_row();
  const int c = global_column();
  if (i < n && c < w)
    out[i * w + c] = log_scale + kde::expanded_exponent(a[i], b[c], cross[i * w + c]);
}

// Of marks[n, w] + places[n, bins] along n, for every spike j < w and `count` places from `first`:
// out[w, bins].
template <class T>
__global__ void joint_maximum(const T* marks, const T* places, T* out, long long n, int w, int bins,
                              int first, int count) {
  const long long j = global_row();
  const int p = first + global_column();
  if (j >= w || p >= first + count) return;
  T most = marks[j] + places[p];
  for (long long i = 1; i < n; ++i)
    most = Maximum<T>()(most, marks[i * w + j] + places[i * bins + p]);
  out[j * bins + p] = most;
}
template <class T>
__global__ void joint_log_sum(const T* marks, const T* places, const T* most, T* out, long long n,
                              int w, int bins, int first, int count) {
  const long long j = global_row();
  const int p = first + global_column();
  if (j >= w || p >= first + count) return;
  const T top = most[j * bins + p];
  T sum = 0;
  for (long long i = 0; i < n; ++i) sum += exp(marks[i * w + j] + places[i * bins + p] - top);
  out[j * bins + p] = top + log(sum);
}

// e^((in - top) / 2).
template <class T>
__global__ void half_exp(const T* in, const T* top, T* out, long long count) {
  const long long i = global_index();
  if (i < count) out[i] = exp((in[i] - *top) / 2);
}
// out[r, c] = e^(in[r, c] - by[r]) share[r].
template <class T>
__global__ void shifted_exp(const T* in, const T* by, const T* share, T* out, long long rows,
                            int columns) {
  const long long r = global_row();
  const int c = global_column();
  if (r < rows && c < columns) out[r * columns + c] = exp(in[r * columns + c] - by[r]) * share[r];
}
// ln in + by, of one number.
template <class T>
__global__ void shifted_log(const T* in, const T* by, T* out, long long count) {
  const long long i = global_index();
  if (i < count) out[i] = log(in[i]) + *by;
}
