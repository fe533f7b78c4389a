// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/blas.hpp"

#include <cblas.h>

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

void check_problem(const Gemm& p) {
  if (p.m < 1 || p.n < 1 || p.k < 1 || p.batch < 1)
    throw Error(Fault::bad_input, text("a matrix product of m = ", p.m, ", n = ", p.n, ", k = ",
                                       p.k, ", batch = ", p.batch, ": all must be positive"));
  check_pitch("A", p.lda, p.transpose_a ? p.m : p.k);
  check_pitch("B", p.ldb, p.transpose_b ? p.k : p.n);
  check_pitch("C", p.ldc, p.n);
}

double flops(const Gemm& p) {
  return 2.0 * p.m * p.n * p.k * p.batch;
}

CBLAS_TRANSPOSE transposed(bool yes) {
  return yes ? CblasTrans : CblasNoTrans;
}

}  // namespace

// A batch is shared among the threads, each product on one of them: for the small matrices of a
// panel this is faster and steadier than a team for every product. A single product gets the whole
// team.
void gemm_on_host(const Gemm& p, const void* a, const void* b, void* c) {
  const auto ta = transposed(p.transpose_a), tb = transposed(p.transpose_b);
#pragma omp parallel for schedule(static) \
    num_threads(host_limits().threads) if (p.batch > 1 && flops(p) >= flops_worth_sharing)
  for (std::int64_t i = 0; i < p.batch; ++i) {
    if (p.precision == Precision::f64)
      cblas_dgemm(CblasRowMajor, ta, tb, p.m, p.n, p.k, p.alpha,
                  static_cast<const double*>(a) + i * p.stride_a, p.lda,
                  static_cast<const double*>(b) + i * p.stride_b, p.ldb, p.beta,
                  static_cast<double*>(c) + i * p.stride_c, p.ldc);
    else
      cblas_sgemm(CblasRowMajor, ta, tb, p.m, p.n, p.k, static_cast<float>(p.alpha),
                  static_cast<const float*>(a) + i * p.stride_a, p.lda,
                  static_cast<const float*>(b) + i * p.stride_b, p.ldb, static_cast<float>(p.beta),
                  static_cast<float*>(c) + i * p.stride_c, p.ldc);
  }
}

Blas::Blas(Backend& backend) : backend_(&backend) {
  if (!backend.device) return;
  backend.device->open_blas();
  work_area_ = allocate(backend, gemm_work_area_bytes, blas_site);
}

Blas::~Blas() {
  if (work_area_) release(*backend_, work_area_, gemm_work_area_bytes, blas_site);
}

void Blas::operator()(const Gemm& problem, const void* a, const void* b, void* c) {
  check_problem(problem);
  if (backend_->device) return backend_->device->gemm(problem, a, b, c, work_area_);
  const Verb verb(backend_->ledger.recorder, [&](Recorder& recorder) {
    return recorder.open(Activity::Kind::library, shown(problem));
  });
  gemm_on_host(problem, a, b, c);
  ++backend_->ledger.counts.launches;
  ++backend_->ledger.counts.library_calls;
}

}  // namespace holdfast
