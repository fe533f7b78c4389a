// SPDX-License-Identifier: Apache-2.0
// HOLDFAST_BOTH: of a function that g++ and NVRTC both compile, and that host and device both call.
#pragma once

#ifdef __CUDACC__
#define HOLDFAST_BOTH __host__ __device__
#else
#define HOLDFAST_BOTH
#endif
