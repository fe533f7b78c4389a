// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/nvjitlink_library.hpp"

#include <cuda_runtime_api.h>

#include "runtime/cuda/shared_library.hpp"

namespace holdfast {
namespace {

// The header's functions are inline and call one that is named after the version.
NvJitLinkLibrary load_nvjitlink() {
  const SharedLibrary from("nvJitLink", text("libnvJitLink.so.", CUDART_VERSION / 1000));
  NvJitLinkLibrary library;
  from.find(library.create, "nvJitLinkCreate");
  from.find(library.destroy, "nvJitLinkDestroy");
  from.find(library.add_data, "nvJitLinkAddData");
  from.find(library.complete, "nvJitLinkComplete");
  from.find(library.cubin_size, "nvJitLinkGetLinkedCubinSize");
  from.find(library.cubin, "nvJitLinkGetLinkedCubin");
  from.find(library.error_log_size, "nvJitLinkGetErrorLogSize");
  from.find(library.error_log, "nvJitLinkGetErrorLog");
  from.find(library.info_log_size, "nvJitLinkGetInfoLogSize");
  from.find(library.info_log, "nvJitLinkGetInfoLog");
  return library;
}

}  // namespace

const NvJitLinkLibrary& nvjitlink() {
  static const NvJitLinkLibrary library = load_nvjitlink();
  return library;
}

}  // namespace holdfast
