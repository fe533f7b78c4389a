// SPDX-License-Identifier: Apache-2.0
// Both variants on the host. The optimized one makes one pass, not two, and inside of a row, where
// no neighbour is beyond an end, vectors.
#include "heat/heat.hpp"
#include "heat/problem/formulas.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::heat::HOLDFAST_ISA {
namespace {

class OnHost final : public Computation {
 public:
  OnHost(Backend& backend, Variant variant, Size size)
      : variant_(variant),
        n_(size.n),
        threads_(step_work(size).flops < flops_worth_sharing ? 1 : host_limits().threads),
        u_(backend, exact(size, 0), "u"),
        other_(backend, u_.size(), "other") {}

  void step() override {
    if (variant_ == Variant::reference) return change_and_update(u_.data(), other_.data(), n_);
    make_next(u_.data(), other_.data(), n_);
    std::swap(u_, other_);
  }
  std::vector<double> result() override { return u_.to_host(); }
  void start_again(int) override { u_.upload(exact({n_}, 0)); }

 private:
  void change_and_update(double* u, double* change, int n) const {
#pragma omp parallel for num_threads(threads_)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) change[i * n + j] = laplacian_at(u, i, j, n);
#pragma omp parallel for num_threads(threads_)
    for (int k = 0; k < n * n; ++k) u[k] += diffusion * change[k];
  }

  void make_next(const double* u, double* next, int n) const {
    const auto point = [=](int i, int j) {
      next[i * n + j] = u[i * n + j] + diffusion * laplacian_at(u, i, j, n);
    };
#pragma omp parallel for num_threads(threads_)
    for (int i = 0; i < n; ++i) {
      point(i, 0);
#pragma omp simd
      for (int j = 1; j < n - 1; ++j) point(i, j);
      point(i, n - 1);
    }
  }

  Variant variant_;
  int n_, threads_;
  Buffer<double> u_, other_;
};

}  // namespace

std::unique_ptr<Computation> make_on_host(Backend& backend, Variant variant, Size size) {
  return std::make_unique<OnHost>(backend, variant, size);
}

}  // namespace holdfast::heat::HOLDFAST_ISA
