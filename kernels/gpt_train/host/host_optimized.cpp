// SPDX-License-Identifier: Apache-2.0
// The optimized variant on the host. Against the reference: q, k, v and up, gate are one product
// each; attention is tiled, its shares never lie in memory, and hidden pairs are left out, also in
// the tiles on the diagonal (predicted: 3 tenths of the products of 128 positions; measured in lock
// step on GenuineIntel-6-167: 25 % of the backward and 20 % of the forward pass without AVX-512, 11
// and 7 % with it); a layer keeps the results of products, and only norms are recomputed; logits
// exist 128 rows at a time and become their gradient in place; an update is one pass; Newton-Schulz
// takes matrices of one shape in batches that fit in the caches, with three products a step.
#include "gpt_train/host/fused.hpp"
#include "gpt_train/host/matrices.hpp"
#include "gpt_train/stepped/steps.hpp"
#include "gpt_train/variants.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

std::unique_ptr<Computation> make_host_optimized(Backend& backend, Problem problem) {
  if (problem.options.precision == Precision::f32)
    return std::make_unique<Steps<Fused<float>>>(backend, std::move(problem));
  return std::make_unique<Steps<Fused<double>>>(backend, std::move(problem));
}

std::unique_ptr<Computation> make_host_matrices(Backend& backend, const Matrices& what) {
  if (what.precision == Precision::f32)
    return std::make_unique<FusedMatrices<float>>(backend, what);
  return std::make_unique<FusedMatrices<double>>(backend, what);
}

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
