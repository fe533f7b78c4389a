// SPDX-License-Identifier: Apache-2.0
// Isolated Newton-Schulz on a device: the launches of an update with one timescale whose moment is
// the gradient.
#include <numeric>
#include <vector>

#include "gpt_train/device/newton_schulz.hpp"
#include "gpt_train/variants.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::gpt_train {
namespace {

MatrixGroup group_of(const Matrices& what) {
  MatrixGroup group = {what.least(), what.greatest(),
                       std::vector<std::size_t>(static_cast<std::size_t>(what.batch))};
  std::iota(group.members.begin(), group.members.end(), std::size_t{0});
  return group;
}
std::vector<Member> members_of(const Matrices& what) {
  std::vector<Member> all;
  for (int k = 0; k < what.batch; ++k)
    all.push_back(
        {k * what.each(), what.rows, what.columns, what.columns, what.rows > what.columns, 1});
  return all;
}

class DeviceMatrices final : public Computation {
 public:
  DeviceMatrices(Backend& backend, const Matrices& what)
      : device_(*backend.device),
        what_(what),
        group_(group_of(what)),
        places_(group_, 1, 0),
        kernels_(*backend.compiler),
        blas_(backend, planned_gemm_work_area_bytes),
        schedule_(backend, std::vector<Schedule>{{.gain = {1}}}, "inputs: schedule"),
        members_(backend, members_of(what), "inputs: members"),
        given_(backend, numbers(), "inputs: matrices"),
        moments_(backend, numbers(), "scratch: moments"),
        memory_(backend, places_.bytes, "result: matrices"),
        drawing_(*backend.compiler) {
    start_again(0);
    device_.fill_zero(moments_.data(), moments_.bytes());
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
    const Moving from = {schedule_.data(), {1, {}, {1}},    members_.data(),
                         given_.data(),    moments_.data(), what_.numbers()};
    made_ = make_orthogonal(kernels_, blas_, group_, {places_, memory_.data()}, from);
  }

  std::vector<double> result() override {
    device_.synchronize();
    if (!device_.executes()) return {};
    std::vector<Bf16> all(numbers());
    device_.download(all.data(), made_, all.size() * sizeof(Bf16));
    std::vector<double> told;
    const bool turned = what_.rows > what_.columns;
    for (std::int64_t k = 0; k < what_.batch; ++k)
      for (std::int64_t i = 0; i < what_.rows; ++i)
        for (std::int64_t j = 0; j < what_.columns; ++j) {
          const std::int64_t at = turned ? j * what_.rows + i : i * what_.columns + j;
          told.push_back(double{widened(all[std::size_t(k * what_.each() + at)])});
        }
    return told;
  }

  std::vector<NamedReading> readings() override { return {{"layout_bytes", 0}}; }

 private:
  std::size_t numbers() const { return static_cast<std::size_t>(what_.numbers()); }

  Device& device_;
  Matrices what_;
  MatrixGroup group_;
  NewtonSchulz places_;
  OptimizerKernels kernels_;
  Blas blas_;
  Buffer<Schedule> schedule_;
  Buffer<Member> members_;
  Buffer<Bf16> given_;
  Buffer<float> moments_;
  Buffer<std::byte> memory_;
  ModelKernels drawing_;
  const Bf16* made_ = nullptr;
};

}  // namespace

std::unique_ptr<Computation> make_cuda_matrices(Backend& backend, const Matrices& what) {
  return std::make_unique<DeviceMatrices>(backend, what);
}

}  // namespace holdfast::gpt_train
