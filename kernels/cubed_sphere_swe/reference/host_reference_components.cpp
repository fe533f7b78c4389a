// SPDX-License-Identifier: Apache-2.0
// The parts of a tendency as the reference computes them, each with only the memory it needs.
#include <vector>

#include "cubed_sphere_swe/problem/component_inputs.hpp"
#include "cubed_sphere_swe/problem/host_components.hpp"
#include "cubed_sphere_swe/problem/turns.hpp"
#include "cubed_sphere_swe/reference/host_dense.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {
namespace {

template <class T>
class Outputs : public Computation {
 public:
  std::vector<double> result() override {
    std::vector<double> all;
    for (const Buffer<T>& field : out_) append(all, field.data(), field.size());
    return all;
  }

 protected:
  template <class... Inputs>
  void turn(int number, Inputs&... inputs) {
    const double factor = turns_.to(number);
    (multiply(inputs, factor), ...);
  }

  std::vector<Buffer<T>> out_ = {};

 private:
  Turns turns_ = {};
};

template <class T>
class OperatorApply final : public Outputs<T> {
 public:
  OperatorApply(Backend& backend, const Problem& problem)
      : direction_(problem.component.direction),
        products_(backend),
        op_(backend, problem.component.op, problem.n),
        in_(table<T>(backend, operand(problem.start, problem.component.op, direction_), "inputs")) {
    this->out_.emplace_back(
        backend,
        onto_vertices(problem.component.op) ? height_count(problem.n) : velocity_count(problem.n),
        "result");
  }
  void start_again(int input) override { this->turn(input, in_); }
  void step() override {
    const Scope scope("operator_apply");
    if (direction_ == 1)
      op_.along_x1(products_, in_.data(), this->out_[0].data());
    else
      op_.along_x2(products_, in_.data(), this->out_[0].data());
  }

 private:
  int direction_;
  Products<T> products_;
  DenseOperator<T> op_;
  Buffer<T> in_;
};

template <class T>
class Project final : public Outputs<T> {
 public:
  Project(Backend& backend, const Problem& problem)
      : n_(problem.n), h_(table<T>(backend, problem.start.h, "inputs")) {
    this->out_.emplace_back(backend, height_count(n_), "result");
  }
  void start_again(int input) override { this->turn(input, h_); }
  void step() override {
    const Scope scope("project");
    project_one_by_one(n_, h_.data(), this->out_[0].data());
  }

 private:
  int n_;
  Buffer<T> h_;
};

template <class T>
class Gradient final : public Outputs<T> {
 public:
  Gradient(Backend& backend, const Problem& problem)
      : products_(backend),
        dvc_(backend, Operator::dvc, problem.n),
        hp_(table<T>(backend, project(problem.n, problem.start.h), "inputs")) {
    for (int k = 0; k < problem.component.components; ++k)
      this->out_.emplace_back(backend, velocity_count(problem.n), "result");
  }
  void start_again(int input) override { this->turn(input, hp_); }
  void step() override {
    const Scope scope("gradient");
    dvc_.along_x1(products_, hp_.data(), this->out_[0].data(), -gravity);
    if (this->out_.size() == 2)
      dvc_.along_x2(products_, hp_.data(), this->out_[1].data(), -gravity);
  }

 private:
  Products<T> products_;
  DenseOperator<T> dvc_;
  Buffer<T> hp_;
};

template <class T>
class Contravariant final : public Outputs<T> {
 public:
  Contravariant(Backend& backend, const Problem& problem)
      : products_(backend),
        pcv_(backend, Operator::pcv, problem.n),
        pvc_(backend, Operator::pvc, problem.n),
        raise_index_(backend, problem.n, metric_tables(problem.n, problem.options.q12)),
        v1_(table<T>(backend, problem.start.v1, "inputs")),
        v2_(table<T>(backend, problem.start.v2, "inputs")) {
    for (int k = 0; k < 2; ++k)
      this->out_.emplace_back(backend, velocity_count(problem.n), "result");
  }
  void start_again(int input) override { this->turn(input, v1_, v2_); }
  void step() override {
    const Scope scope("contravariant");
    raise_index_(products_, pcv_, pvc_, v1_.data(), v2_.data(), this->out_[0].data(),
                 this->out_[1].data());
  }

