// SPDX-License-Identifier: Apache-2.0
// The reference variant on the host: each step of the eager program is a loop over memory that
// threads share, or one matrix product. What `speedup` divides by.
#include "clusterless_kde/reference/eager_reference.hpp"
#include "clusterless_kde/reference/host_verbs.hpp"
#include "clusterless_kde/variants.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {

std::unique_ptr<Computation> make_host_reference(Backend& backend, Problem problem) {
  if (precision_of(problem.options.arithmetic) == Precision::f32)
    return std::make_unique<EagerReference<HostVerbs<float>>>(backend, std::move(problem));
  return std::make_unique<EagerReference<HostVerbs<double>>>(backend, std::move(problem));
}

}  // namespace holdfast::clusterless_kde::HOLDFAST_ISA
