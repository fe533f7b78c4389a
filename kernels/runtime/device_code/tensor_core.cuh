// SPDX-License-Identifier: Apache-2.0
// Matrix units for device code: a warp's products (sm_80 and later), the roundings of their
// operands, and asynchronous copies. Includes nothing, because device code has no standard headers;
// a test that compiles device code with g++ includes this after emulation_shim.hpp.
#pragma once

namespace holdfast {

// The elements that a lane holds, with g = lane / 4 and t = lane % 4 (PTX, "Matrix Fragments"):
//   bf16 m16n8k16: a[0] row g, a[1] row g + 8, k = 2 t, 2 t + 1; a[2], a[3] the same rows, k + 8;
//                  b[0] column g, k = 2 t, 2 t + 1; b[1] k + 8; the lower k in the low half
//   tf32 m16n8k8:  a[0] row g, a[1] row g + 8, k = t; a[2], a[3] k + 4; b[0] k = t, b[1] k + 4
//   both:          d[0], d[1] row g, columns 2 t, 2 t + 1; d[2], d[3] row g + 8
//   f64 m8n8k4:    a row g, k = t; b column g, k = t; d row g, columns 2 t, 2 t + 1
#ifdef __CUDACC__

// d = a b + c. f32 sums are truncated, not rounded (Fasi, Higham, Mikaitis and Pranesh, PeerJ
// Computer Science 2021): a long sum of positive terms loses half a unit per step. Restart with c =
// 0 every few steps and add up the results outside.
__device__ inline void mma_bf16(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                                const float (&c)[4]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]),
        "f"(c[2]), "f"(c[3]));
}
// Round operands with round_tf32 first: the unit truncates them as well.
__device__ inline void mma_tf32(float (&d)[4], const float (&a)[4], float b0, float b1,
                                const float (&c)[4]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
        "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)), "f"(c[0]),
        "f"(c[1]), "f"(c[2]), "f"(c[3]));
}
// d += a b.
__device__ inline void mma_f64(double (&d)[2], double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(d[0]), "+d"(d[1])
      : "d"(a), "d"(b));
}

// Two bf16, rounded to nearest even; `low` in the low half.
__device__ inline unsigned pack_bf16(float low, float high) {
  unsigned packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}
__device__ inline float bf16_low(unsigned packed) {
  return __uint_as_float(packed << 16);
}
__device__ inline float bf16_high(unsigned packed) {
  return __uint_as_float(packed & 0xffff0000u);
}

// Rounds to the 10 bits of mantissa that a matrix unit reads; ties away from zero.
__device__ inline float round_tf32(float x) {
  unsigned rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
  return __uint_as_float(rounded);
}

// 2^x to 2 ulp by the special-function unit; results below the normal numbers become 0.
__device__ inline float exp2_approximate(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

// Copies sixteen aligned bytes from global to shared memory, bypassing registers. Neither may be
// touched until copies_done() and a barrier.
__device__ inline void copy_async(void* shared, const void* global) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
}
// Groups the copies that this thread has issued since the last call.
__device__ inline void close_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// Waits for all groups of this thread except the newest `newest`.
template <int newest>
__device__ inline void copies_done_but() {
  asm volatile("cp.async.wait_group %0;" ::"n"(newest) : "memory");
}
// Waits for all copies issued by this thread.
__device__ inline void copies_done() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

// Loads four 8 x 8 matrices of bf16 from shared memory. Lane l passes the address of row l % 8 of
// matrix l / 8, 16 bytes aligned to 16, and gets from matrix i row l / 4, columns 2 (l % 4) and the
// next; transposed: column l / 4, rows 2 (l % 4) and the next.
__device__ inline void load_matrices(unsigned (&part)[4], const void* row) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
               : "r"(from)
               : "memory");
}
__device__ inline void load_transposed(unsigned (&part)[4], const void* row) {
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(part[0]), "=r"(part[1]), "=r"(part[2]), "=r"(part[3])
               : "r"(from)
               : "memory");
}

#else  // the same values from g++, on fibers: see emulation_shim.hpp

namespace emulation {

// Fragments that the lanes of each warp share; the block's fibers run on one CPU thread.
struct Fragments {
  unsigned a[4], b[2];
  double wide_a, wide_b;
};
inline thread_local Fragments fragments[32][32];

// Calls form(fragments of the warp, row group g, t) once all lanes have shared theirs.
template <class Form>
void with_fragments(const Fragments& own, const Form& form) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  Fragments(&warp)[32] = fragments[thread / 32];
  warp[thread % 32] = own;
  __syncwarp();
  form(warp, thread % 32 / 4, thread % 4);
  __syncwarp();
}

inline void require_sixteen(const void* address) {
  if (reinterpret_cast<std::uintptr_t>(address) % 16 != 0)
    throw Error(Fault::device, "sixteen bytes are moved that do not begin at a multiple of 16");
}

// Calls form(row of each lane, row group g, t) once all lanes have shared their rows.
template <class Form>
void with_rows(const void* own, const Form& form) {
  require_sixteen(own);
  std::memcpy(warp_slot(lane_index()), &own, sizeof own);
  __syncwarp();
  const auto row_of = [](unsigned lane) {
    const char* row = nullptr;
    std::memcpy(&row, warp_slot(lane), sizeof row);
    return row;
  };
  form(row_of, lane_index() / 4, lane_index() % 4);
  __syncwarp();
}