 private:
  Products<T> products_;
  DenseOperator<T> pcv_, pvc_;
  RaiseIndex<T> raise_index_;
  Buffer<T> v1_, v2_;
};

template <class T>
class Divergence final : public Outputs<T> {
 public:
  Divergence(Backend& backend, const Problem& problem)
      : Divergence(backend, problem.n,
                   component_inputs(problem.n, problem.options.q12, problem.start)) {}
  void start_again(int input) override { this->turn(input, u1_, u2_); }
  void step() override {
    const Scope scope("divergence");
    dcv_.along_x1(products_, u1_.data(), this->out_[0].data());
    dcv_.along_x2(products_, u2_.data(), this->out_[0].data(), 1, 1);
  }

 private:
  Divergence(Backend& backend, int n, const ComponentInputs& inputs)
      : products_(backend),
        dcv_(backend, Operator::dcv, n),
        u1_(table<T>(backend, inputs.u1, "inputs")),
        u2_(table<T>(backend, inputs.u2, "inputs")) {
    this->out_.emplace_back(backend, height_count(n), "result");
  }

  Products<T> products_;
  DenseOperator<T> dcv_;
  Buffer<T> u1_, u2_;
};

template <class T>
class Penalised final : public Outputs<T> {
 public:
  Penalised(Backend& backend, const Problem& problem)
      : Penalised(backend, problem,
                  component_inputs(problem.n, problem.options.q12, problem.start)) {}
  void start_again(int) override { put(start_, this->out_[0]); }
  void step() override {
    const Scope scope("sat");
    for (const Edge& edge : edges())
      penalties_(products_, pcv_, edge, {u1_.data(), u2_.data(), v1_.data(), v2_.data()},
                 this->out_[0].data());
  }

 private:
  Penalised(Backend& backend, const Problem& problem, const ComponentInputs& inputs)
      : products_(backend),
        pcv_(backend, Operator::pcv, problem.n),
        penalties_(backend, problem.n, problem.options.q12),
        u1_(table<T>(backend, inputs.u1, "inputs")),
        u2_(table<T>(backend, inputs.u2, "inputs")),
        v1_(table<T>(backend, problem.start.v1, "inputs")),
        v2_(table<T>(backend, problem.start.v2, "inputs")),
        start_(inputs.divergence) {
    this->out_.push_back(table<T>(backend, inputs.divergence, "result"));
  }

  Products<T> products_;
  DenseOperator<T> pcv_;
  Penalties<T> penalties_;
  Buffer<T> u1_, u2_, v1_, v2_;
  std::vector<double> start_;  // the sum to which penalties are added
};

template <class T>
std::unique_ptr<Computation> make(Backend& backend, const Problem& problem) {
  switch (problem.component.kind) {
    case Component::Kind::operator_apply:
      return std::make_unique<OperatorApply<T>>(backend, problem);
    case Component::Kind::project:
      return std::make_unique<Project<T>>(backend, problem);
    case Component::Kind::gradient:
      return std::make_unique<Gradient<T>>(backend, problem);
    case Component::Kind::contravariant:
      return std::make_unique<Contravariant<T>>(backend, problem);
    case Component::Kind::divergence:
      return std::make_unique<Divergence<T>>(backend, problem);
    case Component::Kind::sat:
      return std::make_unique<Penalised<T>>(backend, problem);
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Computation> make_host_reference_component(Backend& backend,
                                                           const Problem& problem) {
  if (problem.options.precision == Precision::f32) return make<float>(backend, problem);
  return make<double>(backend, problem);
}

}  // namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA
