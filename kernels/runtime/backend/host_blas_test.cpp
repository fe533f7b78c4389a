// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/host_blas.hpp"

#include <cblas.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "runtime/backend/backend.hpp"

namespace holdfast {
namespace {

// Every supported processor has AVX2, for which OpenBLAS has kernels.
TEST(BlasKernels, AreNotThoseOfSseOnAProcessorThatTheLibraryDoesNotKnow) {
  if (std::getenv("OPENBLAS_CORETYPE")) GTEST_SKIP() << "somebody chose the kernels";
  (void)open_backend("host");
  EXPECT_STRNE(openblas_get_corename(), "Prescott");
  const double ones[] = {1, 1, 1};
  EXPECT_EQ(cblas_ddot(3, ones, 1, ones, 1), 3);
}

}  // namespace
}  // namespace holdfast
