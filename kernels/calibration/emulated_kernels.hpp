// SPDX-License-Identifier: Apache-2.0
// For tests: the device code of the calibrations, compiled by g++ for the emulated device. Include
// it after every other header.
#pragma once

#include "calibration/formulas.hpp"
#include "runtime/emulation/emulated_device.hpp"

#include "runtime/emulation/emulation_shim.hpp"

#include "runtime/device_code/grid_barrier.cuh"
#include "runtime/device_code/tensor_core.cuh"

namespace holdfast::calibration::on_cpu {
#include "calibration/calibration.cu"
}

namespace holdfast::calibration {

inline EmulatedKernels emulated_kernels() {
  EmulatedKernels kernels;
  kernels.add("fill", &on_cpu::fill);
  kernels.add("count_right", &on_cpu::count_right);
  kernels.add("copy", &on_cpu::copy);
  kernels.add("read", &on_cpu::read);
  kernels.add("multiply_add<float>", &on_cpu::multiply_add<float>);
  kernels.add("multiply_add<double>", &on_cpu::multiply_add<double>);
  kernels.add("bf16_products", &on_cpu::bf16_products);
  kernels.add("exponentials<float>", &on_cpu::exponentials<float>);
  kernels.add("exponentials<double>", &on_cpu::exponentials<double>);
  kernels.add("tick", &on_cpu::tick);
  kernels.add("rounds", &on_cpu::rounds);
  return kernels;
}

}  // namespace holdfast::calibration
