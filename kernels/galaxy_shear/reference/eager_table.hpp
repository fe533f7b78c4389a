// SPDX-License-Identifier: Apache-2.0
// The reference of the optics' table: point-spread function, pixel and their product, each a pass
// over the whole half plane, as in every step of the published program.
#pragma once

#include <utility>
#include <vector>

#include "computation.hpp"
#include "galaxy_shear/problem/problem.hpp"
#include "galaxy_shear/reference/reference_formulas.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::galaxy_shear {

template <class Verbs>
class EagerTable final : public Computation {
  using T = Verbs::Value;

 public:
  EagerTable(Backend& backend, Problem problem)
      : problem_(std::move(problem)),
        lines_(problem_.scene.fft + 1),
        columns_(problem_.scene.fft / 2 + 1),
        verbs_(backend),
        psf_(backend, std::size_t(lines_) * columns_, "psf"),
        pixel_(backend, psf_.size(), "pixel"),
        product_(backend, psf_.size(), "result") {}

  void step() override {
    const Scope scope("table");
    const int n = problem_.scene.fft;
    const double step = two_pi / n;
    verbs_.psf(optics_of(problem_.scene.psf), problem_.scene.pixel_scale, n, step, psf_.data(),
               lines_, columns_);
    verbs_.pixel(n, step, pixel_.data(), lines_, columns_);
    verbs_.product(psf_.data(), pixel_.data(), product_.data(), lines_, columns_);
  }
  // The table's lines r >= 0.
  std::vector<double> result() override {
    std::vector<double> table;
    const std::vector<Value<T>> all = product_.to_host();
    for (std::size_t k = std::size_t(columns_ - 1) * columns_; k < all.size(); ++k)
      table.push_back(all[k].re);
    return table;
  }

 private:
  Problem problem_;
  int lines_, columns_;
  Verbs verbs_;
  Buffer<Value<T>> psf_, pixel_, product_;
};

}  // namespace holdfast::galaxy_shear
