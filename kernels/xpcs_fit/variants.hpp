// SPDX-License-Identifier: Apache-2.0
// Private to the workload: the factories of the implementations. make() checks first and chooses
// one of these.
#pragma once

#include <memory>

#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit {

using VariantFactory = std::unique_ptr<Computation>(Unit unit, Backend& backend,
                                                    const Problem& problem);

// backend.device is not null.
VariantFactory make_cuda_reference, make_cuda_optimized, make_cuda_fit;

// backend.device is null. The same sources, compiled once for each instruction set.
namespace isa_v3 {
VariantFactory make_host_reference, make_host_optimized;
}
namespace isa_v4 {
VariantFactory make_host_reference, make_host_optimized;
}

}  // namespace holdfast::xpcs_fit
