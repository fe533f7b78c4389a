// SPDX-License-Identifier: Apache-2.0
// The reference variant on the host, which `speedup` compares with. It is unfused, but not slowed
// down: the same library makes its products, the same threads share its loops, and all memory is
// held.
#include "gpt_train/reference/plain.hpp"
#include "gpt_train/reference/plain_matrices.hpp"
#include "gpt_train/stepped/steps.hpp"
#include "gpt_train/variants.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

std::unique_ptr<Computation> make_host_reference(Backend& backend, Problem problem) {
  if (problem.options.precision == Precision::f32)
    return std::make_unique<Steps<Plain<float>>>(backend, std::move(problem));
  return std::make_unique<Steps<Plain<double>>>(backend, std::move(problem));
}

std::unique_ptr<Computation> make_host_plain_matrices(Backend& backend, const Matrices& what) {
  if (what.precision == Precision::f32)
    return std::make_unique<PlainMatrices<float>>(backend, what);
  return std::make_unique<PlainMatrices<double>>(backend, what);
}

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
