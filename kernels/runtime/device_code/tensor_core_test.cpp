// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/backend/buffer.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/device_code/random.hpp"
#include "runtime/emulation/emulated_device.hpp"
#include "runtime/sources.hpp"
#include "testing/error_of.hpp"

#include "runtime/emulation/emulation_shim.hpp"

#include "runtime/device_code/tensor_core.cuh"

// The kernels once for g++ and once, as text, for NVRTC.
#define TWICE(...)                      \
  __VA_ARGS__                           \
  inline constexpr char device_code[] = \
      "#include \"runtime/device_code/tensor_core.cuh\"\n" #__VA_ARGS__;

namespace matrix_on_cpu {

// d: [16, 8] = a b with a: [16, k] and b: [k, 8] row-major, in one warp. Each warp of bf16_product
// writes a product of its own; odd warps negate a.
TWICE(
    __global__ void bf16_product(const float* a, const float* b, float* d) {
      const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
      const float sign = threadIdx.x / 32 % 2 ? -1.0f : 1.0f;
      unsigned x[4];
      for (int i = 0; i < 4; ++i) {
        const float* from = a + (g + i % 2 * 8) * 16 + 2 * t + i / 2 * 8;
        x[i] = holdfast::pack_bf16(sign * from[0], sign * from[1]);
      }
      unsigned y[2];
      for (int i = 0; i < 2; ++i)
        y[i] = holdfast::pack_bf16(b[(2 * t + 8 * i) * 8 + g], b[(2 * t + 8 * i + 1) * 8 + g]);
      const float zero[4] = {0, 0, 0, 0};
      float sums[4];
      holdfast::mma_bf16(sums, x, y[0], y[1], zero);
      for (int i = 0; i < 4; ++i)
        d[threadIdx.x / 32 * 128 + (g + i / 2 * 8) * 8 + 2 * t + i % 2] = sums[i];
    }

    __global__ void tf32_product(const float* a, const float* b, float* d) {
      const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
      float x[4];
      for (int i = 0; i < 4; ++i)
        x[i] = holdfast::round_tf32(a[(g + i % 2 * 8) * 8 + t + i / 2 * 4]);
      float sums[4] = {1, 1, 1, 1};
      holdfast::mma_tf32(sums, x, holdfast::round_tf32(b[t * 8 + g]),
                         holdfast::round_tf32(b[(t + 4) * 8 + g]), sums);
      for (int i = 0; i < 4; ++i) d[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = sums[i] - 1;
    }

    __global__ void f64_product(const double* a, const double* b, double* d) {
      const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
      double sums[2] = {0, 0};
      holdfast::mma_f64(sums, a[g * 4 + t], b[t * 8 + g]);
      for (int i = 0; i < 2; ++i) d[g * 8 + 2 * t + i] = sums[i];
    }

    // Eight floats per value: x and -x as bf16, twice as split pair, as tf32, 2^x.
    __global__ void conversions(const float* x, float* y) {
      const int i = threadIdx.x;
      const unsigned packed = holdfast::pack_bf16(x[i], -x[i]);
      y[8 * i] = holdfast::bf16_low(packed);
      y[8 * i + 1] = holdfast::bf16_high(packed);
      const holdfast::SplitPair pair = holdfast::split_pair(x[i], x[i]);
      y[8 * i + 2] = holdfast::bf16_low(pair.high) + holdfast::bf16_low(pair.low);
      y[8 * i + 3] = holdfast::bf16_high(pair.high) + holdfast::bf16_high(pair.low);
      y[8 * i + 4] = holdfast::round_tf32(x[i]);
      y[8 * i + 5] = holdfast::exp2_approximate(x[i]);
    }

    // y = x through shared memory, 16 bytes per thread.
    __global__ void copies(const double2* x, double2* y) {
      __shared__ double2 tile[64];
      holdfast::copy_async(tile + threadIdx.x, x + threadIdx.x);
      holdfast::copies_done();
      __syncthreads();
      y[63 - threadIdx.x] = tile[63 - threadIdx.x];
    }

    // y = x chunk by chunk, the next one under way while one is used. 64 threads, two buffers.
    __global__ void stream(const double2* x, double2* y, int chunks) {
      __shared__ double2 tiles[2][64];
      holdfast::copy_async(tiles[0] + threadIdx.x, x + threadIdx.x);
      holdfast::close_copies();
      for (int c = 0; c < chunks; ++c) {
        if (c + 1 < chunks)
          holdfast::copy_async(tiles[(c + 1) % 2] + threadIdx.x, x + 64 * (c + 1) + threadIdx.x);
        holdfast::close_copies();
        holdfast::copies_done_but<1>();
        __syncthreads();
        y[64 * c + 63 - threadIdx.x] = tiles[c % 2][63 - threadIdx.x];
        __syncthreads();
      }
      holdfast::copies_done();
    }

    // The same with one buffer, lacking what `without` says: 1 the wait, 2 the barrier before the
    // copy, 3 the wait at the end.
    __global__ void broken_stream(const double2* x, double2* y, int chunks, int without) {
      __shared__ double2 tile[64];
      for (int c = 0; c < chunks; ++c) {
        holdfast::copy_async(tile + threadIdx.x, x + 64 * c + threadIdx.x);
        holdfast::close_copies();
        if (without == 1)
          holdfast::copies_done_but<1>();
        else if (without != 3 || c + 1 < chunks)
          holdfast::copies_done_but<0>();
        __syncthreads();
        y[64 * c + 63 - threadIdx.x] = tile[63 - threadIdx.x];
        if (without != 2) __syncthreads();
      }
      if (without != 3) holdfast::copies_done();
    }

    // x: [32, 8] bf16 as pairs, four matrices of 8 rows. plain, turned: [4, 32] words, by lane.
    __global__ void matrices(const uint4* x, unsigned* plain, unsigned* turned) {
      __shared__ uint4 rows[32];
      rows[threadIdx.x] = x[threadIdx.x];
      __syncwarp();
      unsigned part[4];
      holdfast::load_matrices(part, rows + threadIdx.x);
      for (int i = 0; i < 4; ++i) plain[32 * i + threadIdx.x] = part[i];
      holdfast::load_transposed(part, rows + threadIdx.x);
      for (int i = 0; i < 4; ++i) turned[32 * i + threadIdx.x] = part[i];
    })

}  // namespace matrix_on_cpu

namespace holdfast {
namespace {

struct TensorCore : testing::Test {
  static std::unique_ptr<Backend> make(emulation::Order order) {
    EmulatedKernels kernels;
    kernels.add("bf16_product", &matrix_on_cpu::bf16_product);
    kernels.add("tf32_product", &matrix_on_cpu::tf32_product);
    kernels.add("f64_product", &matrix_on_cpu::f64_product);
    kernels.add("conversions", &matrix_on_cpu::conversions);
    kernels.add("copies", &matrix_on_cpu::copies);
    kernels.add("stream", &matrix_on_cpu::stream);
    kernels.add("broken_stream", &matrix_on_cpu::broken_stream);
    kernels.add("matrices", &matrix_on_cpu::matrices);
    return make_emulated_backend(std::move(kernels), {.order = order});
  }
  static Module compile(Backend& backend) {
    return backend.compiler->compile(
        {.code = {"test/tensor_core.cu", matrix_on_cpu::device_code},
         .headers = {runtime::sources::tensor_core_cuh},
         .entries = {"bf16_product", "tf32_product", "f64_product", "conversions", "copies",
                     "stream", "broken_stream", "matrices"}});
  }

