// SPDX-License-Identifier: Apache-2.0
// Shared by all units of the optimized variant on the host: one thread per galaxy, whose planes
// stay in the caches. Compiled per instruction set.
#pragma once

#include <omp.h>

#include <utility>
#include <vector>

#include "galaxy_shear/galaxy_shear.hpp"
#include "galaxy_shear/host/rows.hpp"
#include "galaxy_shear/host/stamp.hpp"
#include "host/flush_to_zero.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::galaxy_shear::HOLDFAST_ISA {

// Padded by a vector after the last number.
template <class T>
std::vector<T> readable(const std::vector<double>& values) {
  std::vector<T> all(values.begin(), values.end());
  all.resize(all.size() + Lanes<T>::count);
  return all;
}

// Replaces everything from pixel s on by zero, even NaN.
template <class T>
Vector<T> inside(Vector<T> values, int x0, int s) {
  for (int k = s - x0; k < Lanes<T>::count; ++k) values[k] = 0;
  return values;
}

// A galaxy with a stamp to itself.
template <class T>
struct Lone {
  static constexpr int lanes = Lanes<T>::count;

  Lone(const Plan<T>& shared, T* workspace)
      : plan(shared),
        shape(shared, workspace),
        stamp(shared, workspace + plan.of_shape() + plan.of_rows(), workspace + plan.of_shape()) {}
  static std::size_t workspace(const Plan<T>& plan) {
    return plan.of_shape() + plan.of_rows() + plan.of_columns();
  }

  void place(const Model& model, const double* z) { shape.place(model, z); }
  void generate() {
    for (int slot = 0; slot < plan.slots; slot += lanes)
      stamp.generate(slot, [&](int at, const Signal<T>& to, const Edges<T>& edges) {
        shape.template draw<false>(at, T(1), to, edges);
      });
  }
  template <bool returns, class See>
  void pass_rows(const See& see) {
    for (int team = 0; team < plan.teams; ++team)
      stamp.template pass_rows<returns>(team, shape.light, see);
  }
  Sums reduce() {
    Sums sums;
    for (int slot = 0; slot < plan.slots; slot += lanes)
      stamp.reduce(slot, [&](int at, const Signal<T>& residual, const Edges<T>& edges) {
        shape.derive(at, residual, edges, sums);
      });
    return sums;
  }

  const Plan<T>& plan;
  Shape<T> shape;
  Stamp<T> stamp;
};

template <class T>
class OnHost : public Computation {
 public:
  OnHost(Backend& backend, Problem problem)
      : problem_(std::move(problem)),
        model_(model_of(problem_.scene)),
        optics_(backend, readable<T>(attenuation(problem_.scene)), "optics"),
        plan_(problem_.scene, optics_.data()),
        threads_(team()),
        workspaces_(backend, std::vector<T>(threads_ * Lone<T>::workspace(plan_)), "workspaces") {}

 protected:
  // Calls work(galaxy, b) for every galaxy.
  template <class Work>
  void each(const Work& work) {
#pragma omp parallel num_threads(threads_) if (threads_ > 1)
    {
      const FlushToZero<T> flush;
      Lone<T> galaxy(plan_, workspaces_.data() + omp_get_thread_num() * Lone<T>::workspace(plan_));
#pragma omp for schedule(static) nowait
      for (int b = 0; b < problem_.batch; ++b) work(galaxy, b);
    }
  }
  std::size_t pixels() const {
    return std::size_t(plan_.s) * plan_.s;
  }

  Problem problem_;
  Model model_;
  Buffer<T> optics_;
  Plan<T> plan_;

 private:
  int team() const {
    const double flops = work_of(problem_.unit, {.fft = problem_.scene.fft,
                                                 .image = problem_.scene.image,
                                                 .batch = problem_.batch,
                                                 .steps = problem_.steps})
                             .flops;
    return flops < flops_worth_sharing ? 1 : std::min(host_limits().threads, problem_.batch);
  }

  int threads_;
  Buffer<T> workspaces_;
};

}  // namespace holdfast::galaxy_shear::HOLDFAST_ISA
