// SPDX-License-Identifier: Apache-2.0
// The optimized patterns on the host: eight costs from one reading of the data, only a chunk of the
// model, all of a relaxation while a vector is in registers.
#include "xpcs_fit/data/data.hpp"
#include "xpcs_fit/host/pass.hpp"
#include "xpcs_fit/patterns.hpp"

namespace holdfast::xpcs_fit::HOLDFAST_ISA {
namespace {

constexpr int tile = 8;  // sets of parameters in one reading

class Costs final : public Computation {
 public:
  Costs(int count, Backend& backend, const Problem& problem)
      : problem_(problem),
        size_(problem.input->size),
        count_(count),
        blocks_(block_count(size_.frames)),
        threads_(host_limits().threads),
        sets_(parameter_sets(count, problem.options, size_.angles)),
        data_(backend, problem.input->data, "inputs"),
        partial_(backend, static_cast<std::size_t>(count) * blocks_, "partial sums"),
        out_(backend, count, "result") {
    for (int set = 0; set < count; ++set)
      frames_.emplace_back(backend, problem.input->physics, size_.frames, problem.options.mode);
  }

  void step() override {
    angles_.clear();
    tame_ = true;
    const auto p = static_cast<std::ptrdiff_t>(sets_.size()) / count_;
    for (int set = 0; set < count_; ++set) {
      const std::vector<double> own(sets_.begin() + set * p, sets_.begin() + (set + 1) * p);
      frames_[set].set(own.data());
      angles_.push_back(angles_at<double>(problem_, own));
      tame_ = tame_ && is_tame(angles_.back(), frames_[set].widest_shear());
    }
    if (problem_.options.mode == Mode::at_rest)
      sum<Mode::at_rest>();
    else
      sum<Mode::laminar>();
    for (int set = 0; set < count_; ++set) {
      double total = 0;
      for (int block = 0; block < blocks_; ++block) total += partial_.data()[set * blocks_ + block];
      out_.data()[set] = total / 2;
    }
  }
  std::vector<double> result() override { return out_.to_host(); }

 private:
  template <Mode mode>
  void sum() {
    const int each = rows_per_block(size_.frames), tiles = (count_ + tile - 1) / tile;
#pragma omp parallel for num_threads(threads_) schedule(dynamic)
    for (int item = 0; item < tiles * blocks_; ++item) {
      const int first = item / blocks_ * tile, block = item % blocks_;
      const int sets = std::min(tile, count_ - first);
      Vector<double> costs[tile] = {};
      for (int i = block * each; i < std::min((block + 1) * each, size_.frames); ++i) {
        int j = 0;
        if (tame_)
          for (; j + Lanes<double>::count <= size_.frames; j += Lanes<double>::count)
            add_pairs<mode, false>(i, j, first, sets, costs);
        for (; j < size_.frames; j += Lanes<double>::count)
          add_pairs<mode, true>(i, j, first, sets, costs);
      }
      for (int set = 0; set < sets; ++set)
        partial_.data()[(first + set) * blocks_ + block] = sum_of<double>(costs[set]);
    }
  }

  template <Mode mode, bool careful>
  void add_pairs(int i, int j, int first, int sets, Vector<double> (&costs)[tile]) const {
    const int left = size_.frames - j;
    const double* const data = data_.data() + std::int64_t{i} * size_.frames + j;
    for (int set = 0; set < sets; ++set) {
      const Pairs<double, mode> pairs(frames_[first + set], i, j);
      for (int a = 0; a < size_.angles; ++a) {
        const Angle<double>& angle = angles_[first + set][a];
        Vector<double> m =
            angle.offset + angle.contrast * factors<double, mode, false, careful>(pairs, angle).g;
        if constexpr (careful) m = clipped<double>(m);
        const double* const from = data + a * size_.plane();
        m -= careful ? load_some(from, left) : load(from);
        if constexpr (careful) m *= first_lanes<double>(left);
        costs[set] += m * m;
      }
    }
  }

  Problem problem_;
  Size size_;
  int count_, blocks_, threads_;
  std::vector<double> sets_;
  Buffer<double> data_, partial_, out_;
  std::vector<ScaledFrames<double>> frames_ = {};
  std::vector<std::vector<Angle<double>>> angles_ = {};
  bool tame_ = true;
};

class Chunks final : public Computation {
 public:
  Chunks(int count, Backend& backend, const Problem& problem)
      : problem_(problem),
        size_(problem.input->size),
        count_(count),
        threads_(threads_for(problem)),
        frames_(backend, problem.input->physics, size_.frames, problem.options.mode),
        out_(backend, static_cast<std::size_t>(size_.points()), "result") {}

