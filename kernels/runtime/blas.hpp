// SPDX-License-Identifier: Apache-2.0
// Dense matrix products behind the backend: OpenBLAS on host, cuBLAS on cuda, counted on cuda-dry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/precision.hpp"

namespace holdfast {

struct Backend;

// C = alpha op(A) op(B) + beta C for `batch` row-major problems; strides in elements between
// consecutive problems, a stride of 0 uses the same matrix for all.
struct Gemm {
  Precision precision = Precision::f64;
  int m = 0, n = 0, k = 0;  // op(A): [m, k], op(B): [k, n], C: [m, n]
  bool transpose_a = false, transpose_b = false;
  int lda = 0, ldb = 0, ldc = 0;  // row pitch, in elements
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  int batch = 1;
  double alpha = 1, beta = 0;
};

std::string shown(const Gemm& problem);  // "gemm [batch, m, k, n] f64"

// Bytes of device work area a Blas takes once (cuBLAS's workspace, set by us so that the peak is
// reproducible).
inline constexpr std::size_t gemm_work_area_bytes = std::size_t{8} << 20;

// The products of one backend; owns the work area on a device, nothing on host.
class Blas {
 public:
  explicit Blas(Backend& backend);
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  // a, b, c live where the backend's buffers live. Counts one library call.
  void operator()(const Gemm& problem, const void* a, const void* b, void* c);

 private:
  Backend* backend_;
  void* work_area_ = nullptr;
};

}  // namespace holdfast
