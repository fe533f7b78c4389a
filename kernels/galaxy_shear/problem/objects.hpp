// SPDX-License-Identifier: Apache-2.0
// Several galaxies in one image that share one shear: what each adds, and a step of Adam's on the
// shear and on the latents of each; compiled by g++ and NVRTC.
#pragma once

#include "galaxy_shear/problem/formulas.hpp"

namespace holdfast::galaxy_shear {

// Of a scene: its shear has two latents, each object six of its own. States are [1 + objects], that
// of the shear first.
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

// What one object adds to the gradient and to the loss.
struct Share {
  double gradient[8];
  double prior;
  int shaped;
};
HOLDFAST_BOTH inline Share share_of(const SceneModel& model, const Point& point, const Sums& sums) {
  Share share;
  chain(model.object, point.z, sums, share.gradient);
  share.prior = point.prior;
  share.shaped = admissible(point.z);
  return share;
}

// Of all objects, added up in their order: the loss and its gradient by the shear.
struct Together {
  double loss;
  double gradient[8];
  int sound;  // each has a shape, and slopes that are numbers
};
HOLDFAST_BOTH inline Together together(const SceneModel& model, const FitState* states,
                                       const Share* shares, int objects, double misfit) {
  Together all = {
      misfit + model.shear.constant + constrained(model.shear, states[0].u).prior, {0, 0}, 1};
  double check = 0;
  for (int j = 0; j < objects; ++j) {
    all.loss += shares[j].prior;
    for (int k = 0; k < 2; ++k) all.gradient[k] += shares[j].gradient[k];
    for (int k = 0; k < 8; ++k) check += shares[j].gradient[k];
    all.sound = all.sound && shares[j].shaped;
  }
  all.sound = all.sound && check - check == 0;
  return all;
}

// One state's part of a step, and the loss; none goes on once one has failed.
HOLDFAST_BOTH inline double advance_part(const SceneModel& model, const Together& all,
                                         const Share* shares, int part, FitState& state) {
  const Model& own = part == 0 ? model.shear : model.object;
  return advance(own, constrained(own, state.u), all.sound, all.loss,
                 part == 0 ? all.gradient : shares[part - 1].gradient, state);
}

}  // namespace holdfast::galaxy_shear