// One half of a packed pair of bf16.
inline double half_of(unsigned pair, unsigned high) {
  return std::bit_cast<float>(high ? pair & 0xffff0000u : pair << 16);
}

inline float cut_off(double sum) {
  const float rounded = static_cast<float>(sum);
  return std::abs(double{rounded}) > std::abs(sum) ? std::nextafter(rounded, 0.0f) : rounded;
}

}  // namespace emulation

inline void mma_bf16(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                     const float (&c)[4]) {
  const emulation::Fragments own = {{a[0], a[1], a[2], a[3]}, {b0, b1}, 0, 0};
  emulation::with_fragments(
      own, [&](const emulation::Fragments(&warp)[32], unsigned g, unsigned t) {
        for (unsigned i = 0; i < 4; ++i) {
          const unsigned column = 2 * t + i % 2;
          double sum = c[i];
          for (unsigned k = 0; k < 16; ++k) {
            const unsigned holder = k % 8 / 2, half = k / 8;
            sum += emulation::half_of(warp[4 * g + holder].a[2 * half + i / 2], k % 2) *
                   emulation::half_of(warp[4 * column + holder].b[half], k % 2);
          }
          d[i] = emulation::cut_off(sum);
        }
      });
}
inline void mma_tf32(float (&d)[4], const float (&a)[4], float b0, float b1, const float (&c)[4]) {
  const auto cut = [](float x) { return std::bit_cast<unsigned>(x) & 0xffffe000u; };
  const emulation::Fragments own = {
      {cut(a[0]), cut(a[1]), cut(a[2]), cut(a[3])}, {cut(b0), cut(b1)}, 0, 0};
  emulation::with_fragments(
      own, [&](const emulation::Fragments(&warp)[32], unsigned g, unsigned t) {
        for (unsigned i = 0; i < 4; ++i) {
          double sum = c[i];
          for (unsigned k = 0; k < 8; ++k)
            sum += double{std::bit_cast<float>(warp[4 * g + k % 4].a[2 * (k / 4) + i / 2])} *
                   std::bit_cast<float>(warp[4 * (2 * t + i % 2) + k % 4].b[k / 4]);
          d[i] = emulation::cut_off(sum);
        }
      });
}
inline void mma_f64(double (&d)[2], double a, double b) {
  const emulation::Fragments own = {{}, {}, a, b};
  emulation::with_fragments(
      own, [&](const emulation::Fragments(&warp)[32], unsigned g, unsigned t) {
        for (unsigned i = 0; i < 2; ++i)
          for (unsigned k = 0; k < 4; ++k)
            d[i] = std::fma(warp[4 * g + k].wide_a, warp[4 * (2 * t + i) + k].wide_b, d[i]);
      });
}

inline unsigned pack_bf16(float low, float high) {
  const auto rounded = [](float x) {
    const unsigned bits = std::bit_cast<unsigned>(x);
    if (x != x) return 0x7fffu;
    return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  };
  return rounded(low) | rounded(high) << 16;
}
inline float bf16_low(unsigned packed) {
  return std::bit_cast<float>(packed << 16);
}
inline float bf16_high(unsigned packed) {
  return std::bit_cast<float>(packed & 0xffff0000u);
}

inline float round_tf32(float x) {
  return std::bit_cast<float>((std::bit_cast<unsigned>(x) + 0x1000u) & 0xffffe000u);
}

inline float exp2_approximate(float x) {
  const float power = exp2f(x);
  return power < 0x1p-126f ? 0.0f : power;
}

inline void copy_async(void* shared, const void* global) {
  emulation::require_sixteen(shared);
  emulation::require_sixteen(global);
  emulation::copy_behind(shared, global);
}
inline void close_copies() {
  emulation::close_copies();
}
template <int newest>
void copies_done_but() {
  emulation::finish_copies(newest);
}
inline void copies_done() {
  emulation::finish_copies();
}

inline void load_matrices(unsigned (&part)[4], const void* row) {
  emulation::with_rows(row, [&](const auto& row_of, unsigned g, unsigned t) {
    for (unsigned i = 0; i < 4; ++i) std::memcpy(&part[i], row_of(8 * i + g) + 4 * t, 4);
  });
}
inline void load_transposed(unsigned (&part)[4], const void* row) {
  emulation::with_rows(row, [&](const auto& row_of, unsigned g, unsigned t) {
    for (unsigned i = 0; i < 4; ++i)
      for (unsigned half = 0; half < 2; ++half)
        std::memcpy(reinterpret_cast<char*>(&part[i]) + 2 * half,
                    row_of(8 * i + 2 * t + half) + 2 * g, 2);
  });
}

#endif

// x = high + low to 2^-17, two values at a time: operands of three bf16 products instead of an f32
// one.
struct SplitPair {
  unsigned high, low;
};
__device__ inline SplitPair split_pair(float x, float y) {
  const unsigned high = pack_bf16(x, y);
  return {high, pack_bf16(x - bf16_low(high), y - bf16_high(high))};
}

}  // namespace holdfast
