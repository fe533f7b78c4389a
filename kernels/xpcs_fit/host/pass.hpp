// SPDX-License-Identifier: Apache-2.0
// A pass over all data: F, g and N for a set of parameters, for every form of a fit. Rows are
// summed in blocks whose sums have fixed places, so that results do not depend on the threads.
#pragma once

#include <algorithm>
#include <vector>

#include "xpcs_fit/host/sums.hpp"
#include "xpcs_fit/problem/normal.hpp"
#include "xpcs_fit/problem/strategy.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {

inline int threads_for(const Problem& problem) {
  return host_threads(problem.options, problem.input->size.points());
}

// Rows [first, last).
struct RowRange {
  int first = 0, last = 0;
};

template <class T>
class Pass {
 public:
  Pass(Backend& backend, const Problem& problem)
      : Pass(backend, problem, block_count(problem.input->size.frames), threads_for(problem)) {}
  // For passes over ranges of rows of at most `blocks` blocks.
  Pass(Backend& backend, const Problem& problem, int blocks, int threads)
      : problem_(problem),
        count_(sum_count(local_parameters(problem.options.mode))),
        groups_(group_count(problem.options, problem.input->size.angles)),
        threads_(threads),
        frames_(backend, problem.input->physics, problem.input->size.frames, problem.options.mode),
        partial_(backend, static_cast<std::size_t>(groups_) * blocks * count_, "partial sums"),
        sums_(static_cast<std::size_t>(groups_) * count_) {}

  // out: normal_count(p) values.
  void operator()(const Rows<T>& rows, const std::vector<double>& parameters, double* out) {
    prepare(parameters);
    add_up(
        {0, problem_.input->size.frames}, [rows](RowRange) { return rows; }, out);
  }

  int threads() const { return threads_; }

  // The two halves of a pass: the values that depend on the parameters only, and sums over some
  // rows.
  void prepare(const std::vector<double>& parameters) {
    parameters_ = parameters;
    frames_.set(local(problem_.options, problem_.input->size.angles, 0, parameters).data());
    angles_ = angles_at<T>(problem_, parameters);
  }
  // at(left): the place of the first row of `left`, called by the thread that adds it up, just
  // before; the others of `left` are those it will ask for next.
  template <class At>
  void add_up(RowRange range, const At& at, double* out) {
    const bool weighted =
        problem_.options.loss != Loss::linear || problem_.options.weights != Weights::unit;
    if (problem_.options.mode == Mode::at_rest)
      weighted ? sum<Mode::at_rest, true>(range, at) : sum<Mode::at_rest, false>(range, at);
    else
      weighted ? sum<Mode::laminar, true>(range, at) : sum<Mode::laminar, false>(range, at);
    assemble(problem_.options, problem_.input->size.angles, sums_, parameters_, out);
  }

 private:
  template <Mode mode, bool weighted, class At>
  void sum(RowRange range, const At& at) {
    const RowSums<T, mode, weighted> of(problem_, frames_, angles_,
                                        is_tame(angles_, frames_.widest_shear()));
    const int frames = problem_.input->size.frames, angles = problem_.input->size.angles;
    const int each = rows_per_block(range.last - range.first);
    const int blocks = block_count(range.last - range.first);
#pragma omp parallel for num_threads(threads_) schedule(dynamic)
    for (int item = 0; item < groups_ * blocks; ++item) {
      const int group = item / blocks, row = range.first + item % blocks * each;
      const RowRange own = {row, std::min(row + each, range.last)};
      const int first = groups_ > 1 ? group : 0, last = groups_ > 1 ? group + 1 : angles;
      double* out = partial_.data() + static_cast<std::ptrdiff_t>(item) * count_;
      std::fill_n(out, count_, 0.);
      Accumulator<T, mode> sums;
      for (int i = own.first; i < own.last; ++i) {
        of.add_row(at(RowRange{i, own.last}), i, 0, frames, first, last, sums);
        if constexpr (sizeof(T) == 4) sums.flush(out);
      }
      sums.flush(out);
    }
    add_blocks(blocks);
  }

  void add_blocks(int blocks) {
    for (int group = 0; group < groups_; ++group)
      for (int k = 0; k < count_; ++k) {
        double total = 0;
        for (int block = 0; block < blocks; ++block)
          total += partial_.data()[(group * blocks + block) * count_ + k];
        sums_[group * count_ + k] = total;
      }
  }

  Problem problem_;
  int count_, groups_, threads_;
  ScaledFrames<T> frames_;
  Buffer<double> partial_;  // [groups, blocks, count], of the rows added up last
  std::vector<double> sums_;
  std::vector<double> parameters_ = {};
  std::vector<Angle<T>> angles_ = {};
};

}  // namespace holdfast::xpcs_fit::HOLDFAST_ISA
