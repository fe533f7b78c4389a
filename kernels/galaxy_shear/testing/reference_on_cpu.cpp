// SPDX-License-Identifier: Apache-2.0
#include "arrays/testing/arrays_on_cpu.hpp"
#include "galaxy_shear/reference/device_verbs.hpp"
#include "galaxy_shear/testing/kernels_on_cpu.hpp"
#include "runtime/emulation/emulation_shim.hpp"

#define SUM_COLUMNS holdfast::arrays::sum_columns
#define SUM_ROWS holdfast::arrays::sum_rows
#define SUM_THREADS holdfast::galaxy_shear::sum_threads
namespace holdfast::galaxy_shear {
namespace on_cpu {
#include "galaxy_shear/reference/reference.cu"
}
namespace {

template <class T>
void add_all(EmulatedKernels& kernels) {
  GALAXY_SHEAR_VERBS(HOLDFAST_EMULATED, HOLDFAST_EMULATED)
}

}  // namespace

void add_reference(EmulatedKernels& kernels) {
  add_all<float>(kernels);
  add_all<double>(kernels);
}

}  // namespace holdfast::galaxy_shear
