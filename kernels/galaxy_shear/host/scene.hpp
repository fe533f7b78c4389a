// SPDX-License-Identifier: Apache-2.0
// Several galaxies in one image on the host: their columns are added up before one transform, and
// one residual's columns serve all of them. Threads share columns and pairs of rows; sums are added
// in the order of columns, however many threads there are. Compiled per instruction set.
#pragma once

#include <omp.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "galaxy_shear/host/on_host.hpp"
#include "galaxy_shear/problem/results.hpp"

namespace holdfast::galaxy_shear::HOLDFAST_ISA {

template <class T>
class SceneFit final : public Computation {
  static constexpr int lanes = Lanes<T>::count;

 public:
  SceneFit(Backend& backend, Problem problem)
      : problem_(std::move(problem)),
        model_(scene_model_of(problem_.scene)),
        optics_(backend, readable<T>(attenuation(problem_.scene)), "optics"),
        plan_(problem_.scene, optics_.data()),
        threads_(host_limits().threads),
        data_(backend, readable<T>(problem_.data), "inputs"),
        states_(backend, first_objects(problem_), "state"),
        loss_(backend, 1, "result"),
        shapes_(backend, std::vector<T>(problem_.objects * plan_.of_shape()), "shapes"),
        rows_(backend, std::vector<T>(plan_.of_rows()), "rows"),
        columns_(backend, std::vector<T>(threads_ * plan_.of_columns()), "columns"),
        squares_(backend, plan_.teams, "squares"),
        sums_(backend, std::size_t(groups()) * problem_.objects, "sums"),
        shares_(backend, problem_.objects, "shares") {
    for (int j = 0; j < problem_.objects; ++j)
      drawn_.emplace_back(plan_, shapes_.data() + j * plan_.of_shape());
  }

  void step() override {
    const Scope scope("scene");
    const T scale = static_cast<T>(1 / model_.object.pixels);
#pragma omp parallel num_threads(threads_) if (threads_ > 1)
    {
      const FlushToZero<T> flush;
      Stamp<T> stamp(plan_, columns_.data() + omp_get_thread_num() * plan_.of_columns(),
                     rows_.data());
#pragma omp for schedule(static)
      for (int j = 0; j < problem_.objects; ++j)
        drawn_[j].place(model_.object, object_at(model_, states_.data(), j).z);
#pragma omp for schedule(static)
      for (int group = 0; group < groups(); ++group)
        stamp.generate(group * lanes, [&](int slot, const Signal<T>& to, const Edges<T>& edges) {
          std::fill_n(to.re, plan_.n, Vector<T>{});
          std::fill_n(to.im, plan_.n, Vector<T>{});
          for (const Shape<T>& shape : drawn_)
            shape.template draw<true>(slot, shape.light / scale, to, edges);
        });
#pragma omp for schedule(static)
      for (int team = 0; team < plan_.teams; ++team) squares_.data()[team] = compared(stamp, team);
#pragma omp for schedule(static)
      for (int group = 0; group < groups(); ++group)
        stamp.reduce(group * lanes,
                     [&](int slot, const Signal<T>& residual, const Edges<T>& edges) {
                       for (int j = 0; j < problem_.objects; ++j) {
                         Sums& sums = sums_.data()[group * problem_.objects + j];
                         sums = {};
                         drawn_[j].derive(slot, residual, edges, sums);
                       }
                     });
#pragma omp for schedule(static) nowait
      for (int j = 0; j < problem_.objects; ++j)
        shares_.data()[j] = share_of(model_, object_at(model_, states_.data(), j), sums_of(j));
    }
    advance_all();
  }
  void start_again(int) override {
    states_.upload(first_objects(problem_));
  }
  std::vector<double> result() override {
    return told_objects(states_.to_host(), loss_.to_host()[0]);
  }

 private:
  int groups() const {
    return plan_.slots / lanes;
  }

  // Returns half the squares of a team's residuals, which replace its rows.
  double compared(Stamp<T>& stamp, int team) const {
    const T scale = static_cast<T>(1 / model_.object.pixels);
    const T inverse_noise = static_cast<T>(model_.object.inverse_noise);
    const int s = plan_.s;
    Vector<T> squares = {};
    stamp.template pass_rows<true>(team, scale, [&](int i, int x0, Vector<T> pixels) {
      const Vector<T> found =
          inside<T>((pixels - load(data_.data() + i * s + x0)) * inverse_noise, x0, s);
      squares += found * found;
      return found * inverse_noise;
    });
    double sum = 0;
    for (int k = 0; k < lanes; ++k) sum += double(squares[k]) / 2;
    return sum;
  }

  Sums sums_of(int j) const {
    Sums all;
    for (int group = 0; group < groups(); ++group)
      add(all, sums_.data()[group * problem_.objects + j]);
    return all;
  }

  void advance_all() {
    double misfit = 0;
    for (int team = 0; team < plan_.teams; ++team) misfit += squares_.data()[team];
    const Together all = together(model_, states_.data(), shares_.data(), problem_.objects, misfit);
    for (int part = 0; part <= problem_.objects; ++part) {
      const double loss = advance_part(model_, all, shares_.data(), part, states_.data()[part]);
      if (part == 0) loss_.data()[0] = loss;
    }
  }

  Problem problem_;
  SceneModel model_;
  Buffer<T> optics_;
  Plan<T> plan_;
  int threads_;
  Buffer<T> data_;
  Buffer<FitState> states_;
  Buffer<double> loss_;
  Buffer<T> shapes_, rows_, columns_;
  Buffer<double> squares_;  // per team
  Buffer<Sums> sums_;       // [groups of columns, objects]
  Buffer<Share> shares_;
  std::vector<Shape<T>> drawn_ = {};
};

}  // namespace holdfast::galaxy_shear::HOLDFAST_ISA