  template <class T>
  std::vector<T> result(const char* kernel, const std::vector<T>& a, const std::vector<T>& b,
                        std::size_t count, unsigned warps = 1) {
    const Buffer<T> left(*backend_, a, "a"), right(*backend_, b, "b"), out(*backend_, count, "d");
    compile(*backend_).kernel<const T*, const T*, T*>(kernel)(
        {.grid = {1}, .block = {32 * warps}}, left.data(), right.data(), out.data());
    return out.to_host();
  }

  std::unique_ptr<Backend> backend_ = make(emulation::Order::forward);
};

// Integers up to 15: exact in every format, so that a misplaced element shows as a whole number.
template <class T>
std::vector<T> small_integers(std::size_t count, unsigned tag) {
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<T>(std::floor(16 * value(tag, i))));
  return values;
}

// [rows, k] times [k, 8].
template <class T>
std::vector<T> plain_product(const std::vector<T>& a, const std::vector<T>& b, std::size_t k) {
  const std::size_t rows = a.size() / k;
  std::vector<T> d(rows * 8);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < 8; ++j)
      for (std::size_t l = 0; l < k; ++l) d[i * 8 + j] += a[i * k + l] * b[l * 8 + j];
  return d;
}

TEST_F(TensorCore, Bf16FragmentsLieWhereThePlainProductWantsThem) {
  const auto a = small_integers<float>(16 * 16, 1), b = small_integers<float>(16 * 8, 2);
  auto expected = plain_product(a, b, 16);
  const auto both = result("bf16_product", a, b, 256, 2);  // the second warp has the other sign
  for (std::size_t i = 0; i < 128; ++i) expected.push_back(-expected[i]);
  EXPECT_EQ(both, expected);
}

TEST_F(TensorCore, Tf32FragmentsLieWhereThePlainProductWantsThem) {
  const auto a = small_integers<float>(16 * 8, 3), b = small_integers<float>(8 * 8, 4);
  EXPECT_EQ(result("tf32_product", a, b, 128), plain_product(a, b, 8));
}

TEST_F(TensorCore, F64FragmentsLieWhereThePlainProductWantsThem) {
  const auto a = small_integers<double>(8 * 4, 5), b = small_integers<double>(4 * 8, 6);
  EXPECT_EQ(result("f64_product", a, b, 64), plain_product(a, b, 4));
}

TEST_F(TensorCore, SumsAreCutOffAndNotRounded) {
  std::vector<float> a(16 * 8), b(8 * 8);
  a[0] = 0x1p-1f;
  for (std::size_t j = 0; j < 8; ++j) b[j] = 0x1.8p-23f;  // 3/4 of the last place of 1
  EXPECT_EQ(result("tf32_product", a, b, 128)[0], 0);
  a.resize(16 * 16), b.assign(16 * 8, 0x1.8p-23f);
  a[1] = 1;
  for (std::size_t j = 0; j < 8; ++j) b[8 + j] = 1;
  EXPECT_EQ(result("bf16_product", a, b, 128)[0], 1);
}

TEST(Tf32Operands, ThatNobodyRoundedAreCutOff) {
  float sums[4] = {}, zero[4] = {};
  emulation::run_grid("toy", {.block = {32}}, emulation::Order::forward, [&] {
    constexpr float x = 1 + 0x1.8p-11f;  // nearer to 1 + 2^-10, which has the 10 bits of mantissa
    mma_tf32(sums, {x, x, x, x}, x, x, zero);
  });
  EXPECT_THAT(sums, testing::Each(8));
}

TEST_F(TensorCore, TheOrderOfLanesChangesNoBit) {
  std::vector<float> a, b;
  for (unsigned i = 0; i < 256; ++i) a.push_back(static_cast<float>(value(7, i)));
  for (unsigned i = 0; i < 128; ++i) b.push_back(static_cast<float>(value(8, i)));
  const auto forward = result("bf16_product", a, b, 256, 2);
  backend_ = make(emulation::Order::backward);
  EXPECT_EQ(result("bf16_product", a, b, 256, 2), forward);
}

struct Conversions : TensorCore {
  // Row i: the output of `conversions` for x[i].
  std::vector<float> of(std::vector<float> x) {
    x.resize(32);
    const Buffer<float> from(*backend_, x, "x"), to(*backend_, 8 * x.size(), "y");
    compile(*backend_).kernel<const float*, float*>("conversions")({.grid = {1}, .block = {32}},
                                                                   from.data(), to.data());
    return to.to_host();
  }
};

TEST_F(Conversions, Bf16RoundsToNearestAndTiesToEven) {
  const auto y = of({1 + 0x1p-8f, 1 + 3 * 0x1p-8f, 1 + 0x1p-8f + 0x1p-20f, 0x1.fep+3f + 0.5f});
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[8], 1 + 0x1p-6f);
  EXPECT_EQ(y[16], 1 + 0x1p-7f);
  EXPECT_EQ(y[0 + 1], -1);
}

