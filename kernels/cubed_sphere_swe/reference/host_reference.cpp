// SPDX-License-Identifier: Apache-2.0
// The published formulation, operation by operation: dense operators, one edge at a time, classical
// RK4 that keeps its four tendencies. The baseline of `speedup`.
#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "cubed_sphere_swe/problem/host_components.hpp"
#include "cubed_sphere_swe/problem/host_mass.hpp"
#include "cubed_sphere_swe/reference/host_dense.hpp"
#include "cubed_sphere_swe/variants.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA {
namespace {

// h: [6, n+1, n+1]; v1: [6, n, n+1]; v2: [6, n+1, n].
template <class T>
struct Fields {
  Buffer<T> h, v1, v2;
  Fields(Backend& backend, int n, const char* site)
      : h(backend, height_count(n), site),
        v1(backend, velocity_count(n), site),
        v2(backend, velocity_count(n), site) {}
  Fields(Backend& backend, const State& state, const char* site)
      : h(table<T>(backend, state.h, site)),
        v1(table<T>(backend, state.v1, site)),
        v2(table<T>(backend, state.v2, site)) {}
};

template <class T>
class HostReference final : public Computation {
 public:
  HostReference(Backend& backend, const Problem& problem)
      : HostReference(backend, problem, metric_tables(problem.n, problem.options.q12)) {}

  void step() override {
    if (unit_ == Unit::rhs) return evaluate(y_, tendency_[0]);
    if (unit_ == Unit::rk4_step) return advance();
    const Scope scope("loop");
    for (int k = 0; k < steps_; ++k) {
      advance();
      if (watch_) weigh(k);
    }
    if (watch_) watch_->judge(steps_);
  }

  void start_again(int input) override {
    const State start = begin_(input);
    put(start.h, y_.h);
    put(start.v1, y_.v1);
    put(start.v2, y_.v2);
  }

  std::vector<double> result() override {
    const Fields<T>& from = unit_ == Unit::rhs ? tendency_[0] : y_;
    std::vector<double> all;
    for (const auto* field : {&from.h, &from.v1, &from.v2})
      append(all, field->data(), field->size());
    return all;
  }

  // Without diagnostics the mass is only computed at the end.
  std::vector<NamedReading> readings() override {
    if (unit_ != Unit::loop) return {};
    return {{"mass_drift",
             watch_ ? watch_->drift() : relative_drift(mass({n_}, height()), start_mass_)}};
  }

  Intermediates intermediates() {
    Intermediates all;
    project_one_by_one(n_, y_.h.data(), hp_.data());
    append(all.projected, hp_.data(), hp_.size());
    flux_of(y_);
    append(all.up1, up1_.data(), up1_.size());
    append(all.up2, up2_.data(), up2_.size());
    diverge();
    append(all.divergence, divergence_.data(), divergence_.size());
    for (const Edge& edge : edges()) {
      penalties_(products_, pcv_, edge, fluxes(y_), divergence_.data());
      append(all.consensus, penalties_.consensus(), static_cast<std::size_t>(n_) + 1);
    }
    append(all.penalised, divergence_.data(), divergence_.size());
    return all;
  }

 private:
  HostReference(Backend& backend, const Problem& problem, const MetricTables& tables)
      : unit_(problem.unit),
        n_(problem.n),
        steps_(problem.unit == Unit::loop ? problem.options.steps : 1),
        dt_(problem.dt),
        begin_(problem.begin),
        products_(backend),
        y_(backend, problem.start, "state"),
        tendency_{Fields<T>(backend, n_, "tendency"), Fields<T>(backend, n_, "tendency"),
                  Fields<T>(backend, n_, "tendency"), Fields<T>(backend, n_, "tendency")},
        stage_(backend, n_, "stages"),
        hp_(backend, height_count(n_), "work"),
        divergence_(backend, height_count(n_), "work"),
        unprojected_(backend, height_count(n_), "work"),
        up1_(backend, velocity_count(n_), "work"),
        up2_(backend, velocity_count(n_), "work"),
        u1_(backend, velocity_count(n_), "work"),
        u2_(backend, velocity_count(n_), "work"),
        dcv_(backend, Operator::dcv, n_),
        dvc_(backend, Operator::dvc, n_),
        pcv_(backend, Operator::pcv, n_),
        pvc_(backend, Operator::pvc, n_),
        inverse_j_(table<T>(backend, tables.inverse_j, "metric")),
        raise_index_(backend, n_, tables),
        penalties_(backend, n_, problem.options.q12) {
    if (unit_ != Unit::loop) return;
    start_mass_ = mass({n_}, height());
    if (problem.options.diagnostics != Diagnostics::none)
      watch_.emplace(backend, n_, steps_, panels, y_.h.data());
  }

  std::vector<double> height() const { return {y_.h.data(), y_.h.data() + y_.h.size()}; }

