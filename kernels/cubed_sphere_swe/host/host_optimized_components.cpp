// SPDX-License-Identifier: Apache-2.0
// The parts of a tendency in optimized form: banded rows as vectors, all panels and both components
// of a field in one pass, border points batched through the tables of the sphere. A whole step does
// not use them: it computes everything in one sweep (host_sweep.hpp).
#include "cubed_sphere_swe/problem/host_components.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "cubed_sphere_swe/host/host_penalty.hpp"
#include "cubed_sphere_swe/host/host_shared.hpp"
#include "cubed_sphere_swe/problem/component_inputs.hpp"

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {
namespace {

template <class P>
class OperatorApply final : public ByRows<P> {
 public:
  using T = P::Value;
  OperatorApply(Backend& backend, const Problem& problem)
      : ByRows<P>(backend, problem, 0),
        op_(problem.component.op),
        onto_vertices_(onto_vertices(op_)),
        direction_(problem.component.direction),
        scale_(static_cast<T>(op_ == Operator::dcv || op_ == Operator::dvc ? 1 / axis(n_).dx : 1)),
        dcv_(to_vertices<P>(Operator::dcv, operators.dcv, n_)),
        pcv_(to_vertices<P>(Operator::pcv, operators.pcv, n_)),
        dvc_(to_centers<P>(Operator::dvc, operators.dvc, n_)),
        pvc_(to_centers<P>(Operator::pvc, operators.pvc, n_)) {
    in_.emplace_back(backend, operand(problem.start, op_, direction_), "inputs");
    out_.emplace_back(backend, onto_vertices_ ? height_count(n_) : velocity_count(n_), "result");
  }

 private:
  using ByRows<P>::n_;
  using ByRows<P>::in_;
  using ByRows<P>::out_;

  void rows(int panel, int begin, int end, T*) override {
    if (direction_ == 1)
      across(panel, begin, std::min(end, onto_vertices_ ? n_ + 1 : n_));
    else if (onto_vertices_)
      along(op_ == Operator::dcv ? dcv_ : pcv_, panel, begin, end, n_, n_ + 1);
    else
      along(op_ == Operator::dvc ? dvc_ : pvc_, panel, begin, end, n_ + 1, n_);
  }

  void across(int panel, int begin, int end) {
    const int rows_in = onto_vertices_ ? n_ : n_ + 1, rows_out = onto_vertices_ ? n_ + 1 : n_;
    const auto row_at = [&](int k) { return in_[0].data() + RowOf{rows_in, n_ + 1}(panel, k); };
    for (int i = begin; i < end; ++i) {
      T* out = out_[0].data() + RowOf{rows_out, n_ + 1}(panel, i);
      const auto taps =
          onto_vertices_
              ? vertex_row<T>(op_ == Operator::dcv ? operators.dcv : operators.pcv, i, n_, row_at)
              : center_row<T>(op_ == Operator::dvc ? operators.dvc : operators.pvc, i, n_, row_at);
      for_columns<P>(n_ + 1, [&](int j, auto) { P::store(out + j, scale_ * apply<P>(taps, j)); });
    }
  }
  template <class Along>
  void along(const Along& op, int panel, int begin, int end, int columns_in, int columns_out) {
    for (int i = begin; i < end; ++i) {
      const T* in = in_[0].data() + RowOf{n_ + 1, columns_in}(panel, i);
      T* out = out_[0].data() + RowOf{n_ + 1, columns_out}(panel, i);
      for_columns<P>(columns_out, [&](int j, auto part) {
        P::store(out + j, scale_ * apply<part.value>(op, in + j));
      });
    }
  }

  Operator op_;
  bool onto_vertices_;
  int direction_;
  T scale_;
  ToVertices<P> dcv_, pcv_;
  ToCenters<P> dvc_, pvc_;
};

template <class P>
class Project final : public ByRows<P> {
 public:
  using T = P::Value;
  Project(Backend& backend, const Problem& problem)
      : ByRows<P>(backend, problem, 0), neighbour_(backend, neighbours(n_), "neighbours") {
    in_.emplace_back(backend, problem.start.h, "inputs");
    out_.emplace_back(backend, height_count(n_), "result");
  }

 private:
  using ByRows<P>::n_;
  using ByRows<P>::in_;
  using ByRows<P>::out_;

  void rows(int panel, int begin, int end, T*) override {
    for (int i = begin; i < end; ++i)
      load_projected<P>(in_[0].data(), neighbour_.data(), n_, panel, i,
                        out_[0].data() + this->at_h(panel, i));
  }

  Buffer<std::int32_t> neighbour_;
};

template <class P>
class Gradient final : public ByRows<P> {
 public:
  using T = P::Value;
  Gradient(Backend& backend, const Problem& problem)
      : ByRows<P>(backend, problem, 0),
        scale_(static_cast<T>(-gravity / axis(n_).dx)),
        dvc_(to_centers<P>(Operator::dvc, operators.dvc, n_)) {
    in_.emplace_back(backend, project(n_, problem.start.h), "inputs");
    for (int k = 0; k < problem.component.components; ++k)
      out_.emplace_back(backend, velocity_count(n_), "result");
  }

 private:
  using ByRows<P>::n_;
  using ByRows<P>::in_;
  using ByRows<P>::out_;

  void rows(int panel, int begin, int end, T*) override {
    const auto hp = [&](int k) { return in_[0].data() + this->at_h(panel, k); };
    for (int i = begin; i < end; ++i) {
      if (i < n_) {
        T* dv1 = out_[0].data() + this->at_v1(panel, i);
        const auto taps = center_row<T>(operators.dvc, i, n_, hp);
        for_columns<P>(n_ + 1, [&](int j, auto) { P::store(dv1 + j, scale_ * apply<P>(taps, j)); });
      }
      if (out_.size() == 1) continue;
      T* dv2 = out_[1].data() + this->at_v2(panel, i);
      for_columns<P>(n_, [&](int j, auto part) {
        P::store(dv2 + j, scale_ * apply<part.value>(dvc_, hp(i) + j));
      });
    }
  }

  T scale_;
  ToCenters<P> dvc_;
};

template <class P>
class Contravariant final : public ByRows<P> {
 public:
  using T = P::Value;
  Contravariant(Backend& backend, const Problem& problem)
      : Contravariant(backend, problem, metric_tables(problem.n, problem.options.q12)) {}

 private:
  using ByRows<P>::n_;
  using ByRows<P>::in_;
  using ByRows<P>::out_;

  Contravariant(Backend& backend, const Problem& problem, MetricTables tables)
      : ByRows<P>(backend, problem, Ring<T>::rows + 1),
        jq12_(table<T>(backend, tables.jq12, "metric")),
        q11_(table<T>(backend, tables.q11, "metric")),
        q22_(table<T>(backend, tables.q22, "metric")),
        inverse_j1_(table<T>(backend, inverse(std::move(tables.j1)), "metric")),
        inverse_j2_(table<T>(backend, inverse(std::move(tables.j2)), "metric")),
        pcv_(to_vertices<P>(Operator::pcv, operators.pcv, n_)),
        pvc_(to_centers<P>(Operator::pvc, operators.pvc, n_)) {
    in_.emplace_back(backend, problem.start.v1, "inputs");
    in_.emplace_back(backend, problem.start.v2, "inputs");
    out_.emplace_back(backend, velocity_count(n_), "result");
    out_.emplace_back(backend, velocity_count(n_), "result");
  }
  static std::vector<double> inverse(std::vector<double> values) {
    for (double& value : values) value = 1 / value;
    return values;
  }

  void rows(int panel, int begin, int end, T* scratch) override {
    const Ring<T> w2(scratch, row_pitch<T>(n_));
    T* w1 = scratch + Ring<T>::rows * row_pitch<T>(n_) + guard<T>;
    int next = -1;  // row of w2; -1 before the first
    for (int i = begin; i < end; ++i) {
      if (i < n_) {
        const int first = vc_start(i, n_);
        for (next = next < 0 ? first : next; next <= first + 4; ++next)
          cross2(panel, next, w2[next]);
        first_component(panel, i, w2);
      }
      second_component(panel, i, w1);
    }
  }

  // w2 = J Q12 (Pcv v2 along x2)
  void cross2(int panel, int i, T* w2) {
    const T* v2 = in_[1].data() + this->at_v2(panel, i);
    const T* jq12 = jq12_.data() + this->at_h(0, i);
    for_columns<P>(n_ + 1, [&](int j, auto part) {
      P::store(w2 + j, P::load(jq12 + j) * apply<part.value>(pcv_, v2 + j));
    });
  }

  // v^1 = Q11 v1 + (Pvc w2 along x1) / J
  void first_component(int panel, int i, const Ring<T>& w2) {
    const T* v1 = in_[0].data() + this->at_v1(panel, i);
    const T *q11 = q11_.data() + this->at_v1(0, i),
            *inverse_j = inverse_j1_.data() + this->at_v1(0, i);
    T* up1 = out_[0].data() + this->at_v1(panel, i);
    const auto taps = center_row<T>(operators.pvc, i, n_, [&](int k) { return w2[k]; });
    for_columns<P>(n_ + 1, [&](int j, auto) {
      P::store(up1 + j,
               P::load(q11 + j) * P::load(v1 + j) + P::load(inverse_j + j) * apply<P>(taps, j));
    });
  }

  // w1 = J Q12 (Pcv v1 along x1); v^2 = Q22 v2 + (Pvc w1 along x2) / J
  void second_component(int panel, int i, T* w1) {
    const T* jq12 = jq12_.data() + this->at_h(0, i);
    const auto taps = vertex_row<T>(operators.pcv, i, n_,
                                    [&](int k) { return in_[0].data() + this->at_v1(panel, k); });
    for_columns<P>(n_ + 1,
                   [&](int j, auto) { P::store(w1 + j, P::load(jq12 + j) * apply<P>(taps, j)); });
    const T* v2 = in_[1].data() + this->at_v2(panel, i);
    const T *q22 = q22_.data() + this->at_v2(0, i),
            *inverse_j = inverse_j2_.data() + this->at_v2(0, i);
    T* up2 = out_[1].data() + this->at_v2(panel, i);
    for_columns<P>(n_, [&](int j, auto part) {
      P::store(up2 + j, P::load(q22 + j) * P::load(v2 + j) +
                            P::load(inverse_j + j) * apply<part.value>(pvc_, w1 + j));
    });
  }

  Buffer<T> jq12_, q11_, q22_, inverse_j1_, inverse_j2_;
  ToVertices<P> pcv_;
  ToCenters<P> pvc_;
};

template <class P>
class Divergence final : public ByRows<P> {
 public:
  using T = P::Value;
  Divergence(Backend& backend, const Problem& problem)
      : ByRows<P>(backend, problem, 0),
        scale_(static_cast<T>(1 / axis(n_).dx)),
        dcv_(to_vertices<P>(Operator::dcv, operators.dcv, n_)) {
    const ComponentInputs inputs = component_inputs(n_, problem.options.q12, problem.start);
    in_.emplace_back(backend, inputs.u1, "inputs");
    in_.emplace_back(backend, inputs.u2, "inputs");
    out_.emplace_back(backend, height_count(n_), "result");
  }

 private:
  using ByRows<P>::n_;
  using ByRows<P>::in_;
  using ByRows<P>::out_;

  void rows(int panel, int begin, int end, T*) override {
    for (int i = begin; i < end; ++i) {
      T* div = out_[0].data() + this->at_h(panel, i);
      const T* u2 = in_[1].data() + this->at_v2(panel, i);
      const auto taps = vertex_row<T>(operators.dcv, i, n_,
                                      [&](int k) { return in_[0].data() + this->at_v1(panel, k); });
      for_columns<P>(n_ + 1, [&](int j, auto part) {
        P::store(div + j, scale_ * (apply<P>(taps, j) + apply<part.value>(dcv_, u2 + j)));
      });
    }
  }

  T scale_;
  ToVertices<P> dcv_;
};

template <class P>
std::unique_ptr<Computation> make(Backend& backend, const Problem& problem) {
  switch (problem.component.kind) {
    case Component::Kind::operator_apply:
      return std::make_unique<OperatorApply<P>>(backend, problem);
    case Component::Kind::project:
      return std::make_unique<Project<P>>(backend, problem);
    case Component::Kind::gradient:
      return std::make_unique<Gradient<P>>(backend, problem);
    case Component::Kind::contravariant:
      return std::make_unique<Contravariant<P>>(backend, problem);
    case Component::Kind::divergence:
      return std::make_unique<Divergence<P>>(backend, problem);
    case Component::Kind::sat:
      return std::make_unique<Penalty<P>>(backend, problem);
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Computation> make_host_optimized_component(Backend& backend, Problem problem) {
  return with_pack(problem.options.precision, problem.n,
                   [&]<class P>(P) { return make<P>(backend, problem); });
}

}  // namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA
