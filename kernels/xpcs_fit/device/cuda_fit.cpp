// SPDX-License-Identifier: Apache-2.0
// Whole fits on a device. With one pair of contrast and offset the solver runs there: a pass is a
// graph of four nodes, which the host only launches. With a pair per angle the solver runs on the
// host.
#include <optional>
#include <vector>

#include "xpcs_fit/data/held.hpp"
#include "xpcs_fit/device/fit_memory.hpp"
#include "xpcs_fit/device/pass.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/variants.hpp"

namespace holdfast::xpcs_fit {
namespace {

template <class T>
class Inputs {
 public:
  Inputs(Backend& backend, const Problem& problem)
      : data_(held_data<T>(backend, problem)),
        weights_(held_weights<T>(backend, problem)),
        plane_(problem.input->size.plane()) {}

  Points<T> points() const {
    return {
        .data = data_.data(), .weights = weights_.data(), .pairs = plane_, .angle_pitch = plane_};
  }

 private:
  Buffer<T> data_, weights_;
  std::int64_t plane_;
};

template <class T>
class DeviceFit final : public Computation {
 public:
  DeviceFit(Backend& backend, const Problem& problem, int passes)
      : device_(*backend.device),
        freedom_(freedom(problem)),
        p_(static_cast<int>(problem.input->box.start.size())),
        passes_(passes),
        inputs_(backend, problem),
        pass_(backend, problem),
        box_(backend, in_a_row(problem.input->box), "box"),
        state_(backend, started_state(problem), "fit"),
        out_(backend, 1 + state_.size(), "result"),
        graph_(device_.capture([&] { enqueue(); })) {}

  void step() override {
    // A converging fit reports in 64 bytes whether it goes on; the limit of iterations ends it.
    bool over = false;
    for (int pass = 0; passes_ > 0 ? pass < passes_ : !over; ++pass) {
      device_.replay(graph_);
      if (passes_ > 0) continue;
      double told[8] = {};
      device_.download(told, out_.data(), sizeof told);
      over = told[0] != 0 || pass > 4 * most_iterations;
      if (over) check_first_cost(FitState{told + 1, p_}.cost());
    }
  }
  std::vector<double> result() override {
    std::vector<double> all = out_.to_host();
    return fit_result({all.data() + 1, p_}, freedom_);
  }

 private:
  void enqueue() const {
    const FitState fit = {state_.data(), p_};
    pass_.enqueue(inputs_.points(), fit.trial(), p_);
    pass_.kernels().step({.block = {32}}, state_.data(), pass_.sums().data(), box_.data(), p_,
                         freedom_, passes_, out_.data());
  }

  Device& device_;
  double freedom_;
  int p_, passes_;
  Inputs<T> inputs_;
  DevicePass<T> pass_;
  Buffer<double> box_, state_, out_;
  Graph graph_;
};

template <class T>
class HostSteps final : public Computation {
 public:
  HostSteps(Backend& backend, const Problem& problem, int passes)
      : problem_(problem),
        fit_(problem, passes),
        inputs_(backend, problem),
        pass_(backend, problem),
        parameters_(backend, problem.input->box.start, "parameters"),
        normal_(normal_count(fit_.state().p)) {}

  void step() override {
    fit_.restart();
    do {
      parameters_.upload(fit_.trial());
      pass_.enqueue(inputs_.points(), parameters_.data(), fit_.state().p);
      assemble(problem_.options, problem_.input->size.angles, pass_.sums().to_host(), fit_.trial(),
               normal_.data());
    } while (!fit_.take(normal_.data()));
  }
  std::vector<double> result() override { return fit_result(fit_.state(), freedom(problem_)); }

 private:
  Problem problem_;
  HostFit fit_;
  Inputs<T> inputs_;
  DevicePass<T> pass_;
  Buffer<double> parameters_;
  std::vector<double> normal_;
};

template <class T>
std::unique_ptr<Computation> made_fit(Unit unit, Backend& backend, const Problem& problem) {
  const int passes = unit == Unit::fit ? accounted_passes : 0;
  if (problem.options.scaling == Scaling::per_angle)
    return std::make_unique<HostSteps<T>>(backend, problem, passes);
  return std::make_unique<DeviceFit<T>>(backend, problem, passes);
}

}  // namespace

std::unique_ptr<Computation> make_cuda_fit(Unit unit, Backend& backend, const Problem& problem) {
  return problem.options.precision == Precision::f32 ? made_fit<float>(unit, backend, problem)
                                                     : made_fit<double>(unit, backend, problem);
}

}  // namespace holdfast::xpcs_fit
