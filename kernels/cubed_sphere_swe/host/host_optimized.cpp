// SPDX-License-Identifier: Apache-2.0
// Changes against host_reference.cpp, and their measured gains (f64, on a shared 2-core x86-64-v4
// virtual machine). All together, interleaved, on two threads: 13.6x faster at n = 96 (median of
// three runs, 13.6 to 14.8), nearly all of it from the first change. For the others: CPU time of
// one thread without the change over that with it, at n = 24, 48, 96, 192.
//
// - Banded rows, not dense products: 69 operations per point and tendency, not 16 (n + 1).
// - Penalties folded into the divergence, because F* drops out (README, identities 1 and 2).
// - Projection while reading, without a separate pass: 1.08, 1.06, 1.04, 1.02.
// - Horner's form of RK4: 11 states moved per step, not 16; three states kept, not six. Against
//   RungeKutta::classical, the same sweeps with an accumulator: 1.27 at n = 48, 1.53 at n = 96.
// - Whole vectors only: the closures at a row's ends have their own coefficient vectors.
//   AVX-512 over AVX2: 1.00, 1.08, 1.11, 1.10.
// - Intermediate fields in rings of eight rows per thread, not whole panels: 0.98, 1.00, 0.98,
//   0.90. Slower beyond the cache, but kept for its memory: 27 rows per thread, not three panels.
// - One parallel region per step(), and parts for any thread instead of barriers: with seven
//   times as many runnable threads as cores the median step at n = 48 took 2.2 ms, not 5.0; the
//   first quartile is the same. A call too short to justify waking a thread stays on one: on a
//   busy machine a step at n = 24 takes 80 us alone and 160 us shared.
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cubed_sphere_swe/host/host_sweep.hpp"
#include "cubed_sphere_swe/problem/host_components.hpp"
#include "cubed_sphere_swe/problem/host_mass.hpp"
#include "cubed_sphere_swe/problem/stages.hpp"
#include "cubed_sphere_swe/problem/work.hpp"
#include "cubed_sphere_swe/variants.hpp"
#include "host/schedule.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {
namespace {

template <class P>
class HostOptimized final : public Computation {
 public:
  using T = P::Value;

  HostOptimized(Backend& backend, Problem problem)
      : unit_(problem.unit),
        n_(problem.n),
        steps_(problem.unit == Unit::loop ? problem.options.steps : 1),
        classical_(unit_ != Unit::rhs && problem.options.runge_kutta == RungeKutta::classical),
        dt_(problem.dt),
        begin_(problem.begin),
        threads_(host_limits().threads),
        shared_((unit_ == Unit::rhs ? rhs_work({n_}) : rk4_step_work({n_})).flops >=
                flops_worth_sharing),
        blocks_(host_blocks_per_panel(n_, threads_)),
        scratch_rows_(classical_ ? Sweep<P, Makes::state_and_sum>::scratch_rows
                                 : Sweep<P, Makes::state>::scratch_rows),
        offset_(unit_ == Unit::rhs ? std::vector<double>() : border_offset(n_, problem.start.h)),
        tables_(backend, n_, metric_tables(n_, problem.options.q12)),
        scratch_(backend, static_cast<std::size_t>(threads_) * scratch_rows_ * row_pitch<T>(n_),
                 "scratch") {
    for (int k = 0; k < (unit_ == Unit::rhs ? 2 : classical_ ? 4 : 3); ++k)
      states_.emplace_back(backend, state_count(n_),
                           unit_ == Unit::rhs && k == 1 ? "result" : "state");
    std::fill_n(scratch_.data(), scratch_.size(), T(0));
    put(problem.start);
    if (unit_ != Unit::loop) return;
    start_mass_ = mass({n_}, height());
    if (problem.options.diagnostics != Diagnostics::none)
      watch_.emplace(backend, n_, steps_, panels * blocks_, state(0).h);
  }

  void step() override {
    const Scope scope(unit_ == Unit::rhs ? "rhs" : unit_ == Unit::loop ? "loop" : "rk4_step");
    if (unit_ == Unit::rhs)
      tendency();
    else
      advance(steps_);
    if (unit_ == Unit::loop) project_in_place(state(0).h);
    if (watch_) watch_->judge(steps_);
  }

  void start_again(int input) override { put(begin_(input)); }

  std::vector<double> result() override {
    const T* first = state(unit_ == Unit::rhs ? 1 : 0).h;
    std::vector<double> all(first, first + state_count(n_));
    if (unit_ != Unit::rhs) {
      const std::vector<double> h = project(n_, std::span(all).first(height_count(n_)), offset_);
      std::copy(h.begin(), h.end(), all.begin());
    }
    return all;
  }

  // Without diagnostics the mass is only computed at the end.
  std::vector<NamedReading> readings() override {
    if (unit_ != Unit::loop) return {};
    return {{"mass_drift",
             watch_ ? watch_->drift() : relative_drift(mass({n_}, height()), start_mass_)}};
  }

  std::vector<double> height() const {  // one-sided
    const T* h = state(0).h;
    return {h, h + height_count(n_)};
  }

