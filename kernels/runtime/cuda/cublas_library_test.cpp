// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cublas_library.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include "runtime/base/error.hpp"
#include "runtime/cuda/cuda_check.hpp"
#include "testing/error_of.hpp"

namespace holdfast {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

bool is_loaded() {
  const auto soname = text("libcublas.so.", CUBLAS_VER_MAJOR);
  void* handle = dlopen(soname.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle) dlclose(handle);
  return handle != nullptr;
}

// A single test, because a loaded library stays loaded.
TEST(CublasLibrary, IsLoadedByTheFirstCallAndNotBefore) {
  ASSERT_FALSE(is_loaded());
  EXPECT_STREQ(cublas().status_name(CUBLAS_STATUS_ALLOC_FAILED), "CUBLAS_STATUS_ALLOC_FAILED");
  EXPECT_TRUE(is_loaded());
}

TEST(CublasLibrary, AFailureIsToldByItsName) {
  EXPECT_THAT([] { check(CUBLAS_STATUS_ALLOC_FAILED, "multiply"); },
              ThrowsMessage<Error>(HasSubstr("failed to multiply: CUBLAS_STATUS_ALLOC_FAILED (")));
}

TEST(CublasLibrary, ALackOfMemoryIsToldApartFromAFailureOfTheDevice) {
  const auto fault_of = [](cublasStatus_t status) {
    return error_of([&] { check(status, "multiply"); }).fault();
  };
  EXPECT_EQ(fault_of(CUBLAS_STATUS_ALLOC_FAILED), Fault::out_of_memory);
  EXPECT_EQ(fault_of(CUBLAS_STATUS_EXECUTION_FAILED), Fault::device);
}

TEST(CublasLibrary, AnAbsentFileIsToldWithWhatToDo) {
  EXPECT_THAT([] { (void)load_cublas("libcublas_of_nobody.so"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("failed to load cuBLAS: libcublas_of_nobody.so"),
                                         HasSubstr("LD_LIBRARY_PATH"))));
}

TEST(CublasLibrary, AnotherLibraryIsRefusedByTheFunctionItLacks) {
  EXPECT_THAT([] { (void)load_cublas("libc.so.6"); },
              ThrowsMessage<Error>(HasSubstr("libc.so.6 has no cublasCreate_v2")));
}

}  // namespace
}  // namespace holdfast
