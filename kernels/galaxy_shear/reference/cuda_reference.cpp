// SPDX-License-Identifier: Apache-2.0
// The reference variant on a device: each operation is one kernel of reference.cu, each transform
// one call of the library. A step of a fit is 35 kernels and two calls.
#include <memory>
#include <utility>

#include "galaxy_shear/reference/device_verbs.hpp"
#include "galaxy_shear/reference/eager.hpp"
#include "galaxy_shear/variants.hpp"

namespace holdfast::galaxy_shear {

std::unique_ptr<Computation> make_cuda_reference(Backend& backend, Problem problem) {
  return make_eager<DeviceVerbs>(backend, std::move(problem));
}

}  // namespace holdfast::galaxy_shear
