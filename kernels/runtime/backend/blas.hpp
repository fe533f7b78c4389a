// SPDX-License-Identifier: Apache-2.0
// Dense matrix products behind the backend: OpenBLAS on host, cuBLAS on cuda (cuBLASLt where they
// are planned), counted on cuda-dry.
#pragma once

#include <map>
#include <memory>

#include "runtime/base/gemm.hpp"

namespace holdfast {

struct Backend;

// The products of one backend; owns the work area and the plans on a device, nothing on host.
class Blas {
 public:
  // Who multiplies in bf16 or tf32 gives planned_gemm_work_area_bytes: fewer algorithms do with
  // less.
  explicit Blas(Backend& backend, std::size_t work_area_bytes = gemm_work_area_bytes);
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  // a, b, c live where the backend's buffers live. Counts one library call. What is
  // planned(problem) is planned by its first call, whatever alpha and beta: an error in a steady
  // step and in a capture.
  void operator()(const Gemm& problem, const void* a, const void* b, void* c);
  // D apart from C, of what is planned(problem).
  void operator()(const Gemm& problem, const GemmOperands& operands);
  // Makes a plan now, for a step that is captured before it has run.
  void plan(const Gemm& problem) { (void)plan_of(problem); }

 private:
  GemmPlan& plan_of(const Gemm& problem);

  Backend* backend_;
  std::size_t work_area_bytes_;
  void* work_area_ = nullptr;
  std::map<Gemm, std::unique_ptr<GemmPlan>> plans_ = {};  // by problem, alpha and beta left out
};

}  // namespace holdfast
