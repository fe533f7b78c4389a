// SPDX-License-Identifier: Apache-2.0
// The nvJitLink functions that we call, loaded at first use like those of NVRTC.
#pragma once

#include <nvJitLink.h>

namespace holdfast {

struct NvJitLinkLibrary {
  decltype(&nvJitLinkCreate) create = nullptr;
  decltype(&nvJitLinkDestroy) destroy = nullptr;
  decltype(&nvJitLinkAddData) add_data = nullptr;
  decltype(&nvJitLinkComplete) complete = nullptr;
  decltype(&nvJitLinkGetLinkedCubinSize) cubin_size = nullptr;
  decltype(&nvJitLinkGetLinkedCubin) cubin = nullptr;
  decltype(&nvJitLinkGetErrorLogSize) error_log_size = nullptr;
  decltype(&nvJitLinkGetErrorLog) error_log = nullptr;
  decltype(&nvJitLinkGetInfoLogSize) info_log_size = nullptr;
  decltype(&nvJitLinkGetInfoLog) info_log = nullptr;
};

// Loaded at the first call. Throws Error{device} if that fails.
const NvJitLinkLibrary& nvjitlink();

}  // namespace holdfast
