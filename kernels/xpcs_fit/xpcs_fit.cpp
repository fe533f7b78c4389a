// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/xpcs_fit.hpp"

#include "host/isa.hpp"
#include "runtime/base/error.hpp"
#include "xpcs_fit/variants.hpp"

namespace holdfast::xpcs_fit {

std::unique_ptr<Computation> make(Unit unit, Backend& backend, Variant variant,
                                  const Problem& problem) {
  validate(problem);
  const bool optimized = variant == Variant::optimized;
#ifdef HOLDFAST_CUDA
  if (backend.device)
    return (optimized ? make_cuda_optimized : make_cuda_reference)(unit, backend, problem);
#endif
  const auto make =
      optimized ? host::choose_isa(isa_v3::make_host_optimized, isa_v4::make_host_optimized)
                : host::choose_isa(isa_v3::make_host_reference, isa_v4::make_host_reference);
  return make(unit, backend, problem);
}

}  // namespace holdfast::xpcs_fit
