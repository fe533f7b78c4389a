// SPDX-License-Identifier: Apache-2.0
// The solver as described in the README, on plain vectors.
#include <algorithm>
#include <cmath>
#include <optional>

#include "xpcs_fit/oracle/oracle.hpp"

namespace holdfast::xpcs_fit::oracle {
namespace {

using Vector = std::vector<double>;

// Solves A x = b of a positive definite A [n, n].
std::optional<Vector> solved(Vector a, Vector b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k)
      for (std::size_t i = j; i < n; ++i) a[i * n + j] -= a[i * n + k] * a[j * n + k];
    if (!(a[j * n + j] > 0) || !std::isfinite(a[j * n + j])) return std::nullopt;
    const double root = std::sqrt(a[j * n + j]);
    for (std::size_t i = j; i < n; ++i) a[i * n + j] /= root;
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
  return b;
}

class Solver {
 public:
  Solver(const Problem& problem, int passes)
      : problem_(problem),
        box_(problem.input->box),
        p_(box_.start.size()),
        wanted_(passes),
        scale_(p_, 0.) {
    fit_.parameters.resize(p_);
    for (std::size_t k = 0; k < p_; ++k)
      fit_.parameters[k] = std::clamp(box_.start[k], box_.lower[k], box_.upper[k]);
  }

  Fit run() {
    now_ = pass(fit_.parameters);
    fit_.path.push_back(now_.cost);
    for (int iteration = 0;; ++iteration) {
      for (std::size_t k = 0; k < p_; ++k) scale_[k] = std::max(scale_[k], now_.matrix[k * p_ + k]);
      const double distance = expected_distance();
      const bool converged = distance >= 0 && distance < 1e-4 * 2 * now_.cost / freedom();
      if (wanted_ == 0 && (converged || iteration == 100)) {
        fit_.status = converged ? 5 : 0;
        break;
      }
      if (wanted_ > 0 && fit_.passes == wanted_) break;
      if (!advance()) break;
    }
    fit_.cost = now_.cost;
    fit_.sigma = find_sigma(now_.matrix, now_.cost, freedom());
    return fit_;
  }

 private:
  double freedom() const {
    return static_cast<double>(problem_.input->size.points()) - static_cast<double>(p_);
  }

  Normal pass(const Vector& at) {
    ++fit_.passes;
    return normal_equations(problem_, at);
  }

  // One trial; false if the damping is too large or steps are too small.
  bool advance() {
    const auto step = box_step(damping_);
    Vector trial = fit_.parameters;
    double gain = 0;
    if (step) {
      for (std::size_t k = 0; k < p_; ++k)
        trial[k] = std::clamp(trial[k] + (*step)[k], box_.lower[k], box_.upper[k]);
      gain = predicted(trial);
    }
    if (!step || !(gain > 0)) {
      grow();
      if (wanted_ > 0) (void)pass(fit_.parameters);
      return wanted_ > 0 || !runs_away();
    }
    const Normal next = pass(trial);
    const double ratio = std::isfinite(next.cost) ? (now_.cost - next.cost) / gain : -1;
    if (ratio > 1e-4) {
      const double cube = std::pow(2 * ratio - 1, 3);
      damping_ = std::max(damping_ * std::max(0.1, 1 - cube), 1e-12);
      growth_ = 2;
      fit_.parameters = trial;
      now_ = next;
      fit_.path.push_back(now_.cost);
      return true;
    }
    grow();
    bool tiny = true;
    for (std::size_t k = 0; k < p_; ++k)
      tiny &=
          std::abs(trial[k] - fit_.parameters[k]) < 1e-15 * (1e-15 + std::abs(fit_.parameters[k]));
    if (tiny) fit_.status = 3;
    return wanted_ > 0 || !(tiny || runs_away());
  }

  void grow() {
    damping_ *= growth_;
    growth_ *= 2;
  }
  bool runs_away() {
    if (damping_ <= 1e16) return false;
    fit_.status = -2;
    return true;
  }

  double scale(std::size_t k) const { return scale_[k] == 0 ? 1 : scale_[k]; }

