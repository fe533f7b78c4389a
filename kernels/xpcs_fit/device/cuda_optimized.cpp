// SPDX-License-Identifier: Apache-2.0
// The optimized variant on a device: two launches for a model, three for a residual or for normal
// equations, for any number of angles.
#include <vector>

#include "xpcs_fit/data/held.hpp"
#include "xpcs_fit/device/pass.hpp"
#include "xpcs_fit/problem/starts.hpp"
#include "xpcs_fit/variants.hpp"

namespace holdfast::xpcs_fit {
namespace {

template <class T>
class Values final : public Computation {
 public:
  Values(Unit unit, Backend& backend, const Problem& problem)
      : unit_(unit),
        problem_(problem),
        points_{.pairs = problem.input->size.plane(), .angle_pitch = problem.input->size.plane()},
        blocks_(resident_blocks(backend, points_.pairs, 16)),
        parameter_count_(static_cast<int>(problem.input->box.start.size())),
        parameters_(backend, problem.input->box.start, "parameters"),
        frames_(backend, problem),
        kernels_(*backend.compiler, problem.options),
        data_(held_data<T>(backend, problem, unit != Unit::g2)),
        out_(backend, static_cast<std::size_t>(problem.input->size.points()), "result"),
        partial_(backend, unit == Unit::g2 ? 0 : blocks_, "partial sums"),
        cost_(backend, unit == Unit::g2 ? 0 : 1, "result") {
    points_.data = data_.data();
  }

  void step() override {
    const LaunchShape shape = {.grid = {blocks_}, .block = {pair_threads}};
    frames_.enqueue(parameters_.data(), parameter_count_);
    if (unit_ == Unit::g2)
      return kernels_.model_values(shape, frames_.grid(), points_, frames_.frames(), frames_.rows(),
                                   out_.data());
    kernels_.residuals(shape, frames_.grid(), points_, frames_.frames(), frames_.rows(),
                       out_.data(), partial_.data());
    frames_.reduce(partial_.data(), 1, static_cast<int>(blocks_), 1, cost_.data());
  }
  void start_again(int input) override { parameters_.upload(start_of(problem_, input)); }

  std::vector<double> result() override {
    const std::vector<T> values = out_.to_host();
    std::vector<double> all(values.begin(), values.end());
    if (unit_ == Unit::residual) all.insert(all.begin(), cost_.to_host().front() / 2);
    return all;
  }

 private:
  Unit unit_;
  Problem problem_;
  Points<T> points_;
  unsigned blocks_;
  int parameter_count_;
  Buffer<double> parameters_;
  DeviceFrames<T> frames_;
  ValueKernels<T> kernels_;
  Buffer<T> data_, out_;
  Buffer<double> partial_, cost_;
};

template <class T>
class Normal final : public Computation {
 public:
  Normal(Backend& backend, const Problem& problem)
      : problem_(problem),
        start_(start_of(problem, 0)),
        parameters_(backend, start_, "parameters"),
        data_(held_data<T>(backend, problem)),
        weights_(held_weights<T>(backend, problem)),
        pass_(backend, problem),
        points_{.data = data_.data(),
                .weights = weights_.data(),
                .pairs = problem.input->size.plane(),
                .angle_pitch = problem.input->size.plane()} {}

  void step() override {
    pass_.enqueue(points_, parameters_.data(), static_cast<int>(parameters_.size()));
  }
  void start_again(int input) override {
    start_ = start_of(problem_, input);
    parameters_.upload(start_);
  }
  std::vector<double> result() override {
    const std::vector<double> sums = pass_.sums().to_host();
    std::vector<double> out(normal_count(static_cast<int>(parameters_.size())));
    assemble(problem_.options, problem_.input->size.angles, sums, start_, out.data());
    return out;
  }

 private:
  Problem problem_;
  std::vector<double> start_;
  Buffer<double> parameters_;
  Buffer<T> data_, weights_;
  DevicePass<T> pass_;
  Points<T> points_;
};

template <class T>
std::unique_ptr<Computation> made_values(Unit unit, Backend& backend, const Problem& problem) {
  if (unit == Unit::normal_equations) return std::make_unique<Normal<T>>(backend, problem);
  return std::make_unique<Values<T>>(unit, backend, problem);
}

}  // namespace

std::unique_ptr<Computation> make_cuda_optimized(Unit unit, Backend& backend,
                                                 const Problem& problem) {
  if (is_fit(unit)) return make_cuda_fit(unit, backend, problem);
  return problem.options.precision == Precision::f32 ? made_values<float>(unit, backend, problem)
                                                     : made_values<double>(unit, backend, problem);
}

}  // namespace holdfast::xpcs_fit
