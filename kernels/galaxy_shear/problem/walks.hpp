// SPDX-License-Identifier: Apache-2.0
// Walks, which evaluate a loss and its gradient repeatedly, for one galaxy, compiled by g++ and
// NVRTC: variational inference and Hamiltonian Monte Carlo. A walk proposes latents and takes the
// loss and gradient found there. Both walk over u, so that the density is that of u: it includes
// ln |dz / du|, which a fit does not.
#pragma once

#include "galaxy_shear/problem/sampling.hpp"

namespace holdfast::galaxy_shear {

HOLDFAST_BOTH inline double softplus(double x) {
  return (x > 0 ? x : 0) + log1p(exp(x > 0 ? -x : x));
}

// ln |dz / du| of latent k, and its slope.
struct Stretch {
  double value, slope;
};
HOLDFAST_BOTH inline Stretch stretch_of(const Prior& prior, double u) {
  if (prior.kind == Prior::log_normal) return {u, 1};
  if (prior.kind == Prior::normal) return {0, 0};
  return {log(prior.width) - softplus(u) - softplus(-u), 1 - 2 * sigmoid(u)};
}

// The loss in u, and its slopes.
HOLDFAST_BOTH inline double stretched(const Model& model, const Point& point, const double* u,
                                      double loss, const double* gradient, double* slopes) {
  for (int k = 0; k < model.latents; ++k) {
    const Stretch stretch = stretch_of(model.priors[k], u[k]);
    loss -= stretch.value;
    slopes[k] = by_latent(model, point, gradient, k) - stretch.slope;
  }
  return loss;
}

// A normal distribution of each latent, u = location + softplus(rho) noise; each evaluation makes a
// step of Adam on location and rho.
struct Variational {
  struct State {
    double location[8], rho[8], m[16], v[16], noise[8];
    double power1, power2;
    long long evaluations;  // of the gradient, so far
    int drawn;              // whether noise is drawn anew for each step
    int t, status;
  };
  static constexpr unsigned stream = 2;

  HOLDFAST_BOTH static Point propose(const Model& model, unsigned b, State& state, double* u) {
    for (int k = 0; k < model.latents; ++k) {
      if (state.drawn)
        state.noise[k] = normal_of(galaxy_shear::drawn(k, b, stream, unsigned(state.t)));
      u[k] = state.location[k] + softplus(state.rho[k]) * state.noise[k];
    }
    return constrained(model, u);
  }

  // Returns the loss: minus the evidence lower bound.
  HOLDFAST_BOTH static double take(const Model& model, unsigned, const Point& point,
                                   const double* u, bool shaped, double loss,
                                   const double* gradient, State& state) {
    ++state.t;
    ++state.evaluations;
    double slopes[16];
    loss = stretched(model, point, u, loss, gradient, slopes);
    double check = 0;
    for (int k = 0; k < model.latents; ++k) {
      const double scale = softplus(state.rho[k]), noise = state.noise[k];
      loss -= noise * noise / 2 + log(scale) + log(two_pi) / 2;
      slopes[8 + k] = (slopes[k] * noise - 1 / scale) * sigmoid(state.rho[k]);
      check += slopes[k] + slopes[8 + k];
    }
    check += loss;
    if (state.status == 0 && (!shaped || !(check - check == 0))) state.status = state.t;
    state.power1 *= 0.9;
    state.power2 *= 0.999;
    if (state.status != 0) return no_number(state.power1);
    for (int k = 0; k < model.latents; ++k) {
      follow(model.learning_rate, slopes[k], state.power1, state.power2, state.m[k], state.v[k],
             state.location[k]);
      follow(model.learning_rate, slopes[8 + k], state.power1, state.power2, state.m[8 + k],
             state.v[8 + k], state.rho[k]);
    }
    return loss;
  }
};

// A sample: draws a momentum, makes `leapfrogs` steps of unit mass from u, accepts or refuses the
// end. The gradient is evaluated at u and after every leapfrog.
struct Hamiltonian {
  static constexpr int leapfrogs = 16;
  static constexpr int evaluations_of_a_sample = leapfrogs + 1;
  static constexpr double step = 1e-5;
  static constexpr unsigned stream = 3;

  struct State {
    double u[8], at[8], momentum[8];  // of the chain, of the trajectory
    double energy;                    // at the start of the trajectory
    double error;                     // of energy, at the end of the latest trajectory
    long long evaluations;
    int leap, t, taken, status;
  };

  HOLDFAST_BOTH static Point propose(const Model& model, unsigned b, State& state, double* u) {
    for (int k = 0; k < model.latents; ++k) {
      if (state.leap == 0) {
        state.at[k] = state.u[k];
        state.momentum[k] = normal_of(drawn(k, b, stream, unsigned(state.t)));
      } else {
        state.at[k] += step * state.momentum[k];
      }
      u[k] = state.at[k];
    }
    return constrained(model, u);
  }

  // Returns the loss in u.
  HOLDFAST_BOTH static double take(const Model& model, unsigned b, const Point& point,
                                   const double* u, bool, double loss, const double* gradient,
                                   State& state) {
    ++state.evaluations;
    double slopes[8];
    loss = stretched(model, point, u, loss, gradient, slopes);
    const bool first = state.leap == 0, last = state.leap == leapfrogs;
    if (first) state.energy = loss + kinetic(model, state);
    const double share = first || last ? step / 2 : step;
    for (int k = 0; k < model.latents; ++k) state.momentum[k] -= share * slopes[k];
    ++state.leap;
    if (!last) return loss;
    state.error = loss + kinetic(model, state) - state.energy;
    // A trajectory whose energy is NaN is refused as well.
    if (log(drawn(8, b, stream, unsigned(state.t)).first) < -state.error) {
      for (int k = 0; k < model.latents; ++k) state.u[k] = state.at[k];
      ++state.taken;
    }
    state.leap = 0;
    ++state.t;
    return loss;
  }

  HOLDFAST_BOTH static double kinetic(const Model& model, const State& state) {
    double sum = 0;
    for (int k = 0; k < model.latents; ++k) sum += state.momentum[k] * state.momentum[k] / 2;
    return sum;
  }
};

}  // namespace holdfast::galaxy_shear
