// SPDX-License-Identifier: Apache-2.0
// The optimized variant of scenes on a device (scene.cu): five launches per step for any number of
// objects.
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
  Listed<ScenePlan<T>> derive;
  Listed<SceneModel, ScenePlan<T>, int, int, double*> finish;
};

// The unit scene_step.
template <class T>
class SceneFit final : public Computation {
 public:
  SceneFit(Backend& backend, const Problem& problem)
      : problem_(problem),
        model_(scene_model_of(problem.scene)),
        kernels_(problem.scene),
        blocks_(scene_blocks(problem.scene, problem.objects)),
        optics_(backend, cast<T>(attenuation(problem.scene)), "optics"),
        roots_(backend, cast<T>(roots(problem.scene.fft)), "roots"),
        data_(backend, cast<T>(problem.data), "inputs"),
        states_(backend, first_objects(problem), "state"),
        loss_(backend, 1, "result"),
        points_(backend, std::size_t(problem.objects) + 1, "points"),
        waves_(backend, std::size_t(problem.objects) * 2 * (problem.scene.fft + 2), "waves"),
        forms_(backend, std::size_t(problem.objects) * 4, "forms"),
        rows_(backend, 2 * split_plane(problem.scene), "rows"),
        misfits_(backend, blocks_.rows, "misfits"),
        sums_(backend, std::size_t(blocks_.pieces) * problem.objects * 6, "sums"),
        shares_(backend, problem.objects, "shares") {
    kernels_.build(*backend.compiler, problem.scene);
  }

  void step() override {
    const Scope scope("scene");
    const ScenePlan<T> plan = {.attenuation = optics_.data(),
                               .roots = roots_.data(),
                               .states = states_.data(),
                               .points = points_.data(),
                               .waves = waves_.data(),
                               .forms = forms_.data(),
                               .rows = rows_.data(),
                               .misfits = misfits_.data(),
                               .sums = sums_.data(),
                               .shares = shares_.data(),
                               .objects = problem_.objects};
    const std::size_t waves = scene_waves_bytes(problem_.scene, sizeof(T));
    kernels_.place(shape({static_cast<unsigned>(problem_.objects) + 1}), model_, plan);
    kernels_.generate(shape({1, blocks_.columns}, waves), plan);
    kernels_.rows(shape({1, blocks_.rows}), model_, plan, data_.data());
    kernels_.derive(shape({blocks_.objects, blocks_.slices}, waves), plan);
    kernels_.finish({.grid = {1}, .block = {finishing_threads}}, model_, plan,
                    static_cast<int>(blocks_.rows), static_cast<int>(blocks_.pieces), loss_.data());
  }
  void start_again(int) override { states_.upload(first_objects(problem_)); }
  std::vector<double> result() override {
    return told_objects(states_.to_host(), loss_.to_host()[0]);
  }
  std::vector<NamedReading> readings() override { return {{"path", 1}}; }

 private:
  LaunchShape shape(const Dim3& grid, std::size_t more = 0) const {
    return {.grid = grid,
            .block = {stamp_threads},
            .shared_bytes = shared_bytes(sizeof(T), problem_.scene.fft, 1, stamp_threads) + more};
  }

  Problem problem_;
  SceneModel model_;
  SceneKernels<T> kernels_;
  SceneBlocks blocks_;
  Buffer<T> optics_, roots_, data_;
  Buffer<FitState> states_;
  Buffer<double> loss_;
  Buffer<Point> points_;
  Buffer<T> waves_, forms_, rows_;
  Buffer<double> misfits_, sums_;
  Buffer<Share> shares_;
};

}  // namespace holdfast::galaxy_shear
