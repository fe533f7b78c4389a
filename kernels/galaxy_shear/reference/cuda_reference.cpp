// SPDX-License-Identifier: Apache-2.0
// The reference variant on a device: each operation is one kernel of reference.cu, each transform
// one call of the library. A step of a fit is 35 kernels and two calls.
#include <cstdint>
#include <memory>
#include <utility>

#include "galaxy_shear/reference/device_verbs.hpp"
#include "galaxy_shear/reference/eager_reference.hpp"
#include "galaxy_shear/reference/eager_scene.hpp"
#include "galaxy_shear/reference/eager_table.hpp"
#include "galaxy_shear/variants.hpp"

namespace holdfast::galaxy_shear {

namespace {

template <class T>
std::unique_ptr<Computation> eager(Backend& backend, Problem problem) {
  using Verbs = DeviceVerbs<T>;
  if (problem.unit == Unit::psf_table)
    return std::make_unique<EagerTable<Verbs>>(backend, std::move(problem));
  if (problem.unit == Unit::scene_step)
    return std::make_unique<EagerScene<Verbs>>(backend, std::move(problem));
  return std::make_unique<EagerReference<Verbs>>(backend, std::move(problem));
}

}  // namespace

std::unique_ptr<Computation> make_cuda_reference(Backend& backend, Problem problem) {
  return problem.precision == Precision::f32 ? eager<float>(backend, std::move(problem))
                                             : eager<double>(backend, std::move(problem));
}

}  // namespace holdfast::galaxy_shear
