// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cuda_device.hpp"

#include <gtest/gtest.h>

#include "testing/error_of.hpp"

namespace holdfast {
namespace {

TEST(OldGpu, IsNoDeviceOfTheSuites) {
  EXPECT_EQ(refusal_of([] { refuse_old_gpu(0, "Tesla T4", 75); }, Fault::no_device),
            "GPU 0 (Tesla T4) is of sm_75, and the suites need sm_80 or later; use cuda-dry:sm_90");
  EXPECT_NO_THROW(refuse_old_gpu(1, "NVIDIA A100", 80));
}

}  // namespace
}  // namespace holdfast
