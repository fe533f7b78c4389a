// SPDX-License-Identifier: Apache-2.0
// Private to the device's optimized patterns: their kernels as a list.
#pragma once

#include "xpcs_fit/device/kernels.hpp"

namespace holdfast::xpcs_fit {

struct PatternKernels : KernelList {
  explicit PatternKernels(const Options& options)
      : costs(*this, specialised<double>("costs", options)),
        flat_model(*this, specialised<double>("flat_model", options)) {}
  PatternKernels(Compiler& compiler, const Options& options) : PatternKernels(options) {
    compile(compiler, {.code = sources::patterns_cu, .headers = point_headers()});
  }

  Listed<Grid, Points<double>, int, const double*, const AngleRow<double>*, double*> costs;
  Listed<Grid, long long, long long, const double*, const AngleRow<double>*, double*> flat_model;
  Listed<const double*, double, int, long long, double*> relax{*this, "relax<double>"};
};

}  // namespace holdfast::xpcs_fit
