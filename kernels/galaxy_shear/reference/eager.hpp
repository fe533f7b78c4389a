// SPDX-License-Identifier: Apache-2.0
// The reference variant's computation for a problem, over the verbs of a host or of a device.
#pragma once

#include <memory>
#include <utility>

#include "galaxy_shear/reference/eager_reference.hpp"
#include "galaxy_shear/reference/eager_scene.hpp"
#include "galaxy_shear/reference/eager_table.hpp"

namespace holdfast::galaxy_shear {

template <class Verbs>
std::unique_ptr<Computation> eager_with(Backend& backend, Problem problem) {
  if (problem.unit == Unit::psf_table)
    return std::make_unique<EagerTable<Verbs>>(backend, std::move(problem));
  if (problem.unit == Unit::scene_step)
    return std::make_unique<EagerScene<Verbs>>(backend, std::move(problem));
  return std::make_unique<EagerReference<Verbs>>(backend, std::move(problem));
}

template <template <class> class Verbs>
std::unique_ptr<Computation> make_eager(Backend& backend, Problem problem) {
  return problem.precision == Precision::f32
             ? eager_with<Verbs<float>>(backend, std::move(problem))
             : eager_with<Verbs<double>>(backend, std::move(problem));
}

}  // namespace holdfast::galaxy_shear
