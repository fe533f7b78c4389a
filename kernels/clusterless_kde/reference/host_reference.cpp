// SPDX-License-Identifier: Apache-2.0
// The reference variant on the host: each step of the eager program is a multithreaded loop over
// memory, or one matrix product. The baseline of `speedup`.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "arrays/host_verbs.hpp"
#include "clusterless_kde/reference/eager_reference.hpp"
#include "clusterless_kde/reference/reference_verbs.hpp"
#include "clusterless_kde/variants.hpp"

namespace holdfast::clusterless_kde::HOLDFAST_ISA {

using std::exp;  // for the formulas

template <class T>
struct HostVerbs : arrays::HOLDFAST_ISA::HostVerbs<T> {
  using arrays::HOLDFAST_ISA::HostVerbs<T>::HostVerbs;

  CLUSTERLESS_KDE_VERBS(HOLDFAST_HOST, HOLDFAST_NOTHING)

  void joint_maximum(const T* marks, const T* places, T* out, std::int64_t n, std::int64_t w,
                     std::int64_t bins, std::int64_t first, std::int64_t count) {
    arrays::HOLDFAST_ISA::each_long<T>(w, n * count, [=](std::int64_t j) {
      T* most = out + j * bins + first;
      std::fill_n(most, count, -std::numeric_limits<T>::infinity());
      for (std::int64_t i = 0; i < n; ++i)
#pragma omp simd
        for (std::int64_t p = 0; p < count; ++p)
          most[p] = std::max(most[p], marks[i * w + j] + places[i * bins + first + p]);
    });
  }
  void joint_log_sum(const T* marks, const T* places, const T* most, T* out, std::int64_t n,
                     std::int64_t w, std::int64_t bins, std::int64_t first, std::int64_t count) {
    arrays::HOLDFAST_ISA::each_long<T>(w, n * count, [=](std::int64_t j) {
      const T* top = most + j * bins + first;
      T* sum = out + j * bins + first;
      std::fill_n(sum, count, T(0));
      for (std::int64_t i = 0; i < n; ++i)
#pragma omp simd
        for (std::int64_t p = 0; p < count; ++p)
          sum[p] += std::exp(marks[i * w + j] + places[i * bins + first + p] - top[p]);
      for (std::int64_t p = 0; p < count; ++p) sum[p] = top[p] + std::log(sum[p]);
    });
  }
};

std::unique_ptr<Computation> make_host_reference(Backend& backend, Problem problem) {
  if (precision_of(problem.options.arithmetic) == Precision::f32)
    return std::make_unique<EagerReference<HostVerbs<float>>>(backend, std::move(problem));
  return std::make_unique<EagerReference<HostVerbs<double>>>(backend, std::move(problem));
}

}  // namespace holdfast::clusterless_kde::HOLDFAST_ISA
