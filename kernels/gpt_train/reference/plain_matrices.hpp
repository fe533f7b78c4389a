// SPDX-License-Identifier: Apache-2.0
// Isolated Newton-Schulz, matrix by matrix as written. Compiled per instruction set.
#pragma once

#include <algorithm>
#include <vector>

#include "gpt_train/newton_schulz.hpp"
#include "gpt_train/reference/plain_newton_schulz.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

template <class T>
class PlainMatrices final : public Computation {
 public:
  PlainMatrices(Backend& backend, const Matrices& what)
      : what_(what),
        blas_(backend),
        given_(backend, std::size_t(what.numbers()), "inputs: matrices"),
        made_(backend, std::size_t(what.numbers()), "result: matrices"),
        scratch_(backend, std::size_t(2 * what.each() + 3 * what.square()),
                 "scratch: Newton-Schulz") {
    start_again(0);
  }

  void start_again(int input) override {
    const std::vector<double> numbers = drawn(what_, input);
    for (std::size_t k = 0; k < numbers.size(); ++k) given_.data()[k] = static_cast<T>(numbers[k]);
  }

  void step() override {
    const Scope scope("newton_schulz");
    T *wide = scratch_.data(), *product = wide + what_.each(), *squares = product + what_.each();
    std::copy_n(given_.data(), what_.numbers(), made_.data());
    for (int k = 0; k < what_.batch; ++k)
      plain::make_orthogonal(blas_, what_.rows, what_.columns, made_.data() + k * what_.each(),
                             wide, product, squares, what_.square());
  }
  std::vector<double> result() override { return {made_.data(), made_.data() + made_.size()}; }

 private:
  Matrices what_;
  Blas blas_;
  Buffer<T> given_, made_, scratch_;
};

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
