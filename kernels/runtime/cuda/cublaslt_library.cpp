// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cublaslt_library.hpp"

#include <cublas_v2.h>

#include "runtime/cuda/shared_library.hpp"

namespace holdfast {

CublasLtLibrary load_cublaslt(const std::string& file) {
  const SharedLibrary from("cuBLASLt", file);
  CublasLtLibrary library;
  from.find(library.create, "cublasLtCreate");
  from.find(library.destroy, "cublasLtDestroy");
  from.find(library.create_product, "cublasLtMatmulDescCreate");
  from.find(library.destroy_product, "cublasLtMatmulDescDestroy");
  from.find(library.set_product, "cublasLtMatmulDescSetAttribute");
  from.find(library.create_layout, "cublasLtMatrixLayoutCreate");
  from.find(library.destroy_layout, "cublasLtMatrixLayoutDestroy");
  from.find(library.set_layout, "cublasLtMatrixLayoutSetAttribute");
  from.find(library.create_preference, "cublasLtMatmulPreferenceCreate");
  from.find(library.destroy_preference, "cublasLtMatmulPreferenceDestroy");
  from.find(library.set_preference, "cublasLtMatmulPreferenceSetAttribute");
  from.find(library.choose, "cublasLtMatmulAlgoGetHeuristic");
  from.find(library.multiply, "cublasLtMatmul");
  return library;
}

// cuBLAS is linked against it, so both have the same version.
const CublasLtLibrary& cublaslt() {
  static const CublasLtLibrary library = load_cublaslt(text("libcublasLt.so.", CUBLAS_VER_MAJOR));
  return library;
}

}  // namespace holdfast