TEST_F(Conversions, ASplitPairKeepsSeventeenBits) {
  std::vector<float> x;
  for (unsigned i = 0; i < 32; ++i)
    x.push_back(std::ldexp(1 + std::abs(static_cast<float>(value(9, i))), -static_cast<int>(i)));
  const auto y = of(x);
  double worst = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(y[8 * i + 2], y[8 * i + 3]);
    worst = std::max(worst, std::abs(double{y[8 * i + 2]} - x[i]) / x[i]);
  }
  EXPECT_LE(worst, 0x1p-17);
  EXPECT_GT(worst, 0x1p-20);  // proves that it was split
}

TEST_F(Conversions, Tf32RoundsToNearestAndTiesAwayFromZero) {
  const auto y = of({1 + 0x1p-11f, -1 - 0x1p-11f, 1 + 0x1p-12f});
  EXPECT_EQ(y[4], 1 + 0x1p-10f);
  EXPECT_EQ(y[12], -1 - 0x1p-10f);
  EXPECT_EQ(y[20], 1);
}

TEST_F(Conversions, PowersOfTwoEndWithTheNormalNumbers) {
  const auto y = of({0, -1, -126, -127, -1e30f});
  EXPECT_EQ(y[5], 1);
  EXPECT_EQ(y[13], 0.5f);
  EXPECT_EQ(y[21], 0x1p-126f);
  EXPECT_EQ(y[29], 0);
  EXPECT_EQ(y[37], 0);
}

TEST_F(TensorCore, CopiesArriveBehindTheBarrier) {
  std::vector<double> x(128);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  const Buffer<double> from(*backend_, x, "x"), to(*backend_, x.size(), "y");
  compile(*backend_).kernel<const double2*, double2*>("copies")(
      {.grid = {1}, .block = {64}}, reinterpret_cast<const double2*>(from.data()),
      reinterpret_cast<double2*>(to.data()));
  EXPECT_EQ(to.to_host(), x);
}

