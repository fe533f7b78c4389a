// SPDX-License-Identifier: Apache-2.0
// A real GPU, through the CUDA runtime, cuBLAS and cuFFT.
#pragma once

#include <memory>

#include "runtime/device/device.hpp"

namespace holdfast {

// Throws Error{no_device}, with the driver's reason and a remedy, if there is no such GPU.
std::unique_ptr<Device> make_cuda_device(Ledger& ledger, int ordinal);

}  // namespace holdfast
