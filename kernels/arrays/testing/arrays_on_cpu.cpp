// SPDX-License-Identifier: Apache-2.0
#include "arrays/testing/arrays_on_cpu.hpp"

#include "arrays/device_verbs.hpp"
#include "arrays/verbs.hpp"
#include "runtime/emulation/emulation_shim.hpp"

#define SUM_COLUMNS holdfast::arrays::sum_columns
#define SUM_ROWS holdfast::arrays::sum_rows
namespace holdfast::arrays {
namespace on_cpu {
#include "arrays/arrays.cu"
}
namespace {

template <class T>
void add_all(EmulatedKernels& kernels) {
  HOLDFAST_ARRAY_VERBS(HOLDFAST_EMULATED, HOLDFAST_EMULATED)
}

}  // namespace

void add_kernels(EmulatedKernels& kernels) {
  add_all<float>(kernels);
  add_all<double>(kernels);
}

}  // namespace holdfast::arrays
