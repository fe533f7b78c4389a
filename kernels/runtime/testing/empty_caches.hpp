// SPDX-License-Identifier: Apache-2.0
// For tests of compilation: each starts with empty caches, as a new machine would.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/testing/variable.hpp"
#include "runtime/backend/backend.hpp"
#include "runtime/base/error.hpp"
#include "runtime/compile/program_cache.hpp"

namespace holdfast {

class EmptyCaches : public testing::Test {
 protected:
  using Path = std::filesystem::path;

  EmptyCaches() { forget_cached_programs(); }
  // The other tests of this binary keep the cache of the build.
  ~EmptyCaches() override { forget_cached_programs(); }

  const Path& folder() const { return folder_.path(); }
  Path cache() const { return folder() / "cache"; }
  std::vector<Path> entries() const {
    return {std::filesystem::directory_iterator(cache()), std::filesystem::directory_iterator()};
  }
  static std::unique_ptr<Backend> fresh() { return open_backend("cuda-dry:sm_90"); }

  static void write(const Path& file, std::string_view contents) {
    create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << contents;
  }

  static constexpr Source scale{
      "test/scale.cu",
      "template <class T> __global__ void scale(const T* x, T* y, int n) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = FACTOR * x[i];\n"
      "}\n"};
  static Program scaled_by(int factor) {
    return {.code = scale, .definitions = {text("FACTOR=", factor)}, .entries = {"scale<float>"}};
  }

 private:
  const NewFolder folder_{testing::TempDir() + "holdfast_compiler_"};
  const Variable cache_dir_{"HOLDFAST_CACHE_DIR", cache()}, sources_{"HOLDFAST_SOURCES"};
};

}  // namespace holdfast
