// SPDX-License-Identifier: Apache-2.0
// Private to the workload: the factories of its implementations. `make` validates first and chooses
// one of these.
#pragma once

#include <memory>

#include "computation.hpp"
#include "gpt_train/newton_schulz.hpp"
#include "gpt_train/problem/problem.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast::gpt_train {

using VariantFactory = std::unique_ptr<Computation>(Backend& backend, Problem problem);
using MatricesFactory = std::unique_ptr<Computation>(Backend& backend, const Matrices& what);

// backend.device is not null.
VariantFactory make_cuda_reference, make_cuda_optimized;
MatricesFactory make_cuda_plain_matrices, make_cuda_matrices;

// backend.device is null. The same sources, compiled once for each instruction set.
namespace isa_v3 {
VariantFactory make_host_reference, make_host_optimized;
MatricesFactory make_host_plain_matrices, make_host_matrices;
}  // namespace isa_v3
namespace isa_v4 {
VariantFactory make_host_reference, make_host_optimized;
MatricesFactory make_host_plain_matrices, make_host_matrices;
}  // namespace isa_v4

}  // namespace holdfast::gpt_train