  // The gain that the quadratic model predicts for moving there.
  double predicted(const Vector& there) const {
    double gain = 0;
    for (std::size_t k = 0; k < p_; ++k) {
      const double s = there[k] - fit_.parameters[k];
      gain -= now_.gradient[k] * s;
      for (std::size_t l = 0; l < p_; ++l)
        gain -= s * now_.matrix[k * p_ + l] * (there[l] - fit_.parameters[l]) / 2;
    }
    return gain;
  }

  double expected_distance() const {
    std::optional<double> most;
    for (const double damping : {1e-12, 1e-8, 1e-4}) {
      const auto step = box_step(damping);
      if (!step) continue;
      Vector there(p_);
      for (std::size_t k = 0; k < p_; ++k)
        there[k] = std::clamp(fit_.parameters[k] + (*step)[k], box_.lower[k], box_.upper[k]);
      const double gain = predicted(there);
      if (!most || gain > *most) most = gain;
    }
    return most.value_or(-1);
  }

  // The damped step within the box: parameters that would leave it are put on its boundary, and the
  // others are solved for again.
  std::optional<Vector> box_step(double damping) const {
    Vector step(p_, 0.);
    std::vector<bool> fixed(p_);
    for (std::size_t k = 0; k < p_; ++k) {
      const double at = fit_.parameters[k], g = now_.gradient[k];
      fixed[k] = (at <= box_.lower[k] && g > 0) || (at >= box_.upper[k] && g < 0);
    }
    for (;;) {
      std::vector<std::size_t> free;
      for (std::size_t k = 0; k < p_; ++k)
        if (!fixed[k]) free.push_back(k);
      Vector a(free.size() * free.size()), b(free.size());
      for (std::size_t r = 0; r < free.size(); ++r) {
        const std::size_t k = free[r];
        double right = -now_.gradient[k];
        for (std::size_t l = 0; l < p_; ++l)
          if (fixed[l]) right -= now_.matrix[k * p_ + l] * step[l];
        b[r] = right / std::sqrt(scale(k));
        for (std::size_t c = 0; c < free.size(); ++c)
          a[r * free.size() + c] =
              now_.matrix[k * p_ + free[c]] / (std::sqrt(scale(k)) * std::sqrt(scale(free[c]))) +
              (r == c ? damping : 0);
      }
      const auto solution = solved(a, b);
      if (!solution) return std::nullopt;
      bool outside = false;
      for (std::size_t r = 0; r < free.size(); ++r) {
        const std::size_t k = free[r];
        step[k] = (*solution)[r] / std::sqrt(scale(k));
        const double least = box_.lower[k] - fit_.parameters[k];
        const double most = box_.upper[k] - fit_.parameters[k];
        if (step[k] >= least && step[k] <= most) continue;
        step[k] = step[k] < least ? least : most;
        fixed[k] = outside = true;
      }
      if (!outside) return step;
    }
  }

  const Problem& problem_;
  const Box& box_;
  std::size_t p_;
  int wanted_;
  Vector scale_;  // the running maximum of the diagonal
  double damping_ = 1e-3, growth_ = 2;
  Normal now_ = {};
  Fit fit_ = {};
};

}  // namespace

Vector find_sigma(const Vector& matrix, double cost, double freedom) {
  const auto p = static_cast<std::size_t>(std::sqrt(static_cast<double>(matrix.size())));
  const auto entry = [&](std::size_t k, std::size_t l) { return matrix[k * p + l]; };
  Vector scaled(p * p), sigma(p);
  for (std::size_t k = 0; k < p; ++k)
    for (std::size_t l = 0; l < p; ++l)
      scaled[k * p + l] = entry(k, l) / std::sqrt(entry(k, k) * entry(l, l));
  for (std::size_t k = 0; k < p; ++k) {
    Vector unit(p, 0.);
    unit[k] = 1;
    if (const auto column = solved(scaled, unit))
      sigma[k] = std::sqrt((*column)[k] / entry(k, k) * 2 * cost / freedom);
  }
  return sigma;
}

Fit fit(const Problem& problem, int passes) {
  return Solver(problem, passes).run();
}

}  // namespace holdfast::xpcs_fit::oracle
