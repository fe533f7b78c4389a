// SPDX-License-Identifier: Apache-2.0
// Isolated Newton-Schulz on a device, matrix by matrix as written.
#include <vector>

#include "gpt_train/device/model_kernels.hpp"
#include "gpt_train/reference/device_newton_schulz.hpp"
#include "gpt_train/variants.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::gpt_train {
namespace {

class DevicePlainMatrices final : public Computation {
 public:
  DevicePlainMatrices(Backend& backend, const Matrices& what)
      : device_(*backend.device),
        what_(what),
        kernels_(*backend.compiler),
        blas_(backend, planned_gemm_work_area_bytes),
        given_(backend, numbers(), "inputs: matrices"),
        made_(backend, numbers(), "result: matrices"),
        scratch_(backend, scratch_count(what), "scratch: Newton-Schulz"),
        newton_schulz_(kernels_, what.each(), what.square(), scratch_.data()),
        drawing_(*backend.compiler) {
    start_again(0);
    device_.fill_zero(scratch_.data(), scratch_.bytes());
    step();  // the first call plans the products
  }

  void start_again(int input) override {
    drawing_.draw(flat_shape(what_.numbers(), 16),
                  {matrix_stream + static_cast<std::uint64_t>(input), 0, 0, 1,
                   std::int64_t{what_.batch} * what_.rows, what_.columns, what_.columns},
                  nullptr, given_.data());
  }

  void step() override {
    const Scope scope("newton_schulz");
    const std::int64_t before = newton_schulz_.layout_bytes(), each = what_.each();
    for (int k = 0; k < what_.batch; ++k) {
      float* const x = made_.data() + k * each;
      // Widens to f32: with a factor of 0, the scratch adds nothing.
      kernels_.blend.of<Bf16>()(plain_flat(each), given_.data() + k * each, 1.F, scratch_.data(),
                                0.F, each, x);
      newton_schulz_(blas_, what_.rows, what_.columns, x);
    }
    layout_bytes_ = newton_schulz_.layout_bytes() - before;
  }

  std::vector<double> result() override {
    device_.synchronize();
    if (!device_.executes()) return {};
    const std::vector<float> all = made_.to_host();
    return {all.begin(), all.end()};
  }

  std::vector<NamedReading> readings() override {
    return {{"layout_bytes", double(layout_bytes_)}};
  }

 private:
  std::size_t numbers() const { return static_cast<std::size_t>(what_.numbers()); }
  static std::size_t scratch_count(const Matrices& what) {
    return static_cast<std::size_t>(DevicePlainNewtonSchulz::numbers(what.each(), what.square()));
  }

  Device& device_;
  Matrices what_;
  PlainUpdateKernels kernels_;
  Blas blas_;
  Buffer<Bf16> given_;
  Buffer<float> made_, scratch_;
  DevicePlainNewtonSchulz newton_schulz_;
  ModelKernels drawing_;
  std::int64_t layout_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Computation> make_cuda_plain_matrices(Backend& backend, const Matrices& what) {
  return std::make_unique<DevicePlainMatrices>(backend, what);
}

}  // namespace holdfast::gpt_train
