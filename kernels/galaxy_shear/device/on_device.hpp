// SPDX-License-Identifier: Apache-2.0
// Shared by all units of the optimized variant on a device: the plan's tables, the launch shape,
// the kernel's program.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "computation.hpp"
#include "galaxy_shear/device/optimized_kernels.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::galaxy_shear {

template <class T>
std::vector<T> cast(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

// exp(-2 pi i k / n), real and imaginary parts interleaved.
inline std::vector<double> roots(int n) {
  std::vector<double> values;
  for (int k = 0; k < n; ++k) {
    const double angle = 2 * std::numbers::pi * k / n;
    values.insert(values.end(), {std::cos(angle), -std::sin(angle)});
  }
  return values;
}

// Kernels: a type of optimized_kernels.hpp.
template <class T, class Kernels>
class OnDevice : public Computation {
 public:
  OnDevice(Backend& backend, const Problem& problem)
      : device_(*backend.device),
        problem_(problem),
        model_(model_of(problem.scene)),
        kernels_(problem.scene),
        optics_(backend, cast<T>(attenuation(problem.scene)), "optics"),
        roots_(backend, cast<T>(roots(problem.scene.fft)), "roots") {
    kernels_.build(*backend.compiler, problem.scene);
  }
  std::vector<NamedReading> readings() override { return {{"path", 0}}; }

 protected:
  // One block per galaxy; every kernel takes model and tables first.
  template <class Kernel, class... Arguments>
  void launch(std::string_view name, const Kernel& kernel, const Arguments&... arguments) const {
    const Scope scope(name);
    kernel(shape(), model_, optics_.data(), roots_.data(), arguments...);
  }
  std::size_t pixels() const { return std::size_t(problem_.scene.image) * problem_.scene.image; }

  Device& device_;
  Problem problem_;
  Model model_;
  Kernels kernels_;

 private:
  LaunchShape shape() const {
    return {.grid = {static_cast<unsigned>(problem_.batch)},
            .block = {stamp_threads},
            .shared_bytes =
                shared_bytes(sizeof(T), problem_.scene.fft, problem_.scene.image, stamp_threads)};
  }

  Buffer<T> optics_, roots_;
};

}  // namespace holdfast::galaxy_shear
