// SPDX-License-Identifier: Apache-2.0
// The precision of the loops over samples, from the PTX of copies of the device code with labels
// around these loops. Phases are reduced and threads' sums added up in double outside of them.
#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <string>
#include <string_view>

#include "galaxy_shear/device/optimized_kernels.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast::galaxy_shear {
namespace {

void put(std::string& source, std::string_view where, const std::string& instead) {
  const auto at = source.find(where);
  ASSERT_NE(at, source.npos) << "stamp.cuh no longer has: " << where;
  source.replace(at, where.size(), instead);
}
void label(std::string& source, std::string_view first, std::string_view last) {
  put(source, first, "asm volatile(\"// samples from\");\n" + std::string(first));
  put(source, last, std::string(last) + "\nasm volatile(\"// samples to\");\n");
}

// The files of the device code, concatenated in the order in which they include each other.
std::string stamp() {
  return std::string(sources::stamp_cuh.text) + std::string(sources::derive_cuh.text) +
         std::string(sources::rows_cuh.text);
}

// The code with labels around every loop over samples or pixels.
std::string labelled() {
  std::string source = stamp();
  label(source, "#pragma unroll\n    for (int k = 0; k < 8; ++k) each(k, swapped(sample(",
        "if (lane == 0) each(4, swapped(sample(c, half)));");
  label(source, "const Complex<T> first = sample(0, side);",
        "sum = sum + first + Complex<T>{-last.im, last.re};");
  label(source, "#pragma unroll\n    for (int k = 0; k < 8; ++k) {\n      const int j = lane",
        "v[k] = {upper, lower};\n    }");
  label(source, "#pragma unroll\n      for (int k = 0; k < 8; ++k) accumulate(part, c,",
        "accumulate(part, c, lane + k * lanes - (k < 4 ? 0 : n), v[k]);");
  label(source, "accumulate(part, c, r, residual);", "accumulate(part, c, r, residual);");
  return source;
}

struct Arithmetic {
  int loops = 0, singles = 0, doubles = 0;
};

// The arithmetic of the fit in f32 between its labels.
Arithmetic arithmetic_of(const std::string& stamp) {
  const Scene scene;
  Program program = stamp_program(scene);
  for (Source& header : program.headers)
    if (header.name == sources::stamp_cuh.name)
      header.text = stamp;
    else if (header.name == sources::derive_cuh.name || header.name == sources::rows_cuh.name)
      header.text = "";
  program.entries = {specialised<float>("fit", scene)};
  const auto backend = open_backend("cuda-dry:sm_90");
  std::istringstream ptx(backend->compiler->compile(program).compiled().ptx);
  const std::regex single(R"(^\s*(@\S+\s+)?(add|sub|mul|fma|rsqrt)\.\S*f32)"),
      any_double(R"(\.f64)");
  Arithmetic found;
  bool inside = false;
  for (std::string line; std::getline(ptx, line);) {
    if (line.find("// samples from") != line.npos) inside = true, ++found.loops;
    if (line.find("// samples to") != line.npos) inside = false;
    if (!inside) continue;
    found.singles += std::regex_search(line, single);
    found.doubles += std::regex_search(line, any_double);
  }
  return found;
}

TEST(DryGalaxyShear, LoopsOverSamplesOfAFitInSinglePrecisionKnowNoDouble) {
  const Arithmetic found = arithmetic_of(labelled());
  EXPECT_GE(found.loops, 5);
  EXPECT_GT(found.singles, 8 * 40) << "eight samples of a column and their derivatives";
  EXPECT_EQ(found.doubles, 0);
}

TEST(DryGalaxyShear, ADoubleAmongTheSamplesWouldBeCounted) {
  std::string source = labelled();
  put(source, "const T a = profile(c, r), square = a * a, cube = a * square;",
      "const T a = T(double(profile(c, r)) * 1.1), square = a * a, cube = a * square;");
  EXPECT_GT(arithmetic_of(source).doubles, 0);
}

}  // namespace
}  // namespace holdfast::galaxy_shear
