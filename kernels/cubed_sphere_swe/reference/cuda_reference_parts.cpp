// SPDX-License-Identifier: Apache-2.0
// The parts of a tendency in the reference variant, each alone.
#include <algorithm>
#include <functional>
#include <initializer_list>
#include <memory>
#include <vector>

#include "cubed_sphere_swe/problem/component_inputs.hpp"
#include "cubed_sphere_swe/problem/cuda_parts.hpp"
#include "cubed_sphere_swe/reference/reference_parts.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::cubed_sphere_swe {

Needs needs(const Component& part) {
  using Kind = Component::Kind;
  const auto wants = [&](Operator op, std::initializer_list<Kind> kinds) {
    if (part.kind == Kind::operator_apply) return part.op == op;
    return std::find(kinds.begin(), kinds.end(), part.kind) != kinds.end();
  };
  return {.dcv = wants(Operator::dcv, {Kind::divergence}),
          .dvc = wants(Operator::dvc, {Kind::gradient}),
          .pcv = wants(Operator::pcv, {Kind::contravariant, Kind::sat}),
          .pvc = wants(Operator::pvc, {Kind::contravariant}),
          .contravariant = part.kind == Kind::contravariant,
          .sat = part.kind == Kind::sat,
          .j = false,
          .products = part.kind != Kind::project && part.kind != Kind::sat};
}

namespace {

template <class T>
class ReferencePart final : public Computation {
 public:
  ReferencePart(Backend& backend, const Problem& problem)
      : n_(problem.n),
        kernels_(*backend.compiler),
        parts_(backend, kernels_, n_, problem.options, needs(problem.component)),
        arrays_(backend),
        launch_(prepared(problem)) {}

  void step() override { launch_(); }
  std::vector<double> result() override { return arrays_.result(); }
  void start_again(int input) override { arrays_.start_again(input); }

 private:
  using Launches = std::function<void()>;

  // Uploads the inputs and returns the launches of the part.
  Launches prepared(const Problem& problem) {
    const Component& part = problem.component;
    const State& start = problem.start;
    const auto inputs = [&] { return component_inputs(n_, problem.options.q12, start); };
    switch (part.kind) {
      case Component::Kind::operator_apply:
        return operator_apply(start, part);
      case Component::Kind::project: {
        const T* h = arrays_.in(start.h);
        T* projected = arrays_.out(height_count(n_));
        return [=, this] { parts_.project(h, projected); };
      }
      case Component::Kind::gradient: {
        const T* projected = arrays_.in(project(n_, start.h));
        T* dv1 = arrays_.out(velocity_count(n_));
        T* dv2 = part.components == 2 ? arrays_.out(velocity_count(n_)) : nullptr;
        return [=, this] { parts_.gradient(projected, dv1, dv2); };
      }
      case Component::Kind::contravariant: {
        const T *v1 = arrays_.in(start.v1), *v2 = arrays_.in(start.v2);
        T *up1 = arrays_.out(velocity_count(n_)), *up2 = arrays_.out(velocity_count(n_));
        return [=, this] { parts_.contravariant(v1, v2, up1, up2); };
      }
      case Component::Kind::divergence: {
        const ComponentInputs made = inputs();
        const T *u1 = arrays_.in(made.u1), *u2 = arrays_.in(made.u2);
        T* sum = arrays_.out(height_count(n_));
        return [=, this] { parts_.divergence(u1, u2, sum); };
      }
      case Component::Kind::sat:
        return penalise(start, inputs());
    }
    return {};
  }

  Launches operator_apply(const State& start, const Component& part) {
    const T* field = arrays_.in(operand(start, part.op, part.direction));
    T* out = arrays_.out(onto_vertices(part.op) ? height_count(n_) : velocity_count(n_));
    return [=, this] {
      const Scope scope("operator_apply");
      parts_.apply(part.op, part.direction, field, out);
    };
  }

  Launches penalise(const State& start, const ComponentInputs& made) {
    const typename ReferenceParts<T>::Flow flow = {arrays_.in(start.v1), arrays_.in(start.v2),
                                                   arrays_.in(made.u1), arrays_.in(made.u2)};
    T* sum = arrays_.out(made.divergence);
    return [=, this] { parts_.penalise(flow, sum); };
  }

  int n_;
  Kernels<T> kernels_;
  ReferenceParts<T> parts_;
  PartArrays<T> arrays_;
  Launches launch_;
};

}  // namespace

template <class T>
std::unique_ptr<Computation> make_reference_part(Backend& backend, const Problem& problem) {
  return std::make_unique<ReferencePart<T>>(backend, problem);
}
template std::unique_ptr<Computation> make_reference_part<float>(Backend&, const Problem&);
template std::unique_ptr<Computation> make_reference_part<double>(Backend&, const Problem&);

}  // namespace holdfast::cubed_sphere_swe
