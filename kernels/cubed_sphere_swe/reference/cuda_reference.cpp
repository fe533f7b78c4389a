// SPDX-License-Identifier: Apache-2.0
// The reference variant on a device: dense operators, one launch per array update (reference.cu). A
// tendency is 219 launches and 2 copies, a step 888 and 8.
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cubed_sphere_swe/problem/cuda_parts.hpp"
#include "cubed_sphere_swe/problem/mass_log.hpp"
#include "cubed_sphere_swe/reference/reference_parts.hpp"
#include "cubed_sphere_swe/variants.hpp"

namespace holdfast::cubed_sphere_swe {
namespace {

// Computes dh, dv1, dv2: the parts, and the fields between them.
template <class T>
class Tendency {
 public:
  Tendency(Backend& backend, const Kernels<T>& kernels, int n, const Options& options)
      : kernels_(&kernels),
        vertices_(static_cast<int>(height_count(n))),
        parts_(backend, kernels, n, options, {}),
        hp_(backend, height_count(n), "intermediates"),
        divergence_(backend, height_count(n), "intermediates"),
        raised1_(backend, velocity_count(n), "intermediates"),
        raised2_(backend, velocity_count(n), "intermediates"),
        u1_(backend, velocity_count(n), "intermediates"),
        u2_(backend, velocity_count(n), "intermediates") {}

  void operator()(const Fields<T>& state, const Fields<T>& tendency) {
    T *u1 = u1_.data(), *u2 = u2_.data(), *divergence = divergence_.data();
    parts_.project(state.h, hp_.data());
    parts_.gradient(hp_.data(), tendency.v1, tendency.v2);
    parts_.contravariant(state.v1, state.v2, raised1_.data(), raised2_.data());
    parts_.mass_flux(raised1_.data(), raised2_.data(), u1, u2);
    parts_.divergence(u1, u2, divergence);
    parts_.penalise({state.v1, state.v2, u1, u2}, divergence);
    kernels_->height_tendency(one_thread_each(vertices_), j(), divergence, vertices_ / panels,
                              vertices_);
    parts_.project(divergence, tendency.h);
  }

  const T* j() const { return parts_.j(); }

 private:
  const Kernels<T>* kernels_;
  int vertices_;  // elements of h
  ReferenceParts<T> parts_;
  Buffer<T> hp_, divergence_;              // [6, n+1, n+1]
  Buffer<T> raised1_, raised2_, u1_, u2_;  // [6, n, n+1] or [6, n+1, n]
};

template <class T>
class Reference final : public Computation {
 public:
  Reference(Backend& backend, const Problem& problem)
      : device_(*backend.device),
        n_(problem.n),
        unit_(problem.unit),
        dt_(problem.dt),
        begin_(problem.begin),
        steps_(problem.unit == Unit::loop ? problem.options.steps : 1),
        launch_(unit_ == Unit::loop ? problem.options.launch : Launch::host),
        diagnostics_(problem.options.diagnostics),
        kernels_(*backend.compiler),
        tendency_(backend, kernels_, n_, problem.options),
        state_(backend, joined<T>(problem.start), "state") {
    // Either the tendency, or k1 .. k4 and a stage's state.
    const int others = unit_ == Unit::rhs ? 1 : 5;
    for (int i = 0; i < others; ++i) others_.emplace_back(backend, state_count(n_), "stages");
    if (unit_ != Unit::loop) return;
    start_mass_ = mass_of(n_, joined<T>(problem.start));
    if (diagnostics_ != Diagnostics::none) {
      mass_.emplace(backend, n_, steps_, mass_shape(device_, n_).grid.x);
      enqueue_mass();
      after_mass(1);
    }
    if (launch_ == Launch::host) return;
    // cuBLAS loads a kernel at its first use, which must not fall into the capture.
    tendency_(fields(state_), fields(others_[0]));
    graph_ = device_.capture([&] { enqueue_steps(launch_ == Launch::graph ? steps_ : 1); });
  }