  void step() override {
    for (int chunk = 0; chunk < count_; ++chunk) {
      const std::int64_t first = size_.points() * chunk / count_,
                         last = size_.points() * (chunk + 1) / count_;
      frames_.set(problem_.input->box.start.data());
      angles_ = angles_at<double>(problem_, problem_.input->box.start);
      if (problem_.options.mode == Mode::at_rest)
        evaluate<Mode::at_rest>(first, last);
      else
        evaluate<Mode::laminar>(first, last);
    }
  }
  std::vector<double> result() override { return out_.to_host(); }

 private:
  // Points [first, last), which may begin and end within a row.
  template <Mode mode>
  void evaluate(std::int64_t first, std::int64_t last) {
    const int n = size_.frames;
    const bool tame = is_tame(angles_, frames_.widest_shear());
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::int64_t row = first / n; row <= (last - 1) / n; ++row) {
      const int j0 = static_cast<int>(std::max(first - row * n, std::int64_t{0}));
      const int j1 = static_cast<int>(std::min(last - row * n, std::int64_t{n}));
      const Angle<double>& angle = angles_[row / n];
      for (int j = j0; j < j1; j += Lanes<double>::count) {
        const Pairs<double, mode> pairs(frames_, static_cast<int>(row % n), j);
        const Vector<double> m = clipped<double>(
            angle.offset +
            angle.contrast * (tame ? factors<double, mode, false, false>(pairs, angle).g
                                   : factors<double, mode, false, true>(pairs, angle).g));
        if (j + Lanes<double>::count <= j1)
          store(out_.data() + row * n + j, m);
        else
          store_some(out_.data() + row * n + j, m, j1 - j);
      }
    }
  }

  Problem problem_;
  Size size_;
  int count_, threads_;
  ScaledFrames<double> frames_;
  Buffer<double> out_;
  std::vector<Angle<double>> angles_ = {};
};

class RoundTrip final : public Computation {
 public:
  RoundTrip(int count, Backend& backend, const Problem& problem)
      : count_(count),
        threads_(host_limits().threads),
        data_(backend, problem.input->data, "inputs"),
        model_(backend, start_model(problem), "inputs: model"),
        out_(backend, data_.size(), "result") {}

  void step() override {
    constexpr std::int64_t block = 4096;
    const auto n = static_cast<std::int64_t>(out_.size());
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::int64_t begin = 0; begin < n; begin += block)
      for (std::int64_t k = begin; k < std::min(begin + block, n); k += 4 * lanes)
        relax(k, std::min(4 * lanes, n - k));
  }
  std::vector<double> result() override {
    return out_.to_host();
  }

 private:
  static constexpr std::int64_t lanes = Lanes<double>::count;

  // Four vectors, whose chains of multiply-adds are independent.
  void relax(std::int64_t k, std::int64_t count) {
    Vector<double> x[4], m[4];
    for (int v = 0; v < 4; ++v) {
      const int left = static_cast<int>(count - v * lanes);
      x[v] = load_some(data_.data() + k + v * lanes, left);
      m[v] = load_some(model_.data() + k + v * lanes, left);
    }
    for (int turn = 0; turn < count_; ++turn)
      for (int v = 0; v < 4; ++v) x[v] -= relaxation * (x[v] - m[v]);
    for (int v = 0; v < 4; ++v)
      store_some(out_.data() + k + v * lanes, x[v], static_cast<int>(count - v * lanes));
  }

  int count_, threads_;
  Buffer<double> data_, model_, out_;
};

}  // namespace

std::unique_ptr<Computation> make_host_pattern(Pattern pattern, int count, Backend& backend,
                                               const Problem& problem) {
  if (pattern == Pattern::costs) return std::make_unique<Costs>(count, backend, problem);
  if (pattern == Pattern::chunks) return std::make_unique<Chunks>(count, backend, problem);
  return std::make_unique<RoundTrip>(count, backend, problem);
}

}  // namespace holdfast::xpcs_fit::HOLDFAST_ISA
