// SPDX-License-Identifier: Apache-2.0
// The reference variant on a device: each operation is one kernel of reference.cu, each transform
// one call of the library. A step of a fit is 35 kernels and two calls.
#include <cstdint>

#include "galaxy_shear/reference/device_verbs.hpp"
#include "galaxy_shear/reference/eager_reference.hpp"
#include "galaxy_shear/reference/eager_table.hpp"
#include "galaxy_shear/variants.hpp"

namespace holdfast::galaxy_shear {

std::unique_ptr<Computation> make_cuda_reference(Backend& backend, Problem problem) {
  const bool single = problem.precision == Precision::f32;
  if (problem.unit == Unit::psf_table) {
    if (single)
      return std::make_unique<EagerTable<DeviceVerbs<float>>>(backend, std::move(problem));
    return std::make_unique<EagerTable<DeviceVerbs<double>>>(backend, std::move(problem));
  }
  if (single)
    return std::make_unique<EagerReference<DeviceVerbs<float>>>(backend, std::move(problem));
  return std::make_unique<EagerReference<DeviceVerbs<double>>>(backend, std::move(problem));
}

}  // namespace holdfast::galaxy_shear