  void step() override {
    if (unit_ == Unit::rhs) {
      tendency_(fields(state_), fields(others_[0]));
    } else if (launch_ == Launch::graph) {
      device_.replay(*graph_);
      after_mass(steps_);
    } else {
      for (int i = 0; i < steps_; ++i) {
        if (graph_)
          device_.replay(*graph_);
        else
          enqueue_steps(1);
        after_mass(1);
      }
    }
  }

  void start_again(int input) override { state_.upload(joined<T>(begin_(input))); }

  std::vector<double> result() override {
    const std::vector<T> values = (unit_ == Unit::rhs ? others_[0] : state_).to_host();
    return {values.begin(), values.end()};
  }

  std::vector<NamedReading> readings() override {
    if (unit_ != Unit::loop || !device_.executes()) return {};
    return {{"mass_drift",
             mass_ ? mass_->drift() : mass_drift({start_mass_, mass_of(n_, state_.to_host())})}};
  }

 private:
  Fields<T> fields(const Buffer<T>& row) const { return {row, n_}; }

  void enqueue_steps(int steps) {
    const Fields<T> y = fields(state_), k1 = fields(others_[0]), k2 = fields(others_[1]),
                    k3 = fields(others_[2]), k4 = fields(others_[3]), stage = fields(others_[4]);
    for (int i = 0; i < steps; ++i) {
      tendency_(y, k1);
      advance(y, k1, stage, dt_ / 2);
      tendency_(stage, k2);
      advance(y, k2, stage, dt_ / 2);
      tendency_(stage, k3);
      advance(y, k3, stage, dt_);
      tendency_(stage, k4);
      combine(y.h, k1.h, k2.h, k3.h, k4.h, height_count(n_));
      combine(y.v1, k1.v1, k2.v1, k3.v1, k4.v1, velocity_count(n_));
      combine(y.v2, k1.v2, k2.v2, k3.v2, k4.v2, velocity_count(n_));
      if (mass_) enqueue_mass();
    }
  }

  void enqueue_mass() {
    const Scope scope("mass");
    kernels_.mass(mass_shape(device_, n_), state_.data(), tendency_.j(), mass_->history(), n_);
  }
  void after_mass(int masses) {
    if (!mass_) return;
    mass_->recorded(masses);
    if (diagnostics_ == Diagnostics::host) mass_->read_newest();
  }

  // out = y + c k.
  void advance(const Fields<T>& y, const Fields<T>& k, const Fields<T>& out, double c) {
    const Scope scope("stage");
    const auto field = [&](const T* from, const T* slope, T* to, std::size_t count) {
      kernels_.advance(one_thread_each(count), from, slope, to, T(c), static_cast<int>(count));
    };
    field(y.h, k.h, out.h, height_count(n_));
    field(y.v1, k.v1, out.v1, velocity_count(n_));
    field(y.v2, k.v2, out.v2, velocity_count(n_));
  }
  void combine(T* y, const T* k1, const T* k2, const T* k3, const T* k4, std::size_t count) {
    const Scope scope("stage");
    kernels_.combine(one_thread_each(count), k1, k2, k3, k4, y, T(dt_ / 6),
                     static_cast<int>(count));
  }

  Device& device_;
  int n_;
  Unit unit_;
  double dt_;
  std::function<State(int)> begin_;
  int steps_;
  Launch launch_;
  Diagnostics diagnostics_;
  Kernels<T> kernels_;
  Tendency<T> tendency_;
  Buffer<T> state_;
  std::vector<Buffer<T>> others_ = {};
  std::optional<Graph> graph_ = {};  // of one step or of all
  std::optional<MassLog> mass_ = {};
  double start_mass_ = 0;
};

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): a VariantFactory
std::unique_ptr<Computation> make_cuda_reference(Backend& backend, Problem problem) {
  const bool single = problem.options.precision == Precision::f32;
  if (problem.unit == Unit::component)
    return single ? make_reference_part<float>(backend, problem)
                  : make_reference_part<double>(backend, problem);
  if (single) return std::make_unique<Reference<float>>(backend, problem);
  return std::make_unique<Reference<double>>(backend, problem);
}

}  // namespace holdfast::cubed_sphere_swe
