// SPDX-License-Identifier: Apache-2.0
// Both variants on a device: the kernels of heat.cu as a list, and their launches.
#include "heat/heat.hpp"
#include "heat/sources.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/compile/kernel_list.hpp"
#include "runtime/sources.hpp"

namespace holdfast::heat {
namespace {

struct Kernels : KernelList {
  Listed<const double*, double*, int> laplacian{*this, "laplacian"}, step{*this, "step"};
  Listed<double*, const double*, int> update{*this, "update"};
};

class OnDevice final : public Computation {
 public:
  OnDevice(Backend& backend, Variant variant, Size size)
      : variant_(variant),
        n_(size.n),
        u_(backend, exact(size, 0), "u"),
        other_(backend, u_.size(), "other") {
    kernels_.compile(
        *backend.compiler,
        {.code = sources::heat_cu, .headers = {runtime::sources::both_hpp, sources::formulas_hpp}});
  }

  void step() override {
    const LaunchShape points = {.grid = {blocks(n_, 32), blocks(n_, 8)}, .block = {32, 8}};
    if (variant_ == Variant::optimized) {
      kernels_.step(points, u_.data(), other_.data(), n_);
      return std::swap(u_, other_);
    }
    kernels_.laplacian(points, u_.data(), other_.data(), n_);
    kernels_.update(points, u_.data(), other_.data(), n_);
  }
  std::vector<double> result() override { return u_.to_host(); }
  void start_again(int) override { u_.upload(exact({n_}, 0)); }

 private:
  Variant variant_;
  int n_;
  Buffer<double> u_, other_;
  Kernels kernels_ = {};
};

}  // namespace

std::unique_ptr<Computation> make_on_device(Backend& backend, Variant variant, Size size) {
  return std::make_unique<OnDevice>(backend, variant, size);
}

}  // namespace holdfast::heat
