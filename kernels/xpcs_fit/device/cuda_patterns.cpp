// SPDX-License-Identifier: Apache-2.0
// The optimized patterns on a device.
#include <vector>

#include "xpcs_fit/data/data.hpp"
#include "xpcs_fit/data/held.hpp"
#include "xpcs_fit/device/frames.hpp"
#include "xpcs_fit/device/pattern_kernels.hpp"
#include "xpcs_fit/patterns.hpp"

namespace holdfast::xpcs_fit {
namespace {

// Pads `sets` to whole tiles with copies of the last set.
std::vector<double> whole_tiles(std::vector<double> sets, int count) {
  const std::size_t p = sets.size() / count;
  const std::vector<double> last(sets.end() - static_cast<std::ptrdiff_t>(p), sets.end());
  while (sets.size() / p % set_tile != 0) sets.insert(sets.end(), last.begin(), last.end());
  return sets;
}

class Costs final : public Computation {
 public:
  Costs(int count, Backend& backend, const Problem& problem)
      : count_(count),
        p_(static_cast<int>(problem.input->box.start.size())),
        sets_(
            backend,
            whole_tiles(parameter_sets(count, problem.options, problem.input->size.angles), count),
            "parameters"),
        tiled_(static_cast<int>(sets_.size()) / p_),
        pairs_(problem.input->size.plane()),
        blocks_(resident_blocks(backend, pairs_, 8)),
        data_(held_data<double>(backend, problem)),
        frames_(backend, problem, tiled_),
        kernels_(*backend.compiler, problem.options),
        partial_(backend, std::size_t{blocks_} * tiled_, "partial sums"),
        out_(backend, tiled_, "result") {}

  void step() override {
    frames_.enqueue(sets_.data(), p_);
    kernels_.costs(
        {.grid = {blocks_, static_cast<unsigned>(tiled_ / set_tile)}, .block = {pair_threads}},
        frames_.grid(), {.data = data_.data(), .pairs = pairs_, .angle_pitch = pairs_}, tiled_,
        frames_.frames(), frames_.rows(), partial_.data());
    frames_.reduce(partial_.data(), 1, static_cast<int>(blocks_), tiled_, out_.data());
  }
  std::vector<double> result() override {
    std::vector<double> all = out_.to_host();
    all.resize(static_cast<std::size_t>(count_));
    for (double& cost : all) cost /= 2;
    return all;
  }

 private:
  int count_, p_;
  Buffer<double> sets_;
  int tiled_;
  std::int64_t pairs_;
  unsigned blocks_;
  Buffer<double> data_;
  DeviceFrames<double> frames_;
  PatternKernels kernels_;
  Buffer<double> partial_, out_;
};

class Chunks final : public Computation {
 public:
  Chunks(int count, Backend& backend, const Problem& problem)
      : count_(count),
        n_(problem.input->size.points()),
        parameters_(backend, problem.input->box.start, "parameters"),
        frames_(backend, problem),
        kernels_(*backend.compiler, problem.options),
        out_(backend, static_cast<std::size_t>(n_), "result") {}

  void step() override {
    for (int chunk = 0; chunk < count_; ++chunk) {
      const std::int64_t first = n_ * chunk / count_, last = n_ * (chunk + 1) / count_;
      frames_.enqueue(parameters_.data(), static_cast<int>(parameters_.size()));
      kernels_.flat_model({.grid = {blocks(last - first, pair_threads)}, .block = {pair_threads}},
                          frames_.grid(), first, last - first, frames_.frames(), frames_.rows(),
                          out_.data() + first);
    }
  }
  std::vector<double> result() override { return out_.to_host(); }

 private:
  int count_;
  std::int64_t n_;
  Buffer<double> parameters_;
  DeviceFrames<double> frames_;
  PatternKernels kernels_;
  Buffer<double> out_;
};

class RoundTrip final : public Computation {
 public:
  RoundTrip(int count, Backend& backend, const Problem& problem)
      : count_(count),
        x_(data_or_zeros(problem)),
        first_(x_),
        kernels_(*backend.compiler, problem.options),
        device_(*backend.device),
        model_(backend, backend.executes() ? start_model(problem) : x_, "inputs: model"),
        there_(backend, x_.size(), "result") {}

  void step() override {
    const auto n = static_cast<std::int64_t>(x_.size());
    there_.upload(first_);
    kernels_.relax({.grid = {blocks(n, pair_threads)}, .block = {pair_threads}}, model_.data(),
                   relaxation, count_, n, there_.data());
    device_.download(x_.data(), there_.data(), there_.bytes());
  }
  std::vector<double> result() override { return x_; }

 private:
  int count_;
  std::vector<double> x_, first_;
  PatternKernels kernels_;
  Device& device_;
  Buffer<double> model_, there_;
};

}  // namespace

std::unique_ptr<Computation> make_cuda_pattern(Pattern pattern, int count, Backend& backend,
                                               const Problem& problem) {
  if (pattern == Pattern::costs) return std::make_unique<Costs>(count, backend, problem);
  if (pattern == Pattern::chunks) return std::make_unique<Chunks>(count, backend, problem);
  return std::make_unique<RoundTrip>(count, backend, problem);
}

}  // namespace holdfast::xpcs_fit
