// SPDX-License-Identifier: Apache-2.0
// Streamed fits on the host. Batches are ranges of the flat order of points, each copied from its
// source and then computed by one thread; or whole rows of every angle, shared by all threads: each
// copies a row just before adding it up and prefetches the next one into its cache.
#include <omp.h>

#include <algorithm>
#include <cmath>

#include "xpcs_fit/host/pass.hpp"
#include "xpcs_fit/stream/streamed.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {
namespace {

template <Mode mode>
class FlatBatches final : public Batches {
 public:
  FlatBatches(Backend& backend, const Problem& problem, const StreamOptions& options)
      : problem_(problem),
        size_(problem.input->size),
        batch_(options.batch),
        frames_(backend, problem.input->physics, size_.frames, mode),
        // Room for a row before the batch, so that rows may begin before it.
        slot_(backend, static_cast<std::size_t>(options.batch + size_.frames), "slot"),
        sums_(backend, static_cast<std::size_t>(Accumulator<double, mode>::count), "sums"),
        normal_(backend, normal_count(Accumulator<double, mode>::p), "sums") {}

  int count() const override { return static_cast<int>((size_.points() + batch_ - 1) / batch_); }
  int slots() const override { return 1; }
  std::int64_t points(int batch) const override { return end(batch) - batch * batch_; }

  void begin(int, int batch, bool poisoned, const std::vector<double>& at) override {
    const std::int64_t first = batch * batch_, last = end(batch);
    const double* const from = problem_.input->data.data();
    double* const to = slot_.data() + size_.frames;
    std::copy(from + first, from + last, to);
    if (poisoned) *to = std::nan("");
    if (at != at_) prepare(at);
    sum(first, last);
  }
  const double* finish(int) override { return normal_.data(); }

 private:
  std::int64_t end(int batch) const { return std::min((batch + 1) * batch_, size_.points()); }

  void prepare(const std::vector<double>& at) {
    at_ = at;
    frames_.set(at.data());
    angles_ = angles_at<double>(problem_, at);
  }

  // Points [first, last): the end of a row, whole rows, the beginning of a row.
  void sum(std::int64_t first, std::int64_t last) {
    const RowSums<double, mode, false> of(problem_, frames_, angles_,
                                          is_tame(angles_, frames_.widest_shear()));
    const std::int64_t n = size_.frames;
    Accumulator<double, mode> sums;
    for (std::int64_t row = first / n; row * n < last; ++row) {
      const std::int64_t j0 = std::max(first - row * n, std::int64_t{0});
      const std::int64_t j1 = std::min(last - row * n, n);
      const int a = static_cast<int>(row / n), i = static_cast<int>(row % n);
      const double* const begin = slot_.data() + size_.frames + (row * n - first);
      of.add_row({.data = begin, .first_row = i}, i, static_cast<int>(j0), static_cast<int>(j1), a,
                 a + 1, sums);
    }
    std::fill_n(sums_.data(), sums_.size(), 0.);
    sums.flush(sums_.data());
    assemble(problem_.options, size_.angles, {sums_.data(), sums_.size()}, at_, normal_.data());
  }

  Problem problem_;
  Size size_;
  std::int64_t batch_;
  ScaledFrames<double> frames_;
  Buffer<double> slot_, sums_, normal_;
  std::vector<double> at_ = {};
  std::vector<Angle<double>> angles_ = {};
};

class RowBatches final : public Batches {
 public:
  RowBatches(Backend& backend, const Problem& problem, const StreamOptions& options)
      : problem_(problem),
        size_(problem.input->size),
        rows_(rows_of_batch(size_, options.batch)),
        resident_(options.source == DataSource::resident),
        pass_(backend, problem, std::min(rows_, most_blocks),
              host_threads(problem.options, rows_ * row_points())),
        data_(backend, static_cast<std::size_t>(resident_ ? size_.points() : 0), "inputs"),
        slots_(backend, static_cast<std::size_t>(resident_ ? 0 : pass_.threads() * row_points()),
               "slots"),
        normal_(backend, normal_count(local_parameters(problem.options.mode)), "sums") {
    if (resident_) data_.upload(problem.input->data);
  }

  int count() const override { return (size_.frames + rows_ - 1) / rows_; }
  int slots() const override { return 1; }
  std::int64_t points(int batch) const override {
    const RowRange of = range(batch);
    return (of.last - of.first) * row_points();
  }

  void begin(int, int batch, bool poisoned, const std::vector<double>& at) override {
    if (at != at_) {
      at_ = at;
      pass_.prepare(at);
    }
    const RowRange of = range(batch);
    if (resident_)
      return pass_.add_up(
          of,
          [&](RowRange) {
            return Rows<double>{.data = data_.data(), .angle_pitch = size_.plane()};
          },
          normal_.data());
    pass_.add_up(
        of, [&](RowRange left) { return copied(left, poisoned && left.first == of.first); },
        normal_.data());
  }
  const double* finish(int) override { return normal_.data(); }

 private:
  std::int64_t row_points() const { return std::int64_t{size_.frames} * size_.angles; }
  RowRange range(int batch) const {
    return {batch * rows_, std::min((batch + 1) * rows_, size_.frames)};
  }
  // Copies the first of those rows to the slot of the calling thread.
  Rows<double> copied(RowRange left, bool poisoned) {
    constexpr int line = 64 / sizeof(double);
    const std::int64_t row = size_.frames;
    double* const slot = slots_.data() + omp_get_thread_num() * row_points();
    for (int a = 0; a < size_.angles; ++a) {
      const double* const from = problem_.input->data.data() + a * size_.plane() + left.first * row;
      std::copy(from, from + row, slot + a * row);
      if (left.first + 1 < left.last)
        for (std::int64_t j = row; j < 2 * row; j += line) __builtin_prefetch(from + j, 0, 2);
    }
    if (poisoned) *slot = std::nan("");
    return {.data = slot, .angle_pitch = row, .first_row = left.first};
  }

  Problem problem_;
  Size size_;
  int rows_;
  bool resident_;
  Pass<double> pass_;
  Buffer<double> data_, slots_, normal_;
  std::vector<double> at_ = {};
};

}  // namespace

std::unique_ptr<Computation> make_host_stream(Backend& backend, const Problem& problem,
                                              const StreamOptions& options) {
  if (options.order == BatchOrder::rows)
    return std::make_unique<Streamed<RowBatches>>(backend, problem, options);
  if (problem.options.mode == Mode::laminar)
    return std::make_unique<Streamed<FlatBatches<Mode::laminar>>>(backend, problem, options);
  return std::make_unique<Streamed<FlatBatches<Mode::at_rest>>>(backend, problem, options);
}

}  // namespace holdfast::xpcs_fit::HOLDFAST_ISA
