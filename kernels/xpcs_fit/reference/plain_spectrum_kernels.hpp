// SPDX-License-Identifier: Apache-2.0
// Private to the device benchmark: the kernels of its reference, as a list.
#pragma once

#include "runtime/compile/kernel_list.hpp"
#include "xpcs_fit/sources.hpp"

namespace holdfast::xpcs_fit {

struct PlainSpectrumKernels : KernelList {
  PlainSpectrumKernels() = default;
  explicit PlainSpectrumKernels(Compiler& compiler) {
    compile(compiler, {.code = sources::plain_spectrum_cu});
  }

  Listed<const double*, long long, double*> widen{*this, "widen"};
  Listed<const double*, long long, double*> squares{*this, "squares"};
};

}  // namespace holdfast::xpcs_fit
