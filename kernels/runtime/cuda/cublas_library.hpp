// SPDX-License-Identifier: Apache-2.0
// The cuBLAS functions that we call, loaded at first use: loading costs 0.1 s of CPU time, four
// fifths of a process's startup, and most processes never multiply on a GPU.
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

// Loaded at the first call. Throws Error{device} if that fails.
const CublasLibrary& cublas();

// Loads one file or soname, which stays loaded.
CublasLibrary load_cublas(const std::string& file);

}  // namespace holdfast
