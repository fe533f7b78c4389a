// SPDX-License-Identifier: Apache-2.0
#include "clusterless_kde/testing/reference_on_cpu.hpp"

#include <utility>

#include "clusterless_kde/problem/formulas.hpp"
#include "clusterless_kde/reference/reference_kernels.hpp"
#include "runtime/emulation/emulation_shim.hpp"

#define SUM_COLUMNS holdfast::clusterless_kde::sum_columns
#define SUM_ROWS holdfast::clusterless_kde::sum_rows
namespace on_cpu {
#include "clusterless_kde/reference/reference.cu"
}

namespace holdfast::clusterless_kde {
namespace {

template <class T>
void add_all(EmulatedKernels& kernels) {
  const auto add = [&](const char* name, auto kernel) {
    kernels.add(reference_entry<T>(name), kernel);
  };
  add("fill", &on_cpu::fill<T>);
  add("pdf", &on_cpu::pdf<T>);
  add("log_pdf", &on_cpu::log_pdf<T>);
  add("add", &on_cpu::add<T>);
  add("subtract", &on_cpu::subtract<T>);
  add("multiply", &on_cpu::multiply<T>);
  add("exponential", &on_cpu::exponential<T>);
  add("logarithm", &on_cpu::logarithm<T>);
  add("shift", &on_cpu::shift<T>);
  add("scale", &on_cpu::scale<T>);
  add("divide", &on_cpu::divide<T>);
  add("clip", &on_cpu::clip<T>);
  add("masked_ratio", &on_cpu::masked_ratio<T>);
  add("below", &on_cpu::below<T>);
  add("select", &on_cpu::select<T>);
  add("place", &on_cpu::place<T>);
  add("divide_columns", &on_cpu::divide_columns<T>);
  add("subtract_columns", &on_cpu::subtract_columns<T>);
  add("keep_columns", &on_cpu::keep_columns<T>);
  add("negated_rows", &on_cpu::negated_rows<T>);
  add("weighted_sum", &on_cpu::weighted_sum<T>);
  add("log_sum", &on_cpu::log_sum<T>);
  add("row_maximum", &on_cpu::row_maximum<T>);
  add("segment_sum", &on_cpu::segment_sum<T>);
  add("scale_rows", &on_cpu::scale_rows<T>);
  add("square_sum", &on_cpu::square_sum<T>);
  add("expanded", &on_cpu::expanded<T>);
  add("joint_maximum", &on_cpu::joint_maximum<T>);
  add("joint_log_sum", &on_cpu::joint_log_sum<T>);
  add("half_exp", &on_cpu::half_exp<T>);
  add("shifted_exp", &on_cpu::shifted_exp<T>);
  add("shifted_log", &on_cpu::shifted_log<T>);
}

}  // namespace

std::unique_ptr<Backend> emulated_reference(Emulation emulation) {
  EmulatedKernels kernels;
  add_all<float>(kernels);
  add_all<double>(kernels);
  return make_emulated_backend(std::move(kernels), emulation);
}

}  // namespace holdfast::clusterless_kde
