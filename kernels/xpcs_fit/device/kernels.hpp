// SPDX-License-Identifier: Apache-2.0
// Private to the device's optimized variant: its programs, one list of kernels each. Sizes, physics
// and bounds are arguments; only another form of a fit is another program.
#pragma once

#include <string>
#include <vector>

#include "runtime/compile/kernel_list.hpp"
#include "runtime/sources.hpp"
#include "xpcs_fit/device/arguments.hpp"
#include "xpcs_fit/problem/problem.hpp"
#include "xpcs_fit/sources.hpp"

namespace holdfast::xpcs_fit {

template <class T>
std::string real_name() {
  return sizeof(T) == 4 ? "float" : "double";
}
inline int laminar(const Options& options) {
  return options.mode == Mode::laminar ? 1 : 0;
}
// The name of a kernel's instance for a number type and a mode.
template <class T>
std::string specialised(const std::string& kernel, const Options& options) {
  return text(kernel, "<", real_name<T>(), ", ", laminar(options), ">");
}
// The bits that pass.cu defines.
inline int weighting(const Options& options) {
  return (options.weights == Weights::array ? 1 : 0) + (options.loss == Loss::soft_l1 ? 2 : 0);
}

// Integrals over the frames, sums of partial sums and the step, for every form.
struct CommonKernels : KernelList {
  CommonKernels() = default;
  explicit CommonKernels(Compiler& compiler) {
    compile(compiler, {.code = sources::common_cu,
                       .headers = {runtime::sources::both_hpp, sources::arguments_hpp,
                                   sources::formulas_hpp, sources::solver_hpp, sources::step_cuh}});
  }

  template <class T>
  using Prefix = Listed<Grid, const double*, int, const double*, double*, T*, AngleRow<T>*>;
  template <class T>
  const Prefix<T>& prefix() const {
    if constexpr (sizeof(T) == 4)
      return prefix32;
    else
      return prefix64;
  }

  Prefix<double> prefix64{*this, "prefix<double>"};
  Prefix<float> prefix32{*this, "prefix<float>"};
  Listed<const double*, int, int, double*> reduce{*this, "reduce", KernelKind::reduce};
  Listed<double*, const double*, const double*, int, double, int, double*> step{*this, "step"};
};

// The headers of programs with points.
inline std::vector<Source> point_headers() {
  return {runtime::sources::both_hpp, sources::arguments_hpp, sources::formulas_hpp,
          sources::points_cuh};
}

template <class T>
struct ValueKernels : KernelList {
  explicit ValueKernels(const Options& options)
      : model_values(*this, specialised<T>("model_values", options)),
        residuals(*this, specialised<T>("residuals", options)) {}
  ValueKernels(Compiler& compiler, const Options& options) : ValueKernels(options) {
    compile(compiler, {.code = sources::values_cu, .headers = point_headers()});
  }

  Listed<Grid, Points<T>, const T*, const AngleRow<T>*, T*> model_values;
  Listed<Grid, Points<T>, const T*, const AngleRow<T>*, T*, double*> residuals;
};

template <class T>
struct PassKernels : KernelList {
  explicit PassKernels(const Options& options)
      : pass(*this,
             text("pass<", real_name<T>(), ", ", laminar(options), ", ", weighting(options), ">")) {
  }
  PassKernels(Compiler& compiler, const Options& options) : PassKernels(options) {
    compile(compiler, {.code = sources::pass_cu, .headers = point_headers()});
  }

  Listed<Grid, Points<T>, int, double, const T*, const AngleRow<T>*, double*> pass;
};

// The same sums over points of the flat order.
template <class T>
struct FlatPassKernels : KernelList {
  explicit FlatPassKernels(const Options& options)
      : flat_pass(*this, specialised<T>("flat_pass", options)) {}
  FlatPassKernels(Compiler& compiler, const Options& options) : FlatPassKernels(options) {
    compile(compiler, {.code = sources::pass_cu, .headers = point_headers()});
  }

  Listed<Grid, long long, long long, const T*, const T*, const AngleRow<T>*, double*> flat_pass;
};

}  // namespace holdfast::xpcs_fit
