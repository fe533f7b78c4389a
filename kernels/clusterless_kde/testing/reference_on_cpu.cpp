// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/testing/reference_on_cpu.hpp"

#include <utility>

#include "arrays/device_verbs.hpp"
#include "arrays/testing/arrays_on_cpu.hpp"
#include "clusterless_kde/problem/formulas.hpp"
#include "clusterless_kde/reference/reference_verbs.hpp"
#include "runtime/emulation/emulation_shim.hpp"

#define SUM_COLUMNS holdfast::arrays::sum_columns
#define SUM_ROWS holdfast::arrays::sum_rows
namespace on_cpu {
#include "clusterless_kde/reference/reference.cu"
}

namespace holdfast::clusterless_kde {
namespace {

template <class T>
void add_all(EmulatedKernels& kernels) {
  CLUSTERLESS_KDE_VERBS(HOLDFAST_EMULATED, HOLDFAST_EMULATED)
}

}  // namespace

std::unique_ptr<Backend> emulated_reference(Emulation emulation) {
  EmulatedKernels kernels;
  arrays::add_kernels(kernels);
  add_all<float>(kernels);
  add_all<double>(kernels);
  return make_emulated_backend(std::move(kernels), emulation);
}

}  // namespace holdfast::clusterless_kde
