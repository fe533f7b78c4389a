// SPDX-License-Identifier: Apache-2.0
// The solver, LM-B: damped steps within a box, one pass over the data per trial (README, "Solver").
// g++ compiles it for the host, NVRTC for the single block that steps on a device.
#pragma once

#include "xpcs_fit/problem/formulas.hpp"

// For short loops that run seldom: unrolling them would only double NVRTC's time.
#ifdef __CUDACC__
#define HOLDFAST_ROLLED _Pragma("unroll 1")
#else
#define HOLDFAST_ROLLED
#endif

namespace holdfast::xpcs_fit {

// Why a fit ended; -1 while it runs.
inline constexpr int running = -1, converged = 5, out_of_iterations = 0, steps_too_small = 3,
                     damping_too_large = -2;
inline constexpr int most_iterations = 100, damping_count = 4;

// The state of a fit of p parameters: a row of fit_count(p) numbers, of which the first 8, 64
// bytes, are its status.
struct FitState {
  double* at = nullptr;
  int p = 0;

  HOLDFAST_BOTH double& status() const { return at[0]; }
  HOLDFAST_BOTH double& passes() const { return at[1]; }
  HOLDFAST_BOTH double& iteration() const { return at[2]; }
  HOLDFAST_BOTH double& cost() const { return at[3]; }
  HOLDFAST_BOTH double& damping() const { return at[4]; }
  HOLDFAST_BOTH double& growth() const { return at[5]; }
  HOLDFAST_BOTH double& gain() const { return at[6]; }  // promised by the trial; 0: there is none
  HOLDFAST_BOTH double& distance() const { return at[7]; }  // to the minimum, in units of F
  HOLDFAST_BOTH double* parameters() const { return at + 8; }
  HOLDFAST_BOTH double* trial() const { return at + 8 + p; }
  HOLDFAST_BOTH double* scale() const { return at + 8 + 2 * p; }  // largest diagonal so far
  HOLDFAST_BOTH double* gradient() const { return at + 8 + 3 * p; }
  HOLDFAST_BOTH double* matrix() const { return at + 8 + 4 * p; }
};
HOLDFAST_BOTH constexpr int fit_count(int p) {
  return 8 + 4 * p + p * p;
}

// Start, lower and upper bounds of the parameters, [p] each.
struct BoxView {
  const double *start = nullptr, *lower = nullptr, *upper = nullptr;
};

HOLDFAST_BOTH inline double clipped_to(const BoxView& box, int k, double x) {
  return x < box.lower[k] ? box.lower[k] : x > box.upper[k] ? box.upper[k] : x;
}
HOLDFAST_BOTH inline bool is_number(double x) {
  return x - x == 0;
}

HOLDFAST_BOTH inline void restart(const FitState& fit, const BoxView& box) {
  HOLDFAST_ROLLED for (int k = 0; k < fit_count(fit.p); ++k) fit.at[k] = 0;
  fit.status() = running;
  fit.damping() = 1e-3;
  fit.growth() = 2;
  HOLDFAST_ROLLED for (int k = 0; k < fit.p; ++k) fit.parameters()[k] = fit.trial()[k] =
      clipped_to(box, k, box.start[k]);
}

HOLDFAST_BOTH inline void grow(const FitState& fit) {
  fit.damping() *= fit.growth();
  fit.growth() *= 2;
}

HOLDFAST_BOTH inline void accept(const FitState& fit, const double* normal) {
  const int p = fit.p;
  fit.cost() = normal[0];
  HOLDFAST_ROLLED for (int k = 0; k < p; ++k) {
    fit.parameters()[k] = fit.trial()[k];
    fit.gradient()[k] = normal[1 + k];
  }
  HOLDFAST_ROLLED for (int k = 0; k < p * p; ++k) fit.matrix()[k] = normal[1 + p + k];
  HOLDFAST_ROLLED for (int k = 0; k < p; ++k) {
    const double own = fit.matrix()[k * p + k];
    if (own > fit.scale()[k]) fit.scale()[k] = own;
  }
}

// normal: F, g, N at the trial. Without a promised gain there was no trial.
HOLDFAST_BOTH inline void judge(const FitState& fit, const double* normal) {
  fit.passes() += 1;
  if (fit.passes() == 1) return accept(fit, normal);
  if (fit.gain() == 0) return;
  const double ratio = is_number(normal[0]) ? (fit.cost() - normal[0]) / fit.gain() : -1;
  if (ratio > 1e-4) {
    const double lean = 2 * ratio - 1, shrink = 1 - lean * lean * lean;
    fit.damping() *= shrink > 0.1 ? shrink : 0.1;
    if (fit.damping() < 1e-12) fit.damping() = 1e-12;
    fit.growth() = 2;
    return accept(fit, normal);
  }
  grow(fit);
  bool tiny = true;
  HOLDFAST_ROLLED for (int k = 0; k < fit.p; ++k) {
    const double x = fit.parameters()[k];
    tiny = tiny && fabs(fit.trial()[k] - x) < 1e-15 * (1e-15 + fabs(x));
  }
  if (tiny) fit.status() = steps_too_small;
  if (fit.damping() > 1e16) fit.status() = damping_too_large;
}

// The unit of parameter k.
HOLDFAST_BOTH inline double unit_of(const FitState& fit, int k) {
  return fit.scale()[k] == 0 ? 1 : sqrt(fit.scale()[k]);
}

// In-place Cholesky factorisation of the rows and columns of a [p, p] that are not fixed; false if
// it is not positive definite.
HOLDFAST_BOTH inline bool factorise(double* a, const double* fixed, int p) {
  HOLDFAST_ROLLED for (int j = 0; j < p; ++j) {
    if (fixed[j] != 0) continue;
    HOLDFAST_ROLLED for (int k = 0; k < j; ++k) {
      if (fixed[k] != 0) continue;
      HOLDFAST_ROLLED for (int i = j; i < p; ++i) a[i * p + j] -= a[i * p + k] * a[j * p + k];
    }
    const double pivot = a[j * p + j];
    if (!(pivot > 0) || !is_number(pivot)) return false;
    const double root = sqrt(pivot);
    HOLDFAST_ROLLED for (int i = j; i < p; ++i) a[i * p + j] /= root;
  }
  return true;
}
HOLDFAST_BOTH inline void substitute(const double* a, const double* fixed, int p, double* x) {
  HOLDFAST_ROLLED for (int i = 0; i < p; ++i) {
    if (fixed[i] != 0) continue;
    HOLDFAST_ROLLED for (int k = 0; k < i; ++k) if (fixed[k] == 0) x[i] -= a[i * p + k] * x[k];
    x[i] /= a[i * p + i];
  }
  HOLDFAST_ROLLED for (int i = p - 1; i >= 0; --i) {
    if (fixed[i] != 0) continue;
    HOLDFAST_ROLLED for (int k = i + 1; k < p; ++k) if (fixed[k] == 0) x[i] -= a[k * p + i] * x[k];
    x[i] /= a[i * p + i];
  }
}

// The common beginning of the steps of every damping: the units, [p], and the matrix in these
// units, [p, p]. Filled by `threads` numbered threads: units first, then the matrix.
HOLDFAST_BOTH constexpr int scaled_count(int p) {
  return p + p * p;
}
HOLDFAST_BOTH inline void fill_units(const FitState& fit, double* scaled, int thread, int threads) {
  HOLDFAST_ROLLED for (int k = thread; k < fit.p; k += threads) scaled[k] = unit_of(fit, k);
}
HOLDFAST_BOTH inline void fill_scaled(const FitState& fit, double* scaled, int thread,
                                      int threads) {
  const int p = fit.p;
  HOLDFAST_ROLLED for (int k = thread; k < p * p; k += threads) scaled[p + k] =
      fit.matrix()[k] / (scaled[k / p] * scaled[k % p]);
}

HOLDFAST_BOTH constexpr int box_step_work(int p) {
  return p * p + 2 * p;
}

// The damped step within the box: parameters that would leave it are put on its boundary, and the
// others are solved for again. False if the damped matrix is not positive definite. scaled: of this
// fit; work: box_step_work(p).
HOLDFAST_BOTH inline bool box_step(const FitState& fit, const double* scaled, const BoxView& box,
                                   double damping, double* step, double* work) {
  const int p = fit.p;
  const double *const units = scaled, *const matrix = scaled + p;
  double *const a = work, *const x = work + p * p, *const fixed = x + p;
  HOLDFAST_ROLLED for (int k = 0; k < p; ++k) {
    const double at = fit.parameters()[k], g = fit.gradient()[k];
    fixed[k] = (at <= box.lower[k] && g > 0) || (at >= box.upper[k] && g < 0);
    step[k] = 0;
  }
  for (;;) {
    HOLDFAST_ROLLED for (int k = 0; k < p; ++k) {
      if (fixed[k] != 0) continue;
      double right = -fit.gradient()[k];
      HOLDFAST_ROLLED for (int l = 0; l < p; ++l) {
        if (fixed[l] != 0) right -= fit.matrix()[k * p + l] * step[l];
        a[k * p + l] = matrix[k * p + l] + (k == l ? damping : 0);
      }
      x[k] = right / units[k];
    }
    if (!factorise(a, fixed, p)) return false;
    substitute(a, fixed, p, x);
    bool left = false;
    HOLDFAST_ROLLED for (int k = 0; k < p; ++k) {
      if (fixed[k] != 0) continue;
      step[k] = x[k] / units[k];
      const double least = box.lower[k] - fit.parameters()[k],
                   most = box.upper[k] - fit.parameters()[k];
      if (step[k] >= least && step[k] <= most) continue;
      if (!is_number(step[k])) return false;
      step[k] = step[k] < least ? least : most;
      fixed[k] = 1;
      left = true;
    }
    if (!left) return true;
  }
}

// The gain that the quadratic model promises for a step, which is clipped once more.
HOLDFAST_BOTH inline double promised(const FitState& fit, const BoxView& box, double* step) {
  const int p = fit.p;
  HOLDFAST_ROLLED for (int k = 0; k < p; ++k) step[k] =
      clipped_to(box, k, fit.parameters()[k] + step[k]) - fit.parameters()[k];
  double gain = 0;
  HOLDFAST_ROLLED for (int k = 0; k < p; ++k) {
    double half = 0;
    HOLDFAST_ROLLED for (int l = 0; l < p; ++l) half += fit.matrix()[k * p + l] * step[l];
    gain -= step[k] * (fit.gradient()[k] + half / 2);
  }
  return gain;
}

// The damping of the next step, and three that are almost zero, for the distance to the minimum.
HOLDFAST_BOTH inline double damping_of(const FitState& fit, int which) {
  return which == 0 ? fit.damping() : which == 1 ? 1e-12 : which == 2 ? 1e-8 : 1e-4;
}

// The step for one damping and its promised gain; `found`: whether there is one.
HOLDFAST_BOTH inline double try_damping(const FitState& fit, const double* scaled,
                                        const BoxView& box, int which, double* step, double* work,
                                        bool& found) {
  found = box_step(fit, scaled, box, damping_of(fit, which), step, work);
  return found ? promised(fit, box, step) : 0;
}

// step: for the first damping; gains and found: [damping_count], for all. Chooses the next trial;
// true if there is none yet and a larger damping must be tried. `steady`: goes on after the end,
// and makes a pass even without a trial.
HOLDFAST_BOTH inline bool propose(const FitState& fit, const BoxView& box, double freedom,
                                  bool steady, const double* step, const double* gains,
                                  const bool* found) {
  const int p = fit.p;
  double distance = -1;
  bool any = false;
  HOLDFAST_ROLLED for (int i = 1; i < damping_count; ++i) {
    if (!found[i]) continue;
    if (!any || gains[i] > distance) distance = gains[i];
    any = true;
  }
  fit.distance() = distance;
  if (distance >= 0 && distance < 1e-4 * 2 * fit.cost() / freedom)
    fit.status() = converged;
  else if (fit.iteration() == most_iterations)
    fit.status() = out_of_iterations;
  if (fit.status() != running && !steady) return false;
  fit.iteration() += 1;
  if (gains[0] > 0) {
    fit.gain() = gains[0];
    HOLDFAST_ROLLED for (int k = 0; k < p; ++k) fit.trial()[k] =
        clipped_to(box, k, fit.parameters()[k] + step[k]);
    return false;
  }
  grow(fit);
  fit.gain() = 0;
  HOLDFAST_ROLLED for (int k = 0; k < p; ++k) fit.trial()[k] = fit.parameters()[k];
  if (fit.damping() > 1e16) fit.status() = damping_too_large;
  return !steady && fit.status() == running;
}

// Whether the fit is over: after the wanted number of passes or, with 0 wanted, once it has
// stopped.
HOLDFAST_BOTH inline bool is_over(const FitState& fit, int wanted_passes) {
  return wanted_passes > 0 ? fit.passes() == wanted_passes : fit.status() != running;
}

}  // namespace holdfast::xpcs_fit
