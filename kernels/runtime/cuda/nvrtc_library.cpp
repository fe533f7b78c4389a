// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/nvrtc_library.hpp"

#include <cuda_runtime_api.h>

#include "runtime/cuda/shared_library.hpp"

namespace holdfast {
namespace {

NvrtcLibrary load_nvrtc() {
  const SharedLibrary from("NVRTC", text("libnvrtc.so.", CUDART_VERSION / 1000));
  NvrtcLibrary library;
  from.find(library.create_program, "nvrtcCreateProgram");
  from.find(library.destroy_program, "nvrtcDestroyProgram");
  from.find(library.add_name, "nvrtcAddNameExpression");
  from.find(library.compile, "nvrtcCompileProgram");
  from.find(library.lowered_name, "nvrtcGetLoweredName");
  from.find(library.ptx_size, "nvrtcGetPTXSize");
  from.find(library.ptx, "nvrtcGetPTX");
  from.find(library.log_size, "nvrtcGetProgramLogSize");
  from.find(library.log, "nvrtcGetProgramLog");
  from.find(library.error_string, "nvrtcGetErrorString");
  return library;
}

}  // namespace

const NvrtcLibrary& nvrtc() {
  static const NvrtcLibrary library = load_nvrtc();
  return library;
}

}  // namespace holdfast
