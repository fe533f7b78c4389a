// SPDX-License-Identifier: Apache-2.0
// Private to the device benchmark: the kernels of its optimized variant, as a list.
#pragma once

#include "xpcs_fit/device/kernels.hpp"

namespace holdfast::xpcs_fit {

struct SpectrumKernels : KernelList {
  SpectrumKernels() = default;
  explicit SpectrumKernels(Compiler& compiler) {
    compile(compiler, {.code = sources::spectrum_cu, .headers = point_headers()});
  }

  Listed<const double*, int, double*> weighted_power{*this, "weighted_power", KernelKind::reduce};
  Listed<const double*, int, double*> total{*this, "total", KernelKind::reduce};
};

}  // namespace holdfast::xpcs_fit
