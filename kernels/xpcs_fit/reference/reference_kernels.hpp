// SPDX-License-Identifier: Apache-2.0
// Private to the device's reference: the kernels of reference.cu that a unit launches, compiled for
// one size, form and number of points.
#pragma once

#include <optional>

#include "runtime/compile/kernel_list.hpp"
#include "runtime/sources.hpp"
#include "xpcs_fit/sources.hpp"
#include "xpcs_fit/xpcs_fit.hpp"

namespace holdfast::xpcs_fit {

template <class T>
struct ReferenceKernels : KernelList {
  ReferenceKernels(Unit unit, const Options& options) {
    if (unit == Unit::g2) return;
    residuals.emplace(*this, "residuals");
    if (unit == Unit::residual) return;
    column.emplace(*this, "column");
    if (options.loss == Loss::linear) return;
    soft_cost.emplace(*this, "soft_cost");
    soften.emplace(*this, "soften");
  }
  ReferenceKernels(Compiler& compiler, Unit unit, const Problem& problem, std::int64_t points)
      : ReferenceKernels(unit, problem.options) {
    const Size& size = problem.input->size;
    compile(compiler,
            {.code = sources::reference_cu,
             .headers = {runtime::sources::both_hpp, sources::formulas_hpp},
             .definitions = {text("REAL=", sizeof(T) == 4 ? "float" : "double"),
                             text("ANGLES=", size.angles), text("FRAMES=", size.frames),
                             text("POINTS=", points, "LL"),
                             text("LAMINAR=", problem.options.mode == Mode::laminar),
                             text("PER_ANGLE=", problem.options.scaling == Scaling::per_angle)}});
  }

  Listed<double, const double*, double*> rates{*this, "rates"};
  Listed<const double*, double*> accumulate{*this, "accumulate", KernelKind::reduce};
  Listed<const double*, T*> smooth_difference{*this, "smooth_difference"};
  Listed<double, T*> decay{*this, "decay"};
  Listed<long long, double, const double*, const double*, const T*, T*> sinc_squared{
      *this, "sinc_squared"};
  Listed<long long, const T*, T*> first_order{*this, "first_order"};
  Listed<long long, const double*, const T*, T*> second_order{*this, "second_order"};
  std::optional<Listed<const T*, const T*, const T*, T*>> residuals = {};
  std::optional<
      Listed<long long, int, int, double, double, const double*, const double*, const double*,
             const double*, const T*, const T*, const T*, const T*, const T*, T*>>
      column = {};
  std::optional<Listed<T, const T*, T*>> soft_cost = {};
  std::optional<Listed<T, T, const T*, T*>> soften = {};
};

// The kernel of a relaxation, for any size.
struct ReferencePatternKernels : KernelList {
  ReferencePatternKernels() = default;
  explicit ReferencePatternKernels(Compiler& compiler) {
    compile(compiler, {.code = sources::relax_cu});
  }

  Listed<const double*, double, long long, double*> relax{*this, "relax"};
};

// The kernel of a loop with a fixed number of turns, for any size.
struct TurnKernels : KernelList {
  TurnKernels() = default;
  TurnKernels(Compiler& compiler, int turns) {
    compile(compiler, {.code = sources::turns_cu, .definitions = {text("TURNS=", turns)}});
  }

  Listed<const double*, double, long long, double*> turns{*this, "turns"};
};

}  // namespace holdfast::xpcs_fit
