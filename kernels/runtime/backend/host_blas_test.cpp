// SPDX-License-Identifier: Apache-2.0
#include "runtime/backend/host_blas.hpp"

#include <cblas.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "base/testing/variable.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast {
namespace {

// Every supported processor has AVX2, for which OpenBLAS has kernels.
TEST(BlasKernels, AreNotThoseOfSseOnAProcessorThatTheLibraryDoesNotKnow) {
  (void)open_backend("host");
  EXPECT_STRNE(openblas_get_corename(), "Prescott");
  const double ones[] = {1, 1, 1};
  EXPECT_EQ(cblas_ddot(3, ones, 1, ones, 1), 3);
}

TEST(BlasKernels, AreNotChosenByTheEnvironmentOfARun) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own, which reads it at start
  const Variable chosen("OPENBLAS_CORETYPE", "Prescott");
  EXPECT_EXIT(
      {
        (void)open_backend("host");
        std::_Exit(openblas_get_corename() == std::string_view("Prescott"));
      },
      testing::ExitedWithCode(0), "OPENBLAS_CORETYPE=Prescott is ignored");
}

}  // namespace
}  // namespace holdfast
