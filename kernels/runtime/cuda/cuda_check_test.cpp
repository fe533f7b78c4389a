// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cuda_check.hpp"

#include "testing/error_of.hpp"

namespace holdfast {
namespace {

template <class Status>
Fault fault_of(Status status) {
  return error_of([&] { check(status, "work"); }).fault();
}

// A suite continues after the one, and ends after the other.
TEST(CudaCheck, ALackOfMemoryIsToldApartFromAFailureOfTheDevice) {
  EXPECT_EQ(fault_of(cudaErrorMemoryAllocation), Fault::out_of_memory);
  EXPECT_EQ(fault_of(cudaErrorIllegalAddress), Fault::device);
  EXPECT_EQ(fault_of(CUFFT_ALLOC_FAILED), Fault::out_of_memory);
  EXPECT_EQ(fault_of(CUFFT_EXEC_FAILED), Fault::device);
}

TEST(CudaCheck, AProductWithoutAnAlgorithmIsNoFailureOfTheDevice) {
  EXPECT_TRUE(lacks_algorithm(CUBLAS_STATUS_NOT_SUPPORTED, 0));
  EXPECT_TRUE(lacks_algorithm(CUBLAS_STATUS_SUCCESS, 0));
  EXPECT_FALSE(lacks_algorithm(CUBLAS_STATUS_SUCCESS, 1));
  EXPECT_FALSE(lacks_algorithm(CUBLAS_STATUS_EXECUTION_FAILED, 0));
}

}  // namespace
}  // namespace holdfast
