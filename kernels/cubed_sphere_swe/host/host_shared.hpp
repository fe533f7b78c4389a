// SPDX-License-Identifier: Apache-2.0
// Common base of the components of the optimized host variant: threads, rows, scratch.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "computation.hpp"
#include "cubed_sphere_swe/host/host_panels.hpp"
#include "cubed_sphere_swe/problem/problem.hpp"
#include "cubed_sphere_swe/problem/stages.hpp"
#include "cubed_sphere_swe/problem/turns.hpp"
#include "cubed_sphere_swe/problem/words.hpp"
#include "cubed_sphere_swe/problem/work.hpp"
#include "host/schedule.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {

// Parts that threads share, in `phases` that follow one another.
class Shared : public Computation {
 public:
  void step() override {
    const Scope scope(name_);
    schedule_.restart();
#pragma omp parallel num_threads(threads_) if (shared_)
    for (int phase = 0; phase < phases_; ++phase)
      schedule_.work(phase, omp_get_thread_num(), omp_get_num_threads(), [&](int part) {
        do_part(phase, part / blocks_, part % blocks_, omp_get_thread_num());
      });
  }

 protected:
  // `moved_bytes`: the minimal traffic of this implementation.
  Shared(const Problem& problem, int blocks, int phases, double moved_bytes)
      : n_(problem.n),
        name_(component_words.of(problem.component.kind)),
        threads_(host_limits().threads),
        blocks_(blocks),
        phases_(phases),
        schedule_(panels * blocks) {
    const Work work = component_work({n_}, problem.component, problem.options);
    shared_ = std::max({work.flops, work.bytes, moved_bytes}) >= flops_worth_sharing;
  }
  virtual void do_part(int phase, int panel, int block, int thread) = 0;

  int n_;
  std::string_view name_;
  int threads_, blocks_, phases_;
  bool shared_;
  host::HOLDFAST_ISA::Schedule schedule_;
};

// Processes every panel row by row, with scratch rows for each thread.
template <class P>
class ByRows : public Shared {
 public:
  using T = P::Value;

  std::vector<double> result() override {
    std::vector<double> all;
    for (const Field<T>& field : out_) append(all, field.data(), field.size());
    return all;
  }
  void start_again(int input) override {
    const double factor = turns_.to(input);
    for (Field<T>& field : in_) multiply(field, factor);
  }

 protected:
  ByRows(Backend& backend, const Problem& problem, int scratch_rows)
      : Shared(problem, host_blocks_per_panel(problem.n, host_limits().threads), 1,
               2. * sizeof(T) * static_cast<double>(height_count(problem.n))),
        scratch_values_(static_cast<std::size_t>(scratch_rows) * row_pitch<T>(problem.n)) {
    if (scratch_rows > 0) scratch_.emplace_back(backend, threads_ * scratch_values_, "scratch");
  }
  // Processes rows [begin, end) of the n + 1 rows of vertices; fields at centres have one row less.
  virtual void rows(int panel, int begin, int end, T* scratch) = 0;

  void do_part(int, int panel, int block, int thread) override {
    const FlushToZero<T> flush;
    rows(panel, (n_ + 1) * block / blocks_, (n_ + 1) * (block + 1) / blocks_,
         scratch_.empty() ? nullptr : scratch_[0].data() + thread * scratch_values_);
  }

  std::size_t at_h(int panel, int i) const { return RowOf{n_ + 1, n_ + 1}(panel, i); }
  std::size_t at_v1(int panel, int i) const { return RowOf{n_, n_ + 1}(panel, i); }
  std::size_t at_v2(int panel, int i) const { return RowOf{n_ + 1, n_}(panel, i); }

  std::vector<Field<T>> in_ = {}, out_ = {};

 private:
  std::size_t scratch_values_;
  std::vector<Field<T>> scratch_ = {};
  Turns turns_ = {};
};

}  // namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA
