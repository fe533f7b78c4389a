// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cufft_library.hpp"

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(CufftLibrary, HasEveryFunctionThatWeCall) {
  EXPECT_NO_THROW((void)cufft());
}

}  // namespace
}  // namespace holdfast
