// SPDX-License-Identifier: Apache-2.0
// Fits on the host: units that compare a galaxy's image with its data. Compiled per instruction
// set.
#pragma once

#include "galaxy_shear/data/data.hpp"
#include "galaxy_shear/host/on_host.hpp"
#include "galaxy_shear/problem/results.hpp"

namespace holdfast::galaxy_shear::HOLDFAST_ISA {

// A stamp compared with its data: the loss, and with `descends` its gradient by z.
template <class T>
class Compared : public OnHost<T> {
  using Base = OnHost<T>;

 public:
  Compared(Backend& backend, Problem problem)
      : Base(backend, std::move(problem)),
        data_(backend, readable<T>(Base::problem_.data), "inputs") {}

 protected:
  void compare_with(int input) { data_.upload(readable<T>(data_of(Base::problem_, input))); }

  template <bool descends>
  double compared(Lone<T>& galaxy, int b, const Point& point, double* gradient) const {
    galaxy.place(Base::model_, point.z);
    galaxy.generate();
    const T* data = data_.data() + b * Base::pixels();
    const T inverse_noise = static_cast<T>(Base::model_.inverse_noise);
    const int s = Base::plan_.s;
    Vector<T> squares = {};
    galaxy.template pass_rows<descends>([&](int i, int x0, Vector<T> pixels) {
      const Vector<T> found = inside<T>((pixels - load(data + i * s + x0)) * inverse_noise, x0, s);
      squares += found * found;
      return found * inverse_noise;
    });
    double loss = Base::model_.constant + point.prior;
    for (int k = 0; k < Lanes<T>::count; ++k) loss += double(squares[k]) / 2;
    if constexpr (descends) chain(Base::model_, point.z, galaxy.reduce(), gradient);
    return loss;
  }

 private:
  Buffer<T> data_;
};

// The units forward, svi_step and map.
template <class T>
class Fit final : public Compared<T> {
  using Base = Compared<T>;
  using Base::problem_, Base::model_;

 public:
  Fit(Backend& backend, Problem problem)
      : Base(backend, std::move(problem)),
        starts_(backend,
                problem_.unit == Unit::map ? padded_starts(problem_) : std::vector<double>(),
                "inputs: starts"),
        states_(backend, first_states(problem_), "state"),
        losses_(backend, std::size_t(problem_.batch) * problem_.steps, "result") {}

  void step() override {
    const Scope scope("fit");
    Base::each([&](Lone<T>& galaxy, int b) {
      FitState& state = states_.data()[b];
      if (problem_.unit == Unit::map) begin(model_, starts_.data() + b * 8, state);
      for (int t = 0; t < problem_.steps; ++t)
        losses_.data()[t * problem_.batch + b] = advanced(galaxy, b, state);
    });
  }
  void start_again(int input) override {
    states_.upload(first_states(problem_));
    Base::compare_with(input);
  }
  std::vector<double> result() override {
    return told(problem_, states_.to_host(), losses_.to_host());
  }

 private:
  double advanced(Lone<T>& galaxy, int b, FitState& state) const {
    if (problem_.sample) draw_latents(model_, b, state.u);
    const Point point = constrained(model_, state.u);
    double gradient[parameters];
    if (problem_.unit == Unit::forward)
      return Base::template compared<false>(galaxy, b, point, gradient);
    const double loss = Base::template compared<true>(galaxy, b, point, gradient);
    return advance(model_, point, admissible(point.z), loss, gradient, state);
  }

  Buffer<double> starts_;
  Buffer<FitState> states_;
  Buffer<double> losses_;
};

// The units vi_step and hmc_sample.
template <class T, class Walk>
class Walked final : public Compared<T> {
  using Base = Compared<T>;
  using Base::problem_, Base::model_;

 public:
  Walked(Backend& backend, Problem problem)
      : Base(backend, std::move(problem)),
        states_(backend, first_walks<Walk>(problem_), "state"),
        losses_(backend, problem_.batch, "result") {}

  void step() override {
    const Scope scope("walk");
    Base::each([&](Lone<T>& galaxy, int b) {
      for (int k = 0; k < evaluations_of(problem_.unit); ++k) {
        typename Walk::State& state = states_.data()[b];
        double u[parameters], gradient[parameters];
        const Point point = Walk::propose(model_, b, state, u);
        const double loss = Base::template compared<true>(galaxy, b, point, gradient);
        losses_.data()[b] =
            Walk::take(model_, b, point, u, admissible(point.z), loss, gradient, state);
      }
    });
  }
  void start_again(int) override { states_.upload(first_walks<Walk>(problem_)); }
  std::vector<double> result() override {
    return walked<Walk>(problem_, states_.to_host(), losses_.to_host());
  }

 private:
  Buffer<typename Walk::State> states_;
  Buffer<double> losses_;
};

}  // namespace holdfast::galaxy_shear::HOLDFAST_ISA
