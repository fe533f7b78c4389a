// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/xpcs_fit.hpp"

#include "host/isa.hpp"
#include "runtime/base/error.hpp"
#include "xpcs_fit/variants.hpp"

namespace holdfast::xpcs_fit {
namespace {

void check_unit(Unit unit, const Options& options) {
  const bool plain = options.loss == Loss::linear && options.weights == Weights::unit;
  if (unit == Unit::residual && !plain)
    throw Error(Fault::bad_input,
                "invalid_option: a residual is model less data; its loss is linear, and it has no "
                "weights");
}

}  // namespace

std::unique_ptr<Computation> make(Unit unit, Backend& backend, Variant variant,
                                  const Problem& problem) {
  validate(problem);
  check_unit(unit, problem.options);
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
