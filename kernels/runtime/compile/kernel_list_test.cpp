// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/kernel_list.hpp"

#include <gmock/gmock.h>

#include <optional>
#include <vector>

#include "runtime/backend/buffer.hpp"
#include "runtime/emulation/emulated_device.hpp"
#include "runtime/emulation/emulation_shim.hpp"

// The kernels once for g++ and once, as text, for NVRTC.
#define TWICE(...) \
  __VA_ARGS__      \
  inline constexpr char device_code[] = #__VA_ARGS__;

namespace on_cpu {

TWICE(
    template <class T> __global__ void scale(const T* x, T* y, T factor, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) y[i] = factor * x[i];
    }

    template <class T>
    __global__ void clear(T* x) { x[threadIdx.x] = 0; })

}  // namespace on_cpu

namespace holdfast {
namespace {

constexpr int n = 70;

template <class T>
struct Kernels : KernelList {
  Kernels() = default;
  explicit Kernels(Compiler& compiler) {
    compile(compiler, {.code = {"test/kernel_list.cu", on_cpu::device_code}});
  }

  Listed<T*> clear{*this, entry<T>("clear"), KernelKind::scatter};
  Listed<const T*, T*, T, int> scale{*this, entry<T>("scale")};
};

std::unique_ptr<Backend> emulated() {
  EmulatedKernels kernels;
  kernels.add(Kernels<float>().scale, &on_cpu::scale<float>);
  return make_emulated_backend(std::move(kernels));
}

TEST(KernelList, RowsAreTheEntriesOfTheProgramInTheirOrder) {
  const auto backend = open_backend("cuda-dry:sm_90");
  const Kernels<double> kernels(*backend->compiler);
  const auto& functions = backend->compiler->programs().front()->functions;
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0].expression, "clear<double>");
  EXPECT_EQ(functions[0].kind, KernelKind::scatter);
  EXPECT_EQ(functions[1].expression, "scale<double>");
  EXPECT_EQ(functions[1].kind, KernelKind::fused);
}

TEST(KernelList, ARowIsCallableOnceItsListIsCompiled) {
  EXPECT_THROW(Kernels<float>().scale.function(), std::bad_optional_access);
  const auto backend = emulated();
  const Kernels<float> kernels(*backend->compiler);
  const Buffer<float> x(*backend, std::vector<float>(n, 2), "x"), y(*backend, n, "y");
  kernels.scale({.grid = {3}, .block = {32}}, x.data(), y.data(), 3, n);
  EXPECT_EQ(y.to_host(), std::vector<float>(n, 6));
  EXPECT_EQ(kernels.scale.function().launches, 1);
}

TEST(KernelList, ARowWithOtherArgumentsThanTheKernelsIsRefused) {
  struct Wrong : KernelList {
    Listed<float*, int> clear{*this, "clear<float>"};
  };
  const auto backend = open_backend("cuda-dry:sm_90");
  EXPECT_THAT(
      [&] {
        Wrong().compile(*backend->compiler, {.code = {"x.cu", on_cpu::device_code}});
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("takes (float*), the host passes")));
}

}  // namespace
}  // namespace holdfast
