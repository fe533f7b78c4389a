// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/problem/problem.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "runtime/base/error.hpp"
#include "runtime/base/log.hpp"

namespace holdfast::xpcs_fit {
namespace {

struct Parameter {
  double truth, start, lower, upper;
};
constexpr Parameter parameters[] = {
    {0.3, 0.5, 0, 1},         // contrast
    {1, 1.05, 0.5, 1.5},      // offset
    {1000, 1500, 100, 1e5},   // D0
    {0.5, 0.3, -2, 2},        // alpha
    {50, 10, 0, 1e4},         // D_offset
    {2e-4, 3e-4, 1e-6, 0.5},  // gamma_dot_0
    {0.3, 0.1, -2, 2},        // beta
    {5e-5, 1e-5, 0, 0.1},     // gamma_dot_offset
    {-6, 0, -30, 30},         // phi_0
};
constexpr int scalings = 2;  // contrast and offset

// This member of each parameter, in their order.
std::vector<double> column(const Options& options, int angles, double Parameter::*member) {
  std::vector<double> values;
  for (int k = 0; k < local_parameters(options.mode); ++k) {
    const bool own = k < scalings && options.scaling == Scaling::per_angle;
    values.insert(values.end(), static_cast<std::size_t>(own ? angles : 1), parameters[k].*member);
  }
  return values;
}

[[noreturn]] void refuse(std::string_view code, std::string_view sentence) {
  throw Error(Fault::bad_input, text(code, ": ", sentence));
}

void check_lengths(const Problem& problem) {
  const Input& input = *problem.input;
  const auto points = static_cast<std::size_t>(input.size.points());
  if (!input.sized_only && input.data.empty()) refuse("empty_data", "data holds no value");
  if (!input.sized_only && input.data.size() != points)
    refuse("shape_mismatch",
           text("data holds ", input.data.size(), " values, and ", input.size.angles, " angles of ",
                input.size.frames, " frames make ", points));
  if (input.angles.size() != static_cast<std::size_t>(input.size.angles))
    refuse("shape_mismatch",
           text(input.angles.size(), " angles are given for ", input.size.angles));
  const auto p = static_cast<std::size_t>(parameter_count(problem.options, input.size.angles));
  const auto check = [&](std::string_view name, const std::vector<double>& values) {
    if (values.size() != p)
      refuse("shape_mismatch",
             text(name, " has ", values.size(), " values for ", p, " parameters"));
  };
  check("start", input.box.start);
  check("lower", input.box.lower);
  check("upper", input.box.upper);
  if (points <= p) refuse("too_few_points", text(points, " points for ", p, " parameters"));
}

// The indices for which it holds, as "2, 5"; empty if there are none.
template <class Holds>
std::string indices(std::size_t count, const Holds& holds) {
  std::string list;
  for (std::size_t k = 0; k < count; ++k)
    if (holds(k)) add_to(list, k);
  return list;
}

void check_box(const Box& box) {
  const std::size_t p = box.start.size();
  const auto crossed = indices(p, [&](std::size_t k) { return !(box.lower[k] < box.upper[k]); });
  if (!crossed.empty())
    refuse("invalid_bounds", text("lower is not below upper at parameter ", crossed));
  const auto infinite = indices(p, [&](std::size_t k) { return !std::isfinite(box.start[k]); });
  if (!infinite.empty()) refuse("nonfinite_start", text("start of parameter ", infinite));
  const auto outside = indices(
      p, [&](std::size_t k) { return box.start[k] < box.lower[k] || box.start[k] > box.upper[k]; });
  if (!outside.empty())
    log(LogLevel::warn, text("the start lies outside of its bounds at parameter ", outside,
                             ", and begins at the nearer one"));
}

void check_weights(const Problem& problem) {
  if (problem.options.weights == Weights::unit || problem.input->sized_only) return;
  const std::vector<double>& weights = problem.input->weights;
  if (weights.size() != problem.input->data.size())
    refuse("shape_mismatch",
           text(weights.size(), " weights are given for ", problem.input->data.size(), " values"));
  for (std::size_t k = 0; k < weights.size(); ++k)
    if (!(weights[k] > 0) || !std::isfinite(weights[k]))
      refuse("invalid_weights", text("weight ", k, " is ", weights[k], ", no positive number"));
}

}  // namespace

double Physics::kappa() const {
  return q * q * dt / 2;
}

double Physics::flow() const {
  return q * gap * dt / (2 * std::numbers::pi);
}

int parameter_count(const Options& options, int angles) {
  const int physical = local_parameters(options.mode) - scalings;
  return physical + scalings * (options.scaling == Scaling::per_angle ? angles : 1);
}

std::vector<double> truth(const Options& options, int angles) {
  return column(options, angles, &Parameter::truth);
}

Box default_box(const Options& options, int angles) {
  return {.start = column(options, angles, &Parameter::start),
          .lower = column(options, angles, &Parameter::lower),
          .upper = column(options, angles, &Parameter::upper)};
}

std::vector<double> default_angles(int angles) {
  std::vector<double> all;
  for (int a = 0; a < angles; ++a) all.push_back(-90 + (a + 0.5) * 180 / angles);
  return all;
}

void validate(const Size& size, const Physics& physics) {
  if (size.angles < 1 || size.frames < 2)
    refuse("empty_data", text(size.angles, " angles of ", size.frames,
                              " frames; 1 angle and 2 frames are the least"));
  struct Named {
    std::string_view name;
    double value, least, most;
  };
  for (const Named& one : {Named{"q", physics.q, 1e-4, 1}, Named{"gap", physics.gap, 1e5, 1e8},
                           Named{"dt", physics.dt, 1e-3, 1e3}}) {
    if (!(one.value > 0) || !std::isfinite(one.value))
      refuse("invalid_physics", text(one.name, " is ", one.value, ", no positive number"));
    if (one.value < one.least || one.value > one.most)
      log(LogLevel::warn, text(one.name, " of ", one.value, " is unusual; ", one.least, " to ",
                               one.most, " are expected"));
  }
}

void validate(const Problem& problem) {
  if (problem.options.threads < 0)
    refuse("invalid_option", text(problem.options.threads, " threads; give 1 or more"));
  validate(problem.input->size, problem.input->physics);
  check_lengths(problem);
  check_box(problem.input->box);
  check_weights(problem);
}

}  // namespace holdfast::xpcs_fit
