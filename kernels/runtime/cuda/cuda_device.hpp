// SPDX-License-Identifier: Apache-2.0
// A real GPU, through the CUDA runtime, cuBLAS and cuFFT.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/device/device.hpp"

namespace holdfast {

// Throws Error{no_device}, with a remedy, for a GPU older than what the suites run on.
void refuse_old_gpu(int ordinal, std::string_view name, int sm);

// Throws Error{no_device}, with the driver's reason and a remedy, if there is no such GPU, and as
// refuse_old_gpu() does.
std::unique_ptr<Device> make_cuda_device(Ledger& ledger, int ordinal);

}  // namespace holdfast
