// SPDX-License-Identifier: Apache-2.0
// A kernel of a real workload made worse in a copy of its source, which HOLDFAST_SOURCES puts in
// place of the built-in one: no build, no GPU, and the gate notices.
#include <gtest/gtest.h>

#include <regex>
#include <string_view>

#include "planted/gate.hpp"

namespace holdfast::planted {
namespace {

// Clock readings that stay needed to the end of the kernel: two registers each that nothing can
// spare.
constexpr const char* where_it_begins = "void project(T* h, const int* neighbours, int n) {\n";
constexpr const char* what_is_planted =
    "  long long planted[16];\n"
    "#pragma unroll\n"
    "  for (int k = 0; k < 16; ++k) planted[k] = clock64();\n"
    "  struct Keep {\n"
    "    const long long* values;\n"
    "    T* out;\n"
    "    __device__ ~Keep() {\n"
    "#pragma unroll\n"
    "      for (int k = 0; k < 16; ++k)\n"
    "        if (values[k] == clock64()) out[k] = T(0);\n"
    "    }\n"
    "  } keep{planted, h};\n";

std::string with_plant(std::string source) {
  const std::string_view begin = where_it_begins;
  const auto at = source.find(begin);
  EXPECT_NE(at, source.npos) << "optimized.cu no longer has the line after which the test plants";
  return source.insert(at == source.npos ? 0 : at + begin.size(), what_is_planted);
}

TEST(PlantedDeviceCode, AKernelThatNeedsSixteenMoreRegistersFailsTheBuild) {
  const auto folder = fresh_folder("planted_device_code");
  const Gate gate("cubed_sphere_swe", "cuda-dry:sm_90", folder);
  expect_well(gate.measure("HOLDFAST_SOURCES=", "unplanted"));
  expect_well(gate.accept("unplanted"));

  const auto sources = folder / "sources" / "cubed_sphere_swe";
  std::filesystem::create_directories(sources);
  std::ofstream(sources / "optimized.cu")
      << with_plant(read(HOLDFAST_KERNELS "/cubed_sphere_swe/device/optimized.cu"));
  expect_well(gate.measure("HOLDFAST_SOURCES=" + (folder / "sources").string(), "planted"));

  const Said said = gate.check("planted");
  EXPECT_EQ(said.exit, 1) << said.words;
  const std::regex sentence(
      "REGRESSION +cubed_sphere_swe/project/n:48/f64 +cuda-dry-sm_90 +optimized[^\\n]*\\n"
      " +registers_max +rose from ([0-9]+) to ([0-9]+)");
  std::smatch numbers;
  ASSERT_TRUE(std::regex_search(said.words, numbers, sentence)) << said.words;
  EXPECT_GE(std::stoi(numbers[2]), std::stoi(numbers[1]) + 16);
}

}  // namespace
}  // namespace holdfast::planted
