// SPDX-License-Identifier: Apache-2.0
// The optimized variant of scenes on a device (scene.cu): six launches of a step, however many
// objects there are.
#pragma once

#include <string_view>
#include <vector>

#include "galaxy_shear/device/on_device.hpp"
#include "galaxy_shear/device/scene_plan.hpp"
#include "galaxy_shear/problem/results.hpp"

namespace holdfast::galaxy_shear {

template <class T>
struct SceneKernels : KernelList {
  explicit SceneKernels(const Scene& scene)
      : place(*this, specialised<T>("scene_place", scene)),
        generate(*this, specialised<T>("scene_generate", scene)),
        rows(*this, specialised<T>("scene_rows", scene)),
        columns(*this, specialised<T>("scene_columns", scene)),
        derive(*this, specialised<T>("scene_derive", scene)),
        finish(*this, entry<T>("scene_finish")) {}

  void build(Compiler& compiler, const Scene& scene) {
    Program program = stamp_program(scene);
    program.code = sources::scene_cu;
    program.headers.insert(program.headers.end(), {sources::objects_hpp, sources::scene_plan_hpp});
    compile(compiler, program);
  }

  Listed<SceneModel, ScenePlan<T>> place;
  Listed<ScenePlan<T>> generate;
  Listed<SceneModel, ScenePlan<T>, const T*> rows;
  Listed<ScenePlan<T>> columns;
  Listed<SceneModel, ScenePlan<T>> derive;
  Listed<SceneModel, ScenePlan<T>, int, double*> finish;
};

// scene_step.
template <class T>
class SceneFit final : public Computation {
 public:
  SceneFit(Backend& backend, const Problem& problem)
      : problem_(problem),
        model_(scene_model_of(problem.scene)),
        kernels_(problem.scene),
        parts_(scene_parts(problem.scene)),
        optics_(backend, cast<T>(attenuation(problem.scene)), "optics"),
        roots_(backend, cast<T>(roots(problem.scene.fft)), "roots"),
        data_(backend, cast<T>(problem.data), "inputs"),
        states_(backend, first_objects(problem), "state"),
        loss_(backend, 1, "result"),
        waves_(backend, std::size_t(problem.objects) * 2 * (problem.scene.fft + 2), "waves"),
        forms_(backend, std::size_t(problem.objects) * 4, "forms"),
        rows_(backend, 2 * split_plane(problem.scene), "rows"),
        spectrum_(backend, std::size_t(problem.scene.fft) * problem.scene.fft, "spectrum"),
        misfits_(backend, parts_, "misfits"),
        shares_(backend, problem.objects, "shares") {
    kernels_.build(*backend.compiler, problem.scene);
  }

  void step() override {
    const Scope scope("scene");
    const ScenePlan<T> plan = {.attenuation = optics_.data(),
                               .roots = roots_.data(),
                               .states = states_.data(),
                               .waves = waves_.data(),
                               .forms = forms_.data(),
                               .rows = rows_.data(),
                               .spectrum = spectrum_.data(),
                               .misfits = misfits_.data(),
                               .shares = shares_.data(),
                               .objects = problem_.objects};
    const auto objects = static_cast<unsigned>(problem_.objects);
    kernels_.place(shape({objects}), model_, plan);
    kernels_.generate(shape({1, parts_}), plan);
    kernels_.rows(shape({1, parts_}), model_, plan, data_.data());
    kernels_.columns(shape({1, parts_}), plan);
    kernels_.derive(shape({objects}), model_, plan);
    kernels_.finish({.grid = {1}, .block = {stamp_threads}}, model_, plan, static_cast<int>(parts_),
                    loss_.data());
  }
  void start_again(int) override { states_.upload(first_objects(problem_)); }
  std::vector<double> result() override {
    return told_objects(states_.to_host(), loss_.to_host()[0]);
  }
  std::vector<NamedReading> readings() override { return {{"path", 1}}; }

 private:
  LaunchShape shape(const Dim3& grid) const {
    return {.grid = grid,
            .block = {stamp_threads},
            .shared_bytes = shared_bytes(sizeof(T), problem_.scene.fft, 1, stamp_threads)};
  }

  Problem problem_;
  SceneModel model_;
  SceneKernels<T> kernels_;
  unsigned parts_;
  Buffer<T> optics_, roots_, data_;
  Buffer<FitState> states_;
  Buffer<double> loss_;
  Buffer<T> waves_, forms_, rows_, spectrum_;
  Buffer<double> misfits_;
  Buffer<Share> shares_;
};

}  // namespace holdfast::galaxy_shear
