// SPDX-License-Identifier: Apache-2.0
// A barrier for all blocks of a cooperative launch, for device code that runs several phases in one
// kernel. Host code only allocates its word. Includes nothing, because device code has no standard
// headers; a test that compiles device code with g++ includes this after emulation_shim.hpp.
#pragma once

namespace holdfast {

// `word`: one 32-bit word of global memory, zero before the first launch; every completed barrier
// leaves it ready for the next one, in this launch or a later one. Its low bits count arrivals, its
// top bit is the generation: the arrivals of a round add up to 2^31, so the last one flips that bit
// and clears the count. Everything that any thread wrote before the barrier is visible to all
// threads after it. All threads of all blocks must call it.
__device__ inline void grid_barrier(unsigned* word) {
  constexpr unsigned generation = 0x80000000u;
  __syncthreads();
  if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0) {
    const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
    const bool first_block = (blockIdx.x | blockIdx.y | blockIdx.z) == 0;
    __threadfence();  // makes this block's writes visible before its arrival
    const unsigned before = atomicAdd(word, first_block ? generation - (blocks - 1) : 1u);
    while (((*static_cast<volatile unsigned*>(word) ^ before) & generation) == 0) __nanosleep(20);
    __threadfence();  // makes the others' writes visible after theirs
  }
  __syncthreads();
}

}  // namespace holdfast
