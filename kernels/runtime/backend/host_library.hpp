// SPDX-License-Identifier: Apache-2.0
// BLAS and FFT on host memory, called by the host backend and the emulated device.
#pragma once

#include <memory>

#include "runtime/base/fourier.hpp"
#include "runtime/base/gemm.hpp"

namespace holdfast {

// For planned(problem), operands are widened to f32 and accumulated in it; tf32 is truncated first,
// as a matrix unit does.
void gemm_on_host(const Gemm& problem, const GemmOperands& operands);

// Planned by FFTW's measurements. HOLDFAST_FFTW_WISDOM names a file that keeps plans across
// processes.
std::unique_ptr<FftPlan> plan_fft_on_host(const Fft& problem);
// From here on plans are FFTW's estimates: the same in every process, but not the fastest.
void plan_ffts_without_measuring();
void transform_on_host(FftPlan& plan, const void* in, void* out);

}  // namespace holdfast
