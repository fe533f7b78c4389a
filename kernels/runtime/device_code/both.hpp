// SPDX-License-Identifier: Apache-2.0
// HOLDFAST_BOTH marks functions that g++ and NVRTC both compile, for host and device.
#pragma once

#ifdef __CUDACC__
#define HOLDFAST_BOTH __host__ __device__
#else
#define HOLDFAST_BOTH
#endif