  FluxAndVelocity<T> fluxes(const Fields<T>& y) const {
    return {u1_.data(), u2_.data(), y.v1.data(), y.v2.data()};
  }
  void flux_of(const Fields<T>& y) {
    raise_index_(products_, pcv_, pvc_, y.v1.data(), y.v2.data(), up1_.data(), up2_.data());
    raise_index_.flux(up1_.data(), up2_.data(), u1_.data(), u2_.data());
  }
  void diverge() {
    dcv_.along_x1(products_, u1_.data(), divergence_.data());
    dcv_.along_x2(products_, u2_.data(), divergence_.data(), 1, 1);
  }

  // k = L y
  void evaluate(const Fields<T>& y, Fields<T>& k) {
    const Scope rhs("rhs");
    {
      const Scope scope("project");
      project_one_by_one(n_, y.h.data(), hp_.data());
    }
    {
      const Scope scope("gradient");
      dvc_.along_x1(products_, hp_.data(), k.v1.data(), -gravity);
      dvc_.along_x2(products_, hp_.data(), k.v2.data(), -gravity);
    }
    {
      const Scope scope("contravariant");
      flux_of(y);
    }
    {
      const Scope scope("divergence");
      diverge();
    }
    {
      const Scope scope("sat");
      for (const Edge& edge : edges())
        penalties_(products_, pcv_, edge, fluxes(y), divergence_.data());
    }
    const Scope scope("project");
    for_each_on_panels<T>((n_ + 1) * (n_ + 1), [out = unprojected_.data(), div = divergence_.data(),
                                                inverse_j = inverse_j_.data()](int i, int m) {
      out[i] = T(-mean_depth) * inverse_j[m] * div[i];
    });
    project_one_by_one(n_, unprojected_.data(), k.h.data());
  }

  // to = y + factor k, field by field
  void combine(double factor, const Fields<T>& k, Fields<T>& to) {
    const Scope scope("combine");
    const auto field = [factor](const Buffer<T>& y, const Buffer<T>& slope, Buffer<T>& out) {
      for_each<T>(y.size(), [f = static_cast<T>(factor), a = y.data(), b = slope.data(),
                             c = out.data()](std::size_t i) { c[i] = a[i] + f * b[i]; });
    };
    field(y_.h, k.h, to.h);
    field(y_.v1, k.v1, to.v1);
    field(y_.v2, k.v2, to.v2);
  }

  void advance() {
    const Scope scope("rk4_step");
    auto& [k1, k2, k3, k4] = tendency_;
    evaluate(y_, k1);
    combine(dt_ / 2, k1, stage_);
    evaluate(stage_, k2);
    combine(dt_ / 2, k2, stage_);
    evaluate(stage_, k3);
    combine(dt_, k3, stage_);
    evaluate(stage_, k4);
    finish(&Fields<T>::h);
    finish(&Fields<T>::v1);
    finish(&Fields<T>::v2);
  }
  void finish(Buffer<T> Fields<T>::*field) {
    const Scope scope("combine");
    for_each<T>((y_.*field).size(),
                [sixth = static_cast<T>(dt_ / 6), y = (y_.*field).data(),
                 a = (tendency_[0].*field).data(), b = (tendency_[1].*field).data(),
                 c = (tendency_[2].*field).data(), d = (tendency_[3].*field).data()](
                    std::size_t i) { y[i] += sixth * (a[i] + 2 * b[i] + 2 * c[i] + d[i]); });
  }

  void weigh(int step) {
    const Scope scope("mass");
#pragma omp parallel for schedule(static) \
    num_threads(host_limits().threads) if (y_.h.size() >= worth_sharing)
    for (int panel = 0; panel < panels; ++panel)
      watch_->form(step, panel, y_.h.data(), panel, 0, n_ + 1);
  }

  Unit unit_;
  int n_, steps_;
  double dt_;
  std::function<State(int)> begin_;
  Products<T> products_;
  Fields<T> y_;
  std::array<Fields<T>, 4> tendency_;
  Fields<T> stage_;
  Buffer<T> hp_, divergence_, unprojected_;  // [6, n+1, n+1]
  Buffer<T> up1_, up2_, u1_, u2_;            // at v1 or v2
  DenseOperator<T> dcv_, dvc_, pcv_, pvc_;
  Buffer<T> inverse_j_;
  RaiseIndex<T> raise_index_;
  Penalties<T> penalties_;
  double start_mass_ = 0;
  std::optional<MassWatch<T>> watch_ = {};
};

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): a VariantFactory
std::unique_ptr<Computation> make_host_reference(Backend& backend, Problem problem) {
  if (problem.unit == Unit::component) return make_host_reference_component(backend, problem);
  if (problem.options.precision == Precision::f32)
    return std::make_unique<HostReference<float>>(backend, problem);
  return std::make_unique<HostReference<double>>(backend, problem);
}

Intermediates reference_intermediates(Backend& backend, const Problem& problem) {
  return HostReference<double>(backend, problem).intermediates();
}

}  // namespace holdfast::cubed_sphere_swe::HOLDFAST_ISA
