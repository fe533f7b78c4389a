// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cublas_library.hpp"

#include <dlfcn.h>

#include <type_traits>

#include "runtime/base/error.hpp"

// The header calls some functions by names that have a version in them.
#define HOLDFAST_NAME(function) HOLDFAST_WORD(function)
#define HOLDFAST_WORD(word) #word

namespace holdfast {

CublasLibrary load_cublas(const std::string& file) {
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    throw Error(Fault::device, text("failed to load cuBLAS: ", dlerror(),
                                    "; put its folder into LD_LIBRARY_PATH"));
  CublasLibrary library;
  const auto find = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, symbol));
    if (!function)
      throw Error(Fault::device, text("failed to load cuBLAS: ", file, " has no ", symbol,
                                      "; install the version that this build was configured with"));
  };
  find(library.create, HOLDFAST_NAME(cublasCreate));
  find(library.destroy, HOLDFAST_NAME(cublasDestroy));
  find(library.set_stream, HOLDFAST_NAME(cublasSetStream));
  find(library.set_workspace, HOLDFAST_NAME(cublasSetWorkspace));
  find(library.multiply_f64, HOLDFAST_NAME(cublasDgemmStridedBatched));
  find(library.multiply_f32, HOLDFAST_NAME(cublasSgemmStridedBatched));
  find(library.status_name, HOLDFAST_NAME(cublasGetStatusName));
  find(library.status_string, HOLDFAST_NAME(cublasGetStatusString));
  return library;
}

const CublasLibrary& cublas() {
  static const CublasLibrary library = load_cublas(text("libcublas.so.", CUBLAS_VER_MAJOR));
  return library;
}

}  // namespace holdfast
