// SPDX-License-Identifier: Apache-2.0
// For tests: the kernels of arrays.cu on an emulated device.
#pragma once

#include "runtime/emulation/emulated_device.hpp"

// For a table's rows, whose kernels are in a namespace on_cpu:
// HOLDFAST_ARRAY_VERBS(HOLDFAST_EMULATED, HOLDFAST_EMULATED).
#define HOLDFAST_EMULATED(kind, shape, name, ...) \
  kernels.add(holdfast::arrays::entry<T>(#name), &on_cpu::name<T>);

namespace holdfast::arrays {

void add_kernels(EmulatedKernels& kernels);  // for float and double

}  // namespace holdfast::arrays
