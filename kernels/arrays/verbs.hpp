// SPDX-License-Identifier: Apache-2.0
// The verbs of an array library, each one pass over memory and one row of a table that g++ and
// NVRTC both read. Loop, kernel, program entry, launcher and emulated kernel are generated from it
// (README.md).
#pragma once

// ROW(kind, shape, name, (parameters), formula): one thread's work, on values of type T. The file
// that expands the table provides exp and log. Shapes give the formula its element and extents:
//   Line     i < count
//   Plane    r < rows, c < columns, neighbouring threads have neighbouring columns
//   Columns  c < columns, of `rows` rows
// OWN(kind, shape, name, (parameters)): its kernel is in arrays.cu, its loop in host_verbs.hpp.
//   Sums     [rows, columns] along the rows
//   Warps    [rows, columns] along the columns
// kind: a KernelKind. Extents come after the parameters.
//
// place: a copy of `whole` with `part` at [first, end).
// divide_columns to negated_rows: a, out: [rows, columns]; b, row: [columns].
// scale_rows: rows of `from` are `pitch` apart. shifted_log: `by` is one number.
// segment_sum: out[rows[j], c] += values[j, c]; the rows ascend.

// clang-format off
#define HOLDFAST_ARRAY_VERBS(ROW, OWN)                                                             \
  ROW(fused, Line, fill, (T value, T* out), out[i] = value)                                        \
  ROW(fused, Line, add, (const T* a, const T* b, T* out), out[i] = a[i] + b[i])                    \
  ROW(fused, Line, subtract, (const T* a, const T* b, T* out), out[i] = a[i] - b[i])               \
  ROW(fused, Line, multiply, (const T* a, const T* b, T* out), out[i] = a[i] * b[i])               \
  ROW(fused, Line, exponential, (const T* a, T* out), out[i] = exp(a[i]))                          \
  ROW(fused, Line, logarithm, (const T* a, T* out), out[i] = log(a[i]))                            \
  ROW(fused, Line, shift, (const T* a, T by, T* out), out[i] = a[i] + by)                          \
  ROW(fused, Line, scale, (const T* a, T by, T* out), out[i] = a[i] * by)                          \
  ROW(fused, Line, divide, (const T* a, T by, T* out), out[i] = a[i] / by)                         \
  ROW(fused, Line, clip, (const T* a, T least, T* out), out[i] = a[i] < least ? least : a[i])      \
  ROW(fused, Line, masked_ratio, (const T* a, const T* b, T otherwise, T* out),                    \
      out[i] = b[i] > 0 ? a[i] / b[i] : otherwise)                                                 \
  ROW(fused, Line, below, (const T* a, T least, unsigned char* out),                               \
      out[i] = a[i] < least && a[i] > -least)                                                      \
  ROW(fused, Line, select, (const unsigned char* mask, T value, const T* otherwise, T* out),       \
      out[i] = mask[i] ? value : otherwise[i])                                                     \
  OWN(copy, Line, place, (const T* whole, const T* part, long long first, long long end, T* out))  \
                                                                                                   \
  ROW(fused, Plane, divide_columns, (const T* a, const T* b, T* out),                              \
      out[r * columns + c] = a[r * columns + c] / b[c])                                            \
  ROW(fused, Plane, subtract_columns, (const T* a, const T* b, T* out),                            \
      out[r * columns + c] = a[r * columns + c] - b[c])                                            \
  ROW(fused, Plane, keep_columns, (const T* a, const T* b, T otherwise, T* out),                   \
      out[r * columns + c] = b[c] > 0 ? a[r * columns + c] : otherwise)                            \
  ROW(fused, Plane, negated_rows, (const T* row, T* out), out[r * columns + c] = -row[c])          \
  ROW(fused, Plane, scale_rows, (const T* from, long long pitch, const T* by, T* out),             \
      out[r * columns + c] = from[r * pitch + c] * by[r])                                          \
                                                                                                   \
  OWN(reduce, Sums, weighted_sum, (const T* weights, const T* in, T* out))                         \
  OWN(reduce, Sums, log_sum, (const T* in, T* out))                                                \
  OWN(reduce, Warps, row_maximum, (const T* in, T* out))                                           \
  OWN(reduce, Plane, segment_sum, (const T* values, const int* rows, T* out))                      \
  ROW(reduce, Columns, square_sum, (const T* in, T* out),                                          \
      T sum = 0;                                                                                   \
      for (decltype(rows) r = 0; r < rows; ++r) sum += in[r * columns + c] * in[r * columns + c];  \
      out[c] = sum)                                                                                \
                                                                                                   \
  ROW(fused, Line, half_exp, (const T* in, const T* top, T* out),                                  \
      out[i] = exp((in[i] - *top) / 2))                                                            \
  ROW(fused, Plane, shifted_exp, (const T* in, const T* by, const T* share, T* out),               \
      out[r * columns + c] = exp(in[r * columns + c] - by[r]) * share[r])                          \
  ROW(fused, Line, shifted_log, (const T* in, const T* by, T* out), out[i] = log(in[i]) + *by)
// clang-format on

// For code generated from the tables: parameters without their parentheses; rows that generate
// nothing.
#define HOLDFAST_UNPACKED(...) __VA_ARGS__
#define HOLDFAST_NOTHING(...)
