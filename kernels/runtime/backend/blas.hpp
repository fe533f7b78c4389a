// SPDX-License-Identifier: Apache-2.0
// Dense matrix products behind the backend: OpenBLAS on host, cuBLAS on cuda, counted on cuda-dry.
#pragma once

#include "runtime/base/gemm.hpp"

namespace holdfast {

struct Backend;

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
