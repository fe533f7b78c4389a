// SPDX-License-Identifier: Apache-2.0
// The reference variant on a device: each step of the eager program is one kernel of reference.cu,
// or one call of the library. An encode is (E + 1) (1 + ceil(P / block) (4 + 2 d)) + 4 E launches,
// a decode 1 + sum over electrodes of 7 + 2 d + ceil(m / block) (11 + 2 D).
#include <cstdint>
#include <memory>
#include <utility>

#include "arrays/device_verbs.hpp"
#include "clusterless_kde/reference/eager_reference.hpp"
#include "clusterless_kde/reference/reference_verbs.hpp"
#include "clusterless_kde/sources.hpp"
#include "clusterless_kde/variants.hpp"
#include "runtime/sources.hpp"

namespace holdfast::clusterless_kde {
namespace {

using arrays::Plane;

// For n encoding and w decoding spikes, a thread per decoding spike and place: `count` places from
// `first`.
struct Joint {
  using Extents = void(long long n, int w, int bins, int first, int count);
  static LaunchShape launch(std::int64_t, std::int64_t w, std::int64_t, std::int64_t,
                            std::int64_t count) {
    return Plane::launch(w, count);
  }
};

template <class T>
Program program() {
  Program all = arrays::program<T>(sources::reference_cu);
  all.headers.insert(all.headers.end(), {runtime::sources::both_hpp, sources::formulas_hpp,
                                         sources::reference_verbs_hpp});
  all.entries.insert(all.entries.end(), {CLUSTERLESS_KDE_VERBS(HOLDFAST_ENTRY, HOLDFAST_ENTRY)});
  return all;
}

template <class T>
struct DeviceVerbs : arrays::DeviceVerbs<T> {
  DeviceVerbs(Backend& backend, bool multiplies)
      : arrays::DeviceVerbs<T>(backend, multiplies, program<T>()) {}

  CLUSTERLESS_KDE_VERBS(HOLDFAST_LAUNCHED, HOLDFAST_LAUNCHED)
};

}  // namespace

std::unique_ptr<Computation> make_cuda_reference(Backend& backend, Problem problem) {
  if (precision_of(problem.options.arithmetic) == Precision::f32)
    return std::make_unique<EagerReference<DeviceVerbs<float>>>(backend, std::move(problem));
  return std::make_unique<EagerReference<DeviceVerbs<double>>>(backend, std::move(problem));
}

}  // namespace holdfast::clusterless_kde
