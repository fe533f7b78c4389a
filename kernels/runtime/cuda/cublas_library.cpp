// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cublas_library.hpp"

#include "runtime/cuda/shared_library.hpp"

// Expands function names, because the header defines some as macros with a version suffix.
#define HOLDFAST_NAME(function) HOLDFAST_WORD(function)
#define HOLDFAST_WORD(word) #word

namespace holdfast {

CublasLibrary load_cublas(const std::string& file) {
  const SharedLibrary from("cuBLAS", file);
  CublasLibrary library;
  from.find(library.create, HOLDFAST_NAME(cublasCreate));
  from.find(library.destroy, HOLDFAST_NAME(cublasDestroy));
  from.find(library.set_stream, HOLDFAST_NAME(cublasSetStream));
  from.find(library.set_workspace, HOLDFAST_NAME(cublasSetWorkspace));
  from.find(library.multiply_f64, HOLDFAST_NAME(cublasDgemmStridedBatched));
  from.find(library.multiply_f32, HOLDFAST_NAME(cublasSgemmStridedBatched));
  from.find(library.status_name, HOLDFAST_NAME(cublasGetStatusName));
  from.find(library.status_string, HOLDFAST_NAME(cublasGetStatusString));
  return library;
}

const CublasLibrary& cublas() {
  static const CublasLibrary library = load_cublas(text("libcublas.so.", CUBLAS_VER_MAJOR));
  return library;
}

}  // namespace holdfast
