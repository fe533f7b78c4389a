// SPDX-License-Identifier: Apache-2.0
// Private to streams on a device: their additional kernels, as a list.
#pragma once

#include "xpcs_fit/device/kernels.hpp"

namespace holdfast::xpcs_fit {

struct StreamKernels : KernelList {
  StreamKernels() = default;
  explicit StreamKernels(Compiler& compiler) {
    compile(compiler, {.code = sources::stream_cu, .headers = {}});
  }

  Listed<const double*, int, int, double*> add_batch{*this, "add_batch", KernelKind::reduce};
};

}  // namespace holdfast::xpcs_fit
