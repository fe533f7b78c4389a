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

// backend.device is not null. The reference takes Algorithm::linear, log_sum_exp and matmul.
std::unique_ptr<Computation> make_cuda_reference(Backend& backend, Problem problem);
std::unique_ptr<Computation> make_cuda_optimized(Backend& backend, Problem problem);
std::int64_t cuda_estimate_bytes(const Shape& shape, const Plan& plan);

// backend.device is null. The same sources, compiled once for each instruction set.
namespace isa_v3 {
std::unique_ptr<Computation> make_host_reference(Backend& backend, Problem problem);
std::unique_ptr<Computation> make_host_optimized(Backend& backend, Problem problem);
}  // namespace isa_v3
namespace isa_v4 {
std::unique_ptr<Computation> make_host_reference(Backend& backend, Problem problem);
std::unique_ptr<Computation> make_host_optimized(Backend& backend, Problem problem);
}  // namespace isa_v4
std::int64_t host_estimate_bytes(const Shape& shape, const Plan& plan);

}  // namespace holdfast::clusterless_kde
