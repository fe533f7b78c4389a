// SPDX-License-Identifier: Apache-2.0
// Private to the workload: the factories of the implementations. The make_* check first and choose
// one of these.
#pragma once

#include <cstdint>
#include <memory>

#include "clusterless_kde/problem/preparation.hpp"
#include "clusterless_kde/problem/problem.hpp"
#include "computation.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast::clusterless_kde {

using VariantFactory = std::unique_ptr<Computation>(Backend& backend, Problem problem);

// Require backend.device. The reference supports Algorithm::linear, log_sum_exp and matmul.
VariantFactory make_cuda_reference, make_cuda_optimized;
std::int64_t cuda_estimate_bytes(const Shape& shape, const Plan& plan);

// backend.device is null. The same sources, compiled once for each instruction set.
namespace isa_v3 {
VariantFactory make_host_reference, make_host_optimized;
}
namespace isa_v4 {
VariantFactory make_host_reference, make_host_optimized;
}
std::int64_t host_estimate_bytes(const Shape& shape, const Plan& plan);

}  // namespace holdfast::clusterless_kde
