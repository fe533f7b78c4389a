// SPDX-License-Identifier: Apache-2.0
// Private: the kernels of calibration.cu as a list, all from one program.
#pragma once

#include <string_view>

#include "calibration/sources.hpp"
#include "runtime/compile/kernel_list.hpp"
#include "runtime/sources.hpp"

namespace holdfast::calibration {

// A kernel of either precision.
template <template <class> class Of>
struct OfBoth : Of<float>, Of<double> {
  OfBoth(KernelList& list, std::string_view name)
      : Of<float>(list, entry<float>(name)), Of<double>(list, entry<double>(name)) {}
  template <class T>
  const Of<T>& of() const {
    return *this;
  }
};
template <class T>
using MultiplyAddKernel = Listed<T*, int, T, T>;
template <class T>
using ExponentialsKernel = Listed<T*, int>;

struct Kernels : KernelList {
  Kernels() = default;
  explicit Kernels(Compiler& compiler) {
    compile(compiler,
            {.code = sources::calibration_cu,
             .headers = {runtime::sources::both_hpp, sources::formulas_hpp,
                         runtime::sources::grid_barrier_cuh, runtime::sources::tensor_core_cuh}});
  }

  Listed<unsigned*, int> fill{*this, "fill"};
  Listed<const unsigned*, int, unsigned*> count_right{*this, "count_right", KernelKind::reduce};
  Listed<const unsigned*, unsigned*, int, int> copy{*this, "copy", KernelKind::copy};
  Listed<const unsigned*, unsigned*, int, int> read{*this, "read", KernelKind::reduce};
  OfBoth<MultiplyAddKernel> multiply_add{*this, "multiply_add"};
  Listed<float*, int> bf16_products{*this, "bf16_products", KernelKind::gemm};
  OfBoth<ExponentialsKernel> exponentials{*this, "exponentials"};
  Listed<unsigned*> tick{*this, "tick"};
  Listed<unsigned*, unsigned*, unsigned*, unsigned, int> rounds{*this, "rounds", KernelKind::loop};
};

}  // namespace holdfast::calibration