  void advance(int steps) {
    schedule_.restart();
#pragma omp parallel num_threads(threads_) if (shared_)
    {
      const FlushToZero<T> flush;
      const int thread = omp_get_thread_num(), team = omp_get_num_threads();
      const int per_step = stages_per_step + (watch_ ? 1 : 0);
      for (int step = 0; step < steps; ++step) {
        const auto pass = passes(step);
        for (int k = 0; k < stages_per_step; ++k) {
          const Scope scope("stage");
          schedule_.work(step * per_step + k, thread, team,
                         [&](int part) { do_part(pass[k], part, thread); });
        }
        if (!watch_) continue;
        const Scope scope("mass");
        schedule_.work(step * per_step + stages_per_step, thread, team,
                       [&](int part) { weigh(pass[stages_per_step - 1].out.h, step, part); });
      }
    }
    if (!classical_ && steps % 2 == 1) std::swap(states_[0], states_[2]);
  }

 private:
  void put(const State& start) const {
    const StateView<T> y = state(0);
    const auto as_value = [](double x) { return static_cast<T>(x); };
    std::transform(start.h.begin(), start.h.end(), y.h, as_value);
    std::transform(start.v1.begin(), start.v1.end(), y.v1, as_value);
    std::transform(start.v2.begin(), start.v2.end(), y.v2, as_value);
  }

  StateView<T> state(int k) const {
    return {states_[k].data(), n_};
  }

  std::array<Pass<T>, stages_per_step> passes(int step) const {
    const bool swapped = !classical_ && step % 2 == 1;
    const auto at = [&](int k) { return k < 0 ? StateView<T>() : state(array_of(k, swapped)); };
    std::array<Pass<T>, stages_per_step> all;
    for (int k = 0; k < stages_per_step; ++k) {
      const Stage& stage = (classical_ ? classical_stages : horner_stages)[k];
      all[k] = {.makes = stage.sum < 0 ? Makes::state : Makes::state_and_sum,
                .z = at(stage.z),
                .base = at(stage.base),
                .out = at(stage.out),
                .sum = at(stage.sum),
                .factor = stage.slope * dt_,
                .share = stage.share / stage.slope};
    }
    return all;
  }

  int first_row(int block) const {
    return (n_ + 1) * block / blocks_;
  }

  void do_part(const Pass<T>& pass, int part, int thread) const {
    T* scratch =
        scratch_.data() + static_cast<std::size_t>(thread) * scratch_rows_ * row_pitch<T>(n_);
    const int block = part % blocks_;
    const auto sweep = [&]<Makes makes>() {
      Sweep<P, makes>(tables_, pass, part / blocks_, scratch)(first_row(block),
                                                              first_row(block + 1));
    };
    switch (pass.makes) {
      case Makes::tendency:
        return sweep.template operator()<Makes::tendency>();
      case Makes::state:
        return sweep.template operator()<Makes::state>();
      case Makes::state_and_sum:
        return sweep.template operator()<Makes::state_and_sum>();
    }
  }
  void weigh(const T* h, int step, int part) {
    const int block = part % blocks_;
    watch_->form(step, part, h, part / blocks_, first_row(block), first_row(block + 1));
  }

  void tendency() {
    const Pass<T> pass = {
        .makes = Makes::tendency, .z = state(0), .base = state(0), .out = state(1), .factor = 1};
    schedule_.restart();
#pragma omp parallel num_threads(threads_) if (shared_)
    {
      const FlushToZero<T> flush;
      const int thread = omp_get_thread_num();
      const Scope scope("stage");
      schedule_.work(0, thread, omp_get_num_threads(),
                     [&](int part) { do_part(pass, part, thread); });
    }
    project_in_place(state(1).h);
  }

  // Each iteration reads and writes all copies of one point.
  void project_in_place(T* h) const {
    const Scope scope("project");
    const FlushToZero<T> flush;
    for (const Edge& edge : edges())
      for (int k = 1; k < n_; ++k) {
        T& a = h[border_index(n_, edge.panel_a, edge.side_a, k)];
        T& b = h[border_index(n_, edge.panel_b, edge.side_b, edge.reversed ? n_ - k : k)];
        a = b = (a + b) / 2;
      }
    for (const Triple& triple : corners()) {
      T& a = h[corner_index(n_, triple[0])];
      T& b = h[corner_index(n_, triple[1])];
      T& c = h[corner_index(n_, triple[2])];
      a = b = c = corner_mean(a, b, c);
    }
  }

  Unit unit_;
  int n_, steps_;
  bool classical_;
  double dt_;
  std::function<State(int)> begin_;
  int threads_;
  bool shared_;  // whether one step of the scheme is enough work for more than one thread
  int blocks_, scratch_rows_;
  std::vector<double> offset_;  // h - A h of the start, added back in result()
  Tables<P> tables_;
  Buffer<T> scratch_;
  std::vector<Field<T>> states_ = {};  // y and the stages' outputs
  double start_mass_ = 0;
  std::optional<MassWatch<T>> watch_ = {};
  host::HOLDFAST_ISA::Schedule schedule_{panels * blocks_};
};

}  // namespace

std::unique_ptr<Computation> make_host_optimized(Backend& backend, Problem problem) {
  if (problem.unit == Unit::component)
    return make_host_optimized_component(backend, std::move(problem));
  return with_pack(problem.options.precision, problem.n,
                   [&]<class P>(P) -> std::unique_ptr<Computation> {
                     return std::make_unique<HostOptimized<P>>(backend, std::move(problem));
                   });
}

double one_sided_spread(Backend& backend, Problem problem) {
  const int n = problem.n, steps = problem.options.steps;
  problem.unit = Unit::rk4_step;
  HostOptimized<Doubles> computation(backend, std::move(problem));
  computation.advance(steps);
  double spread = 0;
  for (const double difference : border_offset(n, computation.height()))
    spread = std::max(spread, std::abs(difference));
  return spread;
}

}  // namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA
