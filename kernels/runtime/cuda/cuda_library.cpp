// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cuda_library.hpp"

#include "runtime/base/error.hpp"
#include "runtime/cuda/cuda_check.hpp"
#include "runtime/cuda/cufft_library.hpp"

namespace holdfast {
namespace {

cublasHandle_t make_blas() {
  cublasHandle_t handle = nullptr;
  check(cublas().create(&handle), "start cuBLAS");
  return handle;
}

cublasOperation_t operation(bool transpose) {
  return transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
}

class CudaFft final : public FftPlan {
 public:
  CudaFft(const Fft& what, void* work_area, cudaStream_t stream) : FftPlan(what) {
    check(cufft().create(&plan_), "create an FFT plan");
    try {
      prepare(work_area, stream);
    } catch (...) {
      (void)cufft().destroy(plan_);
      throw;
    }
  }
  // NOLINTNEXTLINE(bugprone-exception-escape): the constructor has opened the library
  ~CudaFft() override { (void)cufft().destroy(plan_); }
  CudaFft(const CudaFft&) = delete;
  CudaFft& operator=(const CudaFft&) = delete;

  void execute(void* in, void* out) const { check(run(in, out), "run a Fourier transform"); }

 private:
  bool f64() const { return problem.precision == Precision::f64; }

  cufftType type() const {
    switch (problem.kind) {
      case Fft::Kind::real_forward:
        return f64() ? CUFFT_D2Z : CUFFT_R2C;
      case Fft::Kind::real_backward:
        return f64() ? CUFFT_Z2D : CUFFT_C2R;
      default:
        return f64() ? CUFFT_Z2Z : CUFFT_C2C;
    }
  }

  void prepare(void* work_area, cudaStream_t stream) {
    check(cufft().set_auto_allocation(plan_, 0), "keep cuFFT from allocating");
    long long extents[] = {problem.rows, problem.columns};
    const int rank = problem.rows == 1 ? 1 : 2;
    std::size_t needed = 0;
    check(cufft().make_plan(plan_, rank, extents + (2 - rank), nullptr, 1, 0, nullptr, 1, 0, type(),
                            problem.batch, &needed),
          text("plan a Fourier transform of [", problem.batch, ", ", problem.rows, ", ",
               problem.columns, "]"));
    if (needed > problem.work_area_bytes())
      throw Error(Fault::broken_rule,
                  text("failed to plan a Fourier transform of [", problem.batch, ", ", problem.rows,
                       ", ", problem.columns, "]: cuFFT asks for ", needed,
                       " bytes of work area, the formula gives ", problem.work_area_bytes(),
                       "; choose sizes with small prime factors"));
    check(cufft().set_work_area(plan_, work_area), "give cuFFT its work area");
    check(cufft().set_stream(plan_, stream), "put cuFFT on the stream");
  }

  cufftResult run(void* in, void* out) const {
    const int direction =
        problem.kind == Fft::Kind::complex_forward ? CUFFT_FORWARD : CUFFT_INVERSE;
    switch (type()) {
      case CUFFT_D2Z:
        return cufft().forward_f64(plan_, static_cast<double*>(in),
                                   static_cast<cufftDoubleComplex*>(out));
      case CUFFT_R2C:
        return cufft().forward_f32(plan_, static_cast<float*>(in), static_cast<cufftComplex*>(out));
      case CUFFT_Z2D:
        return cufft().backward_f64(plan_, static_cast<cufftDoubleComplex*>(in),
                                    static_cast<double*>(out));
      case CUFFT_C2R:
        return cufft().backward_f32(plan_, static_cast<cufftComplex*>(in),
                                    static_cast<float*>(out));
      case CUFFT_Z2Z:
        return cufft().complex_f64(plan_, static_cast<cufftDoubleComplex*>(in),
                                   static_cast<cufftDoubleComplex*>(out), direction);
      default:
        return cufft().complex_f32(plan_, static_cast<cufftComplex*>(in),
                                   static_cast<cufftComplex*>(out), direction);
    }
  }

  cufftHandle plan_ = 0;
};

}  // namespace

CudaBlas::CudaBlas(cudaStream_t stream) : handle_(make_blas()) {
  check(cublas().set_stream(handle_.get(), stream), "put cuBLAS on the stream");
}

// cuBLAS is column-major: it sees our row-major C as C^T = op(B)^T op(A)^T, so the operands are
// swapped.
void CudaBlas::operator()(const Gemm& p, const void* a, const void* b, void* c, void* work_area) {
  if (work_area != work_area_)
    check(cublas().set_workspace(handle_.get(), work_area, gemm_work_area_bytes),
          "give cuBLAS its work area");
  work_area_ = work_area;
  const auto ta = operation(p.transpose_a), tb = operation(p.transpose_b);
  const float alpha = static_cast<float>(p.alpha), beta = static_cast<float>(p.beta);
  const auto status =
      p.precision == Precision::f64
          ? cublas().multiply_f64(handle_.get(), tb, ta, p.n, p.m, p.k, &p.alpha,
                                  static_cast<const double*>(b), p.ldb, p.stride_b,
                                  static_cast<const double*>(a), p.lda, p.stride_a, &p.beta,
                                  static_cast<double*>(c), p.ldc, p.stride_c, p.batch)
          : cublas().multiply_f32(handle_.get(), tb, ta, p.n, p.m, p.k, &alpha,
                                  static_cast<const float*>(b), p.ldb, p.stride_b,
                                  static_cast<const float*>(a), p.lda, p.stride_a, &beta,
                                  static_cast<float*>(c), p.ldc, p.stride_c, p.batch);
  // This path is timed: the message is only composed on failure.
  if (status != CUBLAS_STATUS_SUCCESS)
    check(status, text("multiply [", p.m, ", ", p.k, "] by [", p.k, ", ", p.n, "]"));
}

std::unique_ptr<FftPlan> plan_fft_on_cuda(const Fft& problem, void* work_area,
                                          cudaStream_t stream) {
  return std::make_unique<CudaFft>(problem, work_area, stream);
}

void transform_on_cuda(FftPlan& plan, const void* in, void* out) {
  static_cast<CudaFft&>(plan).execute(const_cast<void*>(in), out);
}

}  // namespace holdfast
