// SPDX-License-Identifier: Apache-2.0
// The functions of cuBLAS that we call, found when the first of them is: to load it takes a process
// 0.1 s of CPU time, four fifths of all that it needs to start, and most processes never multiply
// on a GPU.
#pragma once

#include <cublas_v2.h>

#include <string>

namespace holdfast {

struct CublasLibrary {
  decltype(&cublasCreate) create = nullptr;
  decltype(&cublasDestroy) destroy = nullptr;
  decltype(&cublasSetStream) set_stream = nullptr;
  decltype(&cublasSetWorkspace) set_workspace = nullptr;
  decltype(&cublasDgemmStridedBatched) multiply_f64 = nullptr;
  decltype(&cublasSgemmStridedBatched) multiply_f32 = nullptr;
  decltype(&cublasGetStatusName) status_name = nullptr;
  decltype(&cublasGetStatusString) status_string = nullptr;
};

// Loaded by the first call. Throws Error{device} where it cannot be.
const CublasLibrary& cublas();

// The same from one file or soname; it stays loaded.
CublasLibrary load_cublas(const std::string& file);

}  // namespace holdfast
