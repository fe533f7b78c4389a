// SPDX-License-Identifier: Apache-2.0
// The parts of a tendency in the optimized variant: one launch each (optimized_parts.cuh).
#include <cstdint>
#include <functional>
#include <memory>
#include <numbers>
#include <vector>

#include "cubed_sphere_swe/device/optimized_kernels.hpp"
#include "cubed_sphere_swe/problem/component_inputs.hpp"
#include "cubed_sphere_swe/problem/cuda_parts.hpp"
#include "cubed_sphere_swe/problem/sphere.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

// For each side of each panel the side that it meets, as 4 panel + side, plus 24 if the points run
// in opposite directions.
std::vector<std::int32_t> meeting_sides() {
  std::vector<std::int32_t> meets(24);
  for (const Edge& edge : edges()) {
    const int a = 4 * edge.panel_a + static_cast<int>(edge.side_a),
              b = 4 * edge.panel_b + static_cast<int>(edge.side_b), turn = edge.reversed ? 24 : 0;
    meets[a] = b + turn;
    meets[b] = a + turn;
  }
  return meets;
}

// The table in the layout of `contravariant` in optimized_parts.cuh.
std::vector<double> raising_metric(int n, MetricSign q12) {
  const MetricTables tables = metric_tables(n, q12);
  std::vector<double> row;
  const auto add = [&](const std::vector<double>& table, bool inverse) {
    for (const double value : table) row.push_back(inverse ? 1 / value : value);
  };
  add(tables.q11, false);
  add(tables.j1, true);
  add(tables.q22, false);
  add(tables.j2, true);
  add(tables.jq12, false);
  return row;
}

template <class T>
class OptimizedPart final : public Computation {
 public:
  OptimizedPart(Backend& backend, const Problem& problem)
      : backend_(backend),
        n_(problem.n),
        over_dx_(2 * n_ / std::numbers::pi),
        kernels_(*backend.compiler, problem.options),
        arrays_(backend),
        launch_(prepared(problem)) {}

  void step() override { launch_(); }
  std::vector<double> result() override { return arrays_.result(); }
  void start_again(int input) override { arrays_.start_again(input); }

 private:
  using Launches = std::function<void()>;

  // Uploads the inputs and returns the launches of the part.
  Launches prepared(const Problem& problem) {
    switch (problem.component.kind) {
      case Component::Kind::operator_apply:
        return operator_apply(problem.start, problem.component);
      case Component::Kind::project:
        return project(problem.start.h);
      case Component::Kind::gradient:
        return gradient(problem.start.h, problem.component.components);
      case Component::Kind::contravariant:
        return contravariant(problem.start, problem.options.q12);
      case Component::Kind::divergence:
        return divergence(component_inputs(n_, problem.options.q12, problem.start));
      case Component::Kind::sat:
        return penalise(problem.start, component_inputs(n_, problem.options.q12, problem.start));
    }
    return {};
  }

  Launches operator_apply(const State& start, const Component& part) {
    const bool derivative = part.op == Operator::dcv || part.op == Operator::dvc;
    const int which = static_cast<int>(part.op), direction = part.direction;
    const T scale = derivative ? T(over_dx_) : T(1);
    const T* field = arrays_.in(operand(start, part.op, direction));
    T* out = arrays_.out(onto_vertices(part.op) ? height_count(n_) : velocity_count(n_));
    return [=, this] {
      const Scope scope("operator_apply");
      kernels_.apply_operator(one_thread_per_vertex(n_), field, out, which, direction, n_, scale);
    };
  }

  Launches project(const std::vector<double>& h) {
    T* projected = arrays_.out(h);
    const std::int32_t* table =
        neighbours_.emplace_back(backend_, neighbours(n_), "neighbours").data();
    return [=, this] {
      const Scope scope("project");
      kernels_.project(one_thread_per_border_point(n_), projected, table, n_);
    };
  }

  Launches gradient(const std::vector<double>& h, int components) {
    const T* projected = arrays_.in(cubed_sphere_swe::project(n_, h));
    T* dv1 = arrays_.out(velocity_count(n_));
    T* dv2 = components == 2 ? arrays_.out(velocity_count(n_)) : nullptr;
    return [=, this] {
      const Scope scope("gradient");
      kernels_.gradient(one_thread_per_vertex(n_), projected, dv1, dv2, n_, T(-gravity * over_dx_));
    };
  }

  Launches contravariant(const State& start, MetricSign q12) {
    const T *v1 = arrays_.in(start.v1), *v2 = arrays_.in(start.v2),
            *metric = arrays_.table(raising_metric(n_, q12), "metric");
    T *up1 = arrays_.out(velocity_count(n_)), *up2 = arrays_.out(velocity_count(n_));
    return [=, this] {
      const Scope scope("contravariant");
      kernels_.contravariant(tiles(n_), v1, v2, up1, up2, metric, n_);
    };
  }

  Launches divergence(const ComponentInputs& inputs) {
    const T *u1 = arrays_.in(inputs.u1), *u2 = arrays_.in(inputs.u2);
    T* sum = arrays_.out(height_count(n_));
    return [=, this] {
      const Scope scope("divergence");
      kernels_.divergence(one_thread_per_vertex(n_), u1, u2, sum, n_, T(over_dx_));
    };
  }

  Launches penalise(const State& start, const ComponentInputs& inputs) {
    const T *v1 = arrays_.in(start.v1), *v2 = arrays_.in(start.v2), *u1 = arrays_.in(inputs.u1),
            *u2 = arrays_.in(inputs.u2), *tangents = arrays_.table(axis(n_).tan_vertices, "border");
    T* sum = arrays_.out(inputs.divergence);
    const std::int32_t* meets =
        neighbours_.emplace_back(backend_, meeting_sides(), "neighbours").data();
    return [=, this] {
      const Scope scope("sat");
      kernels_.penalise(one_thread_per_border_point(n_), v1, v2, u1, u2, tangents, meets, sum, n_,
                        T(penalty * over_dx_));
    };
  }

  Backend& backend_;
  int n_;
  double over_dx_;
  OptimizedKernels<T> kernels_;
  PartArrays<T> arrays_;
  std::vector<Buffer<std::int32_t>> neighbours_ = {};
  Launches launch_;
};

}  // namespace

template <class T>
std::unique_ptr<Computation> make_optimized_part(Backend& backend, const Problem& problem) {
  return std::make_unique<OptimizedPart<T>>(backend, problem);
}
template std::unique_ptr<Computation> make_optimized_part<float>(Backend&, const Problem&);
template std::unique_ptr<Computation> make_optimized_part<double>(Backend&, const Problem&);

}  // namespace holdfast::cubed_sphere_swe
