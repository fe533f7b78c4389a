// SPDX-License-Identifier: Apache-2.0
// The NVRTC functions that we call, loaded at first use: valgrind reads the symbols of all that a
// process starts with, and those of NVRTC, nvJitLink and cuFFT cost it 5 s of CPU time, which no
// process that counts instructions on a host needs.
#pragma once

#include <nvrtc.h>

namespace holdfast {

struct NvrtcLibrary {
  decltype(&nvrtcCreateProgram) create_program = nullptr;
  decltype(&nvrtcDestroyProgram) destroy_program = nullptr;
  decltype(&nvrtcAddNameExpression) add_name = nullptr;
  decltype(&nvrtcCompileProgram) compile = nullptr;
  decltype(&nvrtcGetLoweredName) lowered_name = nullptr;
  decltype(&nvrtcGetPTXSize) ptx_size = nullptr;
  decltype(&nvrtcGetPTX) ptx = nullptr;
  decltype(&nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&nvrtcGetProgramLog) log = nullptr;
  decltype(&nvrtcGetErrorString) error_string = nullptr;
};

// Loaded at the first call. Throws Error{device} if that fails.
const NvrtcLibrary& nvrtc();

}  // namespace holdfast
