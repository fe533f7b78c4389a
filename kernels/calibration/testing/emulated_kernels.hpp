// SPDX-License-Identifier: Apache-2.0
// For tests: the device code of the calibrations, compiled by g++ for the emulated device. Include
// it after every other header.
#pragma once

#include "calibration/formulas.hpp"
#include "calibration/kernels.hpp"
#include "runtime/emulation/emulated_device.hpp"

#include "runtime/emulation/emulation_shim.hpp"

#include "runtime/device_code/grid_barrier.cuh"
#include "runtime/device_code/tensor_core.cuh"

namespace holdfast::calibration::on_cpu {
#include "calibration/calibration.cu"
}

namespace holdfast::calibration {

inline EmulatedKernels emulated_kernels() {
  const Kernels listed;
  EmulatedKernels kernels;
  kernels.add(listed.fill, &on_cpu::fill);
  kernels.add(listed.count_right, &on_cpu::count_right);
  kernels.add(listed.copy, &on_cpu::copy);
  kernels.add(listed.read, &on_cpu::read);
  kernels.add(listed.multiply_add.of<float>(), &on_cpu::multiply_add<float>);
  kernels.add(listed.multiply_add.of<double>(), &on_cpu::multiply_add<double>);
  kernels.add(listed.bf16_products, &on_cpu::bf16_products);
  kernels.add(listed.exponentials.of<float>(), &on_cpu::exponentials<float>);
  kernels.add(listed.exponentials.of<double>(), &on_cpu::exponentials<double>);
  kernels.add(listed.tick, &on_cpu::tick);
  kernels.add(listed.rounds, &on_cpu::rounds);
  return kernels;
}

}  // namespace holdfast::calibration
