// SPDX-License-Identifier: Apache-2.0
// For tests of compilation: each starts with empty caches, as a new machine would.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/backend/backend.hpp"
#include "runtime/base/error.hpp"
#include "runtime/compile/program_cache.hpp"

namespace holdfast {

class EmptyCaches : public testing::Test {
 protected:
  using Path = std::filesystem::path;

  EmptyCaches() {
    create_directories(folder_);
    setenv("HOLDFAST_CACHE_DIR", cache().c_str(), 1);
    unsetenv("HOLDFAST_SOURCES");
    forget_cached_programs();
  }
  // The other tests of this binary keep the cache of the build.
  ~EmptyCaches() override {
    unsetenv("HOLDFAST_SOURCES");
    if (before_.empty())
      unsetenv("HOLDFAST_CACHE_DIR");
    else
      setenv("HOLDFAST_CACHE_DIR", before_.c_str(), 1);
    forget_cached_programs();
    remove_all(folder_);
  }

  Path folder() const { return folder_; }
  Path cache() const { return folder_ / "cache"; }
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
  static std::string cache_outside() {
    const char* set = std::getenv("HOLDFAST_CACHE_DIR");
    return set ? set : "";
  }

  const std::string before_ = cache_outside();
  Path folder_ = Path(testing::TempDir()) / text("holdfast_compiler_", getpid());
};

}  // namespace holdfast
