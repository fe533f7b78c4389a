// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/blas.hpp"

#include <cstdint>

#include "runtime/backend/buffer.hpp"
#include "runtime/backend/host_library.hpp"
#include "runtime/count/recorder.hpp"

namespace holdfast {
namespace {

constexpr std::string_view blas_site = "blas work area";

void check_pitch(std::string_view matrix, int pitch, int columns) {
  if (pitch < columns)
    throw Error(Fault::bad_input, text("matrix ", matrix, " has a row pitch of ", pitch,
                                       " elements, but rows of ", columns));
}

void check_formats(const Gemm& p) {
  const Precision result = stored_result(p);
  const bool own = result == stored_result({.precision = p.precision});
  if (!own && !(p.precision == Precision::bf16 && result == Precision::f32))
    throw Error(Fault::bad_input,
                text("a matrix product of ", name(p.precision), " into ", name(result),
                     ": only bf16 is added up into another format, "
                     "which is f32"));
}

void check_problem(const Gemm& p) {
  if (p.m < 1 || p.n < 1 || p.k < 1 || p.batch < 1)
    throw Error(Fault::bad_input, text("a matrix product of m = ", p.m, ", n = ", p.n, ", k = ",
                                       p.k, ", batch = ", p.batch, ": all must be positive"));
  check_pitch("A", p.lda, p.transpose_a ? p.m : p.k);
  check_pitch("B", p.ldb, p.transpose_b ? p.k : p.n);
  check_pitch("C", p.ldc, p.n);
  check_formats(p);
}

// Enforces what a plan may assume, so that a dry run refuses what a GPU would.
void check_operands(const Gemm& p, const GemmOperands& operands) {
  constexpr std::uintptr_t alignment = 16;
  for (const void* memory :
       {operands.a, operands.b, operands.c, const_cast<const void*>(operands.d)})
    if (reinterpret_cast<std::uintptr_t>(memory) % alignment != 0)
      throw Error(Fault::bad_input, text(shown(p),
                                         " of a matrix that does not begin at a multiple "
                                         "of ",
                                         alignment, " bytes: pad what lies before it"));
}

}  // namespace

Blas::Blas(Backend& backend, std::size_t work_area_bytes)
    : backend_(&backend), work_area_bytes_(work_area_bytes) {
  // cuBLAS is told that it has this much, whatever the size.
  if (work_area_bytes < gemm_work_area_bytes)
    throw Error(Fault::bad_input,
                text("a work area of ", work_area_bytes,
                     " bytes for matrix products: give at least ", gemm_work_area_bytes));
  if (!backend.device) return;
  backend.device->open_blas();
  work_area_ = allocate(backend, work_area_bytes_, blas_site);
}

Blas::~Blas() {
  plans_.clear();  // before the work area they use
  if (work_area_) release(*backend_, work_area_, work_area_bytes_, blas_site);
}

GemmPlan& Blas::plan_of(const Gemm& problem) {
  Gemm key = problem;
  key.alpha = 1;
  key.beta = 0;
  if (const auto made = plans_.find(key); made != plans_.end()) return *made->second;
  check_problem(key);
  std::unique_ptr<GemmPlan> plan;
  if (backend_->device) {
    plan = backend_->device->plan_gemm(key, work_area_bytes_);
  } else {
    backend_->ledger.plan(shown(key));
    plan = std::make_unique<GemmPlan>(key);
  }
  return *plans_.emplace(key, std::move(plan)).first->second;
}

void Blas::operator()(const Gemm& problem, const void* a, const void* b, void* c) {
  (*this)(problem, {a, b, c, c});
}

void Blas::operator()(const Gemm& problem, const GemmOperands& operands) {
  if (planned(problem)) {
    check_operands(problem, operands);
    GemmPlan& plan = plan_of(problem);
    if (backend_->device) return backend_->device->gemm(plan, problem, operands, work_area_);
  } else {
    check_problem(problem);
    if (operands.c != operands.d)
      throw Error(Fault::bad_input,
                  text(shown(problem), " puts its result where C is; copy C first"));
    if (backend_->device)
      return backend_->device->gemm(problem, operands.a, operands.b, operands.d, work_area_);
  }
  const Verb verb(backend_->ledger.recorder, [&](Recorder& recorder) {
    return recorder.open(Activity::Kind::library, shown(problem));
  });
  gemm_on_host(problem, operands);
  ++backend_->ledger.counts.launches;
  ++backend_->ledger.counts.library_calls;
}

}  // namespace holdfast