constexpr int chunks = 5;
std::vector<double> counted() {
  std::vector<double> x(128 * chunks);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  return x;
}

class Streams : public testing::TestWithParam<emulation::Order> {
 protected:
  const double2* x() const { return reinterpret_cast<const double2*>(from_.data()); }
  double2* y() const { return reinterpret_cast<double2*>(to_.data()); }
  std::vector<double> without(int what) {
    TensorCore::compile(*backend_).kernel<const double2*, double2*, int, int>("broken_stream")(
        {.grid = {1}, .block = {64}}, x(), y(), chunks, what);
    return to_.to_host();
  }

  std::unique_ptr<Backend> backend_ = TensorCore::make(GetParam());
  Buffer<double> from_{*backend_, counted(), "x"}, to_{*backend_, from_.size(), "y"};
};
INSTANTIATE_TEST_SUITE_P(Both, Streams,
                         testing::Values(emulation::Order::forward, emulation::Order::backward),
                         [](const auto& tested) {
                           return tested.param == emulation::Order::forward ? "late" : "early";
                         });

TEST_P(Streams, BringOneChunkWhileAnotherIsUsed) {
  TensorCore::compile(*backend_).kernel<const double2*, double2*, int>("stream")(
      {.grid = {1}, .block = {64}}, x(), y(), chunks);
  EXPECT_EQ(to_.to_host(), counted());
  EXPECT_EQ(without(0), counted());
}

TEST_P(Streams, ThatLackAWaitAreWrongWhereCopiesAreLate) {
  EXPECT_EQ(without(1) == counted(), GetParam() == emulation::Order::backward);
}

TEST_P(Streams, ThatLackABarrierBeforeTheCopyAreWrong) {
  EXPECT_NE(without(2), counted());
}

TEST(LateCopies, ThatNobodyWaitsForAreAnError) {
  const auto backend = TensorCore::make(emulation::Order::forward);
  const Buffer<double> from(*backend, counted(), "x"), to(*backend, from.size(), "y");
  const auto module = TensorCore::compile(*backend);
  EXPECT_THAT(error_of([&] {
                module.kernel<const double2*, double2*, int, int>("broken_stream")(
                    {.grid = {1}, .block = {64}}, reinterpret_cast<const double2*>(from.data()),
                    reinterpret_cast<double2*>(to.data()), chunks, 3);
                backend->device->synchronize();
              }).what(),
              testing::HasSubstr("ends with copies that it never waited for"));
}

TEST(SixteenBytes, ThatBeginElsewhereAreAnError) {
  alignas(16) char memory[32] = {};
  unsigned part[4];
  const std::function<void()> moves[] = {
      [&] { copy_async(memory + 4, memory); }, [&] { copy_async(memory, memory + 4); },
      [&] { load_matrices(part, memory + 4); }, [&] { load_transposed(part, memory + 4); }};
  for (const auto& move : moves)
    EXPECT_THAT(error_of(move).what(), testing::HasSubstr("not begin at a multiple of 16"));
}

TEST_F(TensorCore, MatricesLieWhereTheirProductsWantThem) {
  std::vector<unsigned> x;  // element [row, column] is 8 row + column
  for (unsigned i = 0; i < 128; ++i) x.push_back(2 * i | (2 * i + 1) << 16);
  const Buffer<unsigned> from(*backend_, x, "x"), plain(*backend_, 128, "plain"),
      turned(*backend_, 128, "turned");
  compile(*backend_).kernel<const uint4*, unsigned*, unsigned*>("matrices")(
      {.grid = {1}, .block = {32}}, reinterpret_cast<const uint4*>(from.data()), plain.data(),
      turned.data());
  const auto straight = plain.to_host(), transposed = turned.to_host();
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned lane = 0; lane < 32; ++lane) {
      const unsigned g = lane / 4, t = lane % 4, first = 64 * i;
      EXPECT_EQ(straight[32 * i + lane], (first + 8 * g + 2 * t) | (first + 8 * g + 2 * t + 1)
                                                                       << 16);
      EXPECT_EQ(transposed[32 * i + lane], (first + 8 * (2 * t) + g) | (first + 8 * (2 * t + 1) + g)
                                                                           << 16);
    }
}

TEST_F(TensorCore, EveryArchitectureWithMatrixUnitsCompilesIt) {
  for (const int sm : {80, 90, 100}) {
    SCOPED_TRACE(sm);
    const auto dry = open_backend(text("cuda-dry:sm_", sm));
    for (const Function& function : compile(*dry).compiled().functions)
      EXPECT_EQ(function.spill_bytes, 0) << function.expression;
  }
}

}  // namespace
}  // namespace holdfast
