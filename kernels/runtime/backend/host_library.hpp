// SPDX-License-Identifier: Apache-2.0
// BLAS and FFT on host memory: what the host backend and the emulated device call.
#pragma once

#include <memory>

#include "runtime/base/fourier.hpp"
#include "runtime/base/gemm.hpp"

namespace holdfast {

// What is planned(problem) is widened to f32 and added up in it; tf32 is cut off first, as a matrix
// unit does.
void gemm_on_host(const Gemm& problem, const GemmOperands& operands);

// Measured by FFTW. HOLDFAST_FFTW_WISDOM names a file in which plans outlive the process.
std::unique_ptr<FftPlan> plan_fft_on_host(const Fft& problem);
// From here on plans are FFTW's estimates: the same in every process, and not the fastest.
void plan_ffts_without_measuring();
void transform_on_host(FftPlan& plan, const void* in, void* out);

}  // namespace holdfast
