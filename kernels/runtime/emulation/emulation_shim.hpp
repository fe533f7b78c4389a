// SPDX-License-Identifier: Apache-2.0
// Makes g++ read a .cu file, so that a test can run its kernels on the emulated device. Include it
// after every other header, then the .cu inside a namespace of the test:
//   #include "runtime/emulation/emulation_shim.hpp"
//   namespace on_cpu {
//   HOLDFAST_EMULATED_SHARED(double, tile);  // for each `extern __shared__ double tile[];`
//   #include "saxpy/device/optimized.cu"
//   }
#pragma once

#include <math.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <span>
#include <thread>

#include "runtime/base/error.hpp"
#include "runtime/emulation/emulation.hpp"

#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"

// NOLINTBEGIN(bugprone-reserved-identifier): these names are CUDA's.
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __grid_constant__
#define __align__(bytes) alignas(bytes)
// Static shared memory of a block: blocks that are alive at the same time run on different threads
// of the CPU. The tag is for static_shared.hpp.
#define __shared__ __attribute__((abi_tag("block_shared"))) thread_local
#define HOLDFAST_EMULATED_SHARED(type, name)                                  \
  alignas(128) __shared__ type name[(std::size_t{227} << 10) / sizeof(type)]; \
  inline const bool name##_is_watched = holdfast::emulation::watch(           \
      [] { return std::span(reinterpret_cast<unsigned char*>(name), sizeof(name)); })

using holdfast::emulation::blockDim;
using holdfast::emulation::blockIdx;
using holdfast::emulation::gridDim;
using holdfast::emulation::threadIdx;
inline constexpr int warpSize = 32;

inline void __syncthreads(std::source_location where = std::source_location::current()) {
  holdfast::emulation::block_barrier(where);
}
inline void __syncwarp(unsigned mask = 0xffffffffu,
                       std::source_location where = std::source_location::current()) {
  holdfast::emulation::warp_barrier(mask, where);
}
inline void __threadfence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
inline void __nanosleep(unsigned) {
  std::this_thread::yield();
}
[[noreturn]] inline void __trap() {
  throw holdfast::Error(holdfast::Fault::device, "a kernel reached __trap()");
}

// Every lane of `mask` passes its value and gets that of lane `from`, or its own if `mask` lacks
// `from`.
template <class T>
T holdfast_emulated_exchange(unsigned mask, T value, unsigned from, std::source_location where) {
  static_assert(sizeof(T) <= 8);
  std::uint64_t* slots = holdfast::emulation::exchange_slots(mask);
  std::memcpy(slots + holdfast::emulation::lane_index(), &value, sizeof(T));
  holdfast::emulation::warp_barrier(mask, where);
  if (from < 32 && (mask >> from & 1)) std::memcpy(&value, slots + from, sizeof(T));
  if (mask != holdfast::emulation::whole_warp) holdfast::emulation::warp_barrier(mask, where);
  return value;
}
template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32,
              std::source_location where = std::source_location::current()) {
  const unsigned base = holdfast::emulation::lane_index() / width * width;
  return holdfast_emulated_exchange(mask, value, base + lane % width, where);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                   std::source_location where = std::source_location::current()) {
  const unsigned lane = holdfast::emulation::lane_index();
  const bool inside = lane % width + delta < static_cast<unsigned>(width);
  return holdfast_emulated_exchange(mask, value, inside ? lane + delta : lane, where);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32,
                  std::source_location where = std::source_location::current()) {
  const unsigned lane = holdfast::emulation::lane_index();
  const unsigned other = lane ^ static_cast<unsigned>(lanes);
  const bool inside = other / width == lane / width;
  return holdfast_emulated_exchange(mask, value, inside ? other : lane, where);
}
inline unsigned __ballot_sync(unsigned mask, int predicate,
                              std::source_location where = std::source_location::current()) {
  std::uint64_t* slots = holdfast::emulation::exchange_slots(mask);
  std::memcpy(slots + holdfast::emulation::lane_index(), &predicate, sizeof predicate);
  holdfast::emulation::warp_barrier(mask, where);
  unsigned votes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1)) continue;
    int its = 0;
    std::memcpy(&its, slots + lane, sizeof its);
    votes |= unsigned{its != 0} << lane;
  }
  if (mask != holdfast::emulation::whole_warp) holdfast::emulation::warp_barrier(mask, where);
  return votes;
}

inline int __popc(unsigned bits) {
  return std::popcount(bits);
}

template <class T>
T atomicAdd(T* address, T value) {
  return std::atomic_ref<T>(*address).fetch_add(value);
}

// CUDA declares these at global scope.
template <class T>
constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
constexpr T max(T a, T b) {
  return a < b ? b : a;
}
inline double rsqrt(double x) {
  return 1 / sqrt(x);
}
inline float rsqrtf(float x) {
  return 1 / sqrtf(x);
}
inline float rsqrt(float x) {
  return rsqrtf(x);
}
// Sine and cosine of pi x; the reduction by whole turns is exact.
inline void sincospi(double x, double* sine, double* cosine) {
  const double rest = 3.14159265358979323846 * (x - 2 * rint(x / 2));
  *sine = sin(rest);
  *cosine = cos(rest);
}
inline void sincospif(float x, float* sine, float* cosine) {
  const double rest = 3.14159265358979323846 * (x - 2 * rint(x / 2.));
  *sine = static_cast<float>(sin(rest));
  *cosine = static_cast<float>(cos(rest));
}
inline float __fdividef(float x, float y) {
  return x / y;
}
inline float __expf(float x) {
  return expf(x);
}
inline float __logf(float x) {
  return logf(x);
}
inline float __int_as_float(int x) {
  return std::bit_cast<float>(x);
}
// NOLINTEND(bugprone-reserved-identifier)

#define HOLDFAST_EMULATED_VECTORS(T)            \
  struct alignas(2 * sizeof(T)) T##2 {          \
    T x, y;                                     \
  };                                            \
  struct alignas(16) T##4 {                     \
    T x, y, z, w;                               \
  };                                            \
  inline T##2 make_##T##2(T x, T y) {           \
    return {x, y};                              \
  }                                             \
  inline T##4 make_##T##4(T x, T y, T z, T w) { \
    return {x, y, z, w};                        \
  }
HOLDFAST_EMULATED_VECTORS(int)
using uint = unsigned;
HOLDFAST_EMULATED_VECTORS(uint)
HOLDFAST_EMULATED_VECTORS(float)
HOLDFAST_EMULATED_VECTORS(double)
#undef HOLDFAST_EMULATED_VECTORS
