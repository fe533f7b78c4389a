// SPDX-License-Identifier: Apache-2.0
// Dense matrix products of a backend: OpenBLAS on host, cuBLAS on cuda (cuBLASLt for planned
// products), counted on cuda-dry.
#pragma once

#include <map>
#include <memory>

#include "runtime/base/gemm.hpp"

namespace holdfast {

struct Backend;

// The products of one backend; owns their plans and, on a device, the work area.
class Blas {
 public:
  // For bf16 or tf32 pass planned_gemm_work_area_bytes: fewer algorithms work with less.
  explicit Blas(Backend& backend, std::size_t work_area_bytes = gemm_work_area_bytes);
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  // a, b, c are in the backend's memory. Counts one library call. If planned(problem), its first
  // call makes the plan, for any alpha and beta: an error in a steady step or a capture.
  void operator()(const Gemm& problem, const void* a, const void* b, void* c);
  // For planned(problem): D may differ from C.
  void operator()(const Gemm& problem, const GemmOperands& operands);
  // Makes the plan now, for a step that is captured before its first run.
  void plan(const Gemm& problem) { (void)plan_of(problem); }

 private:
  GemmPlan& plan_of(const Gemm& problem);

  Backend* backend_;
  std::size_t work_area_bytes_;
  void* work_area_ = nullptr;
  std::map<Gemm, std::unique_ptr<GemmPlan>> plans_ = {};  // keys ignore alpha and beta
};

}  // namespace holdfast
