// SPDX-License-Identifier: Apache-2.0
// Private to the device's optimized variant: which kernels of split.cu a unit needs.
#pragma once

#include <optional>

#include "galaxy_shear/device/optimized_kernels.hpp"
#include "galaxy_shear/device/split_plan.hpp"

namespace holdfast::galaxy_shear {

template <class T>
struct SplitKernels : KernelList {
  explicit SplitKernels(const Problem& problem)
      : generate(*this, specialised<T>("split_generate", problem.scene)),
        rows(*this,
             specialised<T>("split_rows", problem.scene, text(", ", int(pass_of(problem))))) {
    const Pass pass = pass_of(problem);
    if (pass == weighs || pass == descends)
      reduce.emplace(*this, specialised<T>("split_reduce", problem.scene));
    const std::string_view type = sizeof(T) == 4 ? "float" : "double";
    if (pass != draws) finish.emplace(*this, text("split_finish<", type, ", ", int(pass), ">"));
    if (problem.sample || problem.unit == Unit::map)
      begin.emplace(*this, text("split_begin<", type, ">"));
  }

  void build(Compiler& compiler, const Scene& scene) {
    Program program = stamp_program(scene);
    program.code = sources::split_cu;
    program.headers.push_back(sources::split_plan_hpp);
    compile(compiler, program);
  }

  static Pass pass_of(const Problem& problem) {
    if (problem.unit == Unit::render) return draws;
    if (problem.unit == Unit::render_grad) return weighs;
    return problem.unit == Unit::forward ? compares : descends;
  }

  Listed<Model, SplitPlan<T>> generate;
  Listed<Model, SplitPlan<T>, const T*, T*> rows;
  std::optional<Listed<Model, SplitPlan<T>>> reduce = {};
  std::optional<Listed<Model, SplitPlan<T>, int, int, double*, double*, int>> finish = {};
  std::optional<Listed<Model, FitState*, const double*, int, int>> begin = {};
};

}  // namespace holdfast::galaxy_shear
