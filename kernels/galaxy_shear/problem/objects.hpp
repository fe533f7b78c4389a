// SPDX-License-Identifier: Apache-2.0
// Several galaxies in one image that share one shear: each one's contribution, and a step of Adam
// on the shear and on each object's latents; compiled by g++ and NVRTC.
#pragma once

#include "galaxy_shear/problem/formulas.hpp"

namespace holdfast::galaxy_shear {

// The models of a scene: two latents for its shear, six for each object. States are [1 + objects],
// the shear's first.
struct SceneModel {
  Model shear, object;
};

HOLDFAST_BOTH inline Point object_at(const SceneModel& model, const FitState* states, int j) {
  const Point shear = constrained(model.shear, states[0].u);
  Point point = constrained(model.object, states[1 + j].u);
  point.z[0] = shear.z[0];
  point.z[1] = shear.z[1];
  return point;
}

// One object's contribution to the gradient and to the loss.
struct Share {
  double gradient[8];
  double prior;
  int sound;  // whether its shape is valid and its slopes are finite
};
HOLDFAST_BOTH inline int sound(const Share& share, bool shaped) {
  double check = 0;
  for (int k = 0; k < 8; ++k) check += share.gradient[k];
  return shaped && check - check == 0;
}
HOLDFAST_BOTH inline Share share_of(const SceneModel& model, const Point& point, const Sums& sums) {
  Share share;
  chain(model.object, point.z, sums, share.gradient);
  share.prior = point.prior;
  share.sound = sound(share, admissible(point.z));
  return share;
}

// The sum of all objects' shares in their order: the loss and its gradient by the shear.
struct Together {
  double loss;
  double gradient[8];
  int sound;  // whether every object is
};
HOLDFAST_BOTH inline Together alone(const SceneModel& model, double shear_prior, double misfit) {
  return {misfit + model.shear.constant + shear_prior, {0, 0}, 1};
}
HOLDFAST_BOTH inline void join(Together& all, const Share& share) {
  all.loss += share.prior;
  for (int k = 0; k < 2; ++k) all.gradient[k] += share.gradient[k];
  all.sound = all.sound && share.sound;
}
HOLDFAST_BOTH inline Together together(const SceneModel& model, const FitState* states,
                                       const Share* shares, int objects, double misfit) {
  Together all = alone(model, constrained(model.shear, states[0].u).prior, misfit);
  for (int j = 0; j < objects; ++j) join(all, shares[j]);
  return all;
}

// Advances one state by a step and returns the loss; after a failure no state advances.
HOLDFAST_BOTH inline double advance_part(const SceneModel& model, const Together& all,
                                         const Share* shares, int part, FitState& state) {
  const Model& own = part == 0 ? model.shear : model.object;
  return advance(own, constrained(own, state.u), all.sound, all.loss,
                 part == 0 ? all.gradient : shares[part - 1].gradient, state);
}

// The same with a thread per latent, bit for bit: each computes its move from the whole state; once
// all have, each carries it out, and that of latent 0 also updates the state's shared fields.
struct Move {
  double slope, power1, power2;
  int t, status;
};
HOLDFAST_BOTH inline Move move_of(const Model& own, const Point& point, const Together& all,
                                  const double* gradient, const FitState& state, int latent) {
  constexpr double beta1 = 0.9, beta2 = 0.999;
  Move move = {0, state.power1 * beta1, state.power2 * beta2, state.t + 1, state.status};
  double check = all.loss;
  for (int k = 0; k < own.latents; ++k) {
    const double slope = by_latent(own, point, gradient, k);
    check += slope;
    if (k == latent) move.slope = slope;
  }
  if (move.status == 0 && (!all.sound || !(check - check == 0))) move.status = move.t;
  return move;
}
// Returns the loss, NaN once a step has failed.
HOLDFAST_BOTH inline double carry_out(const Move& move, const Model& own, double loss, int latent,
                                      FitState& state) {
  if (latent == 0) {
    state.power1 = move.power1;
    state.power2 = move.power2;
    state.t = move.t;
    state.status = move.status;
  }
  if (move.status != 0) return no_number(move.power1);
  follow(own.learning_rate, move.slope, move.power1, move.power2, state.m[latent], state.v[latent],
         state.u[latent]);
  return loss;
}

}  // namespace holdfast::galaxy_shear
