// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cublaslt_library.hpp"

#include <gmock/gmock.h>

#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(CublasLtLibrary, DescribesAMatrixWithoutADevice) {
  cublasLtMatrixLayout_t layout = nullptr;
  ASSERT_EQ(cublaslt().create_layout(&layout, CUDA_R_16BF, 8, 16, 8), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublaslt().destroy_layout(layout), CUBLAS_STATUS_SUCCESS);
}

TEST(CublasLtLibrary, AnotherLibraryIsRefusedByTheFunctionItLacks) {
  EXPECT_THAT(
      [] { (void)load_cublaslt("libc.so.6"); },
      ThrowsMessage<Error>(HasSubstr("failed to load cuBLASLt: libc.so.6 has no cublasLtCreate")));
}

}  // namespace
}  // namespace holdfast
