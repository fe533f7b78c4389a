// SPDX-License-Identifier: Apache-2.0
// The cuFFT functions that we call, loaded at first use like those of cuBLAS.
#pragma once

#include <cufft.h>

namespace holdfast {

struct CufftLibrary {
  decltype(&cufftCreate) create = nullptr;
  decltype(&cufftDestroy) destroy = nullptr;
  decltype(&cufftSetAutoAllocation) set_auto_allocation = nullptr;
  decltype(&cufftMakePlanMany64) make_plan = nullptr;
  decltype(&cufftSetWorkArea) set_work_area = nullptr;
  decltype(&cufftSetStream) set_stream = nullptr;
  decltype(&cufftExecD2Z) forward_f64 = nullptr;
  decltype(&cufftExecR2C) forward_f32 = nullptr;
  decltype(&cufftExecZ2D) backward_f64 = nullptr;
  decltype(&cufftExecC2R) backward_f32 = nullptr;
  decltype(&cufftExecZ2Z) complex_f64 = nullptr;
  decltype(&cufftExecC2C) complex_f32 = nullptr;
};

// Loaded at the first call. Throws Error{device} if that fails.
const CufftLibrary& cufft();

}  // namespace holdfast
