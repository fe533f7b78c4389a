// SPDX-License-Identifier: Apache-2.0
#include "cubed_sphere_swe/problem/work.hpp"

#include "cubed_sphere_swe/problem/sphere.hpp"

namespace holdfast::cubed_sphere_swe {

namespace {

// 69 floating-point operations per grid point and evaluation of the tendency, in the banded form.
constexpr double flops_per_point = 69;

double value_bytes(const Options& options) {
  return options.precision == Precision::f32 ? 4 : 8;
}
double state_bytes(Size size, const Options& options) {
  return value_bytes(options) * static_cast<double>(state_count(size.n));
}
double rhs_flops(Size size) {
  return flops_per_point * 6 * size.n * size.n;
}

}  // namespace

Work rhs_work(Size size, const Options& options) {
  return {.flops = rhs_flops(size),
          .bytes = 2 * state_bytes(size, options),
          .phases = 1,
          .precision = options.precision};
}

// Four tendencies; the first stage reads one state and writes one, the other three read two and
// write one.
Work rk4_step_work(Size size, const Options& options) {
  return {.flops = 4 * rhs_flops(size),
          .bytes = 11 * state_bytes(size, options),
          .phases = 4,
          .precision = options.precision};
}

Work loop_work(Size size, const Options& options) {
  const Work step = rk4_step_work(size, options);
  return {.flops = options.steps * step.flops,
          .bytes = options.steps * step.bytes,
          .phases = options.steps * step.phases,
          .precision = options.precision};
}

// One value of an operator's interior row takes four multiplications and three additions.
constexpr double flops_of_operator = 7;

Work component_work(Size size, const Component& component, const Options& options) {
  const double n = size.n, h = static_cast<double>(height_count(size.n)),
               v = static_cast<double>(velocity_count(size.n)), border = 24 * (n + 1);
  const auto work = [&](double flops, double values) -> Work {
    return {.flops = flops,
            .bytes = value_bytes(options) * values,
            .phases = 1,
            .precision = options.precision};
  };
  switch (component.kind) {
    case Component::Kind::operator_apply:
      return work(flops_of_operator * (onto_vertices(component.op) ? h : v), h + v);
    case Component::Kind::project:  // every border point: an addition and a division
      return work(2 * border, 2 * border);
    case Component::Kind::gradient:
      return work(component.components * (flops_of_operator + 1) * v, h + component.components * v);
    case Component::Kind::contravariant:  // w, then Q v + (P w) / J, for either component
      return work(2 * (flops_of_operator + 1) * h + 2 * (flops_of_operator + 3) * v,
                  4 * v + (n + 1) * (n + 1) + 4 * n * (n + 1));
    case Component::Kind::divergence:
      return work((2 * flops_of_operator + 1) * h, h + 2 * v);
    // A border point reads three fluxes, three normal and one tangential velocity and the metric,
    // and adds to the divergence.
    case Component::Kind::sat:
      return work((2 * 5 + flops_of_operator + 3 + 2 + 4) * border, (3 + 3 + 1 + 2 + 2) * border);
  }
  return {};
}

}  // namespace holdfast::cubed_sphere_swe
