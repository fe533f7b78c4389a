// SPDX-License-Identifier: Apache-2.0
// Isolated Newton-Schulz, fused. Compiled per instruction set.
#pragma once

#include <vector>

#include "arrays/host_loops.hpp"
#include "gpt_train/host/newton_schulz.hpp"
#include "gpt_train/newton_schulz.hpp"
#include "gpt_train/problem/problem.hpp"
#include "runtime/backend/buffer.hpp"
#include "runtime/count/scope.hpp"

namespace holdfast::gpt_train::HOLDFAST_ISA {

template <class T>
class FusedMatrices final : public Computation {
 public:
  FusedMatrices(Backend& backend, const Matrices& what)
      : what_(what),
        at_a_time_(matrices_at_a_time(what.least(), what.greatest(), what.batch, sizeof(T))),
        blas_(backend),
        given_(backend, std::size_t(what.numbers()), "inputs: matrices"),
        made_(backend, std::size_t(what.numbers()), "result: matrices"),
        scratch_(backend, std::size_t(at_a_time_ * 2 * (what.each() + what.square())),
                 "scratch: Newton-Schulz") {
    start_again(0);
  }

  void start_again(int input) override {
    const std::vector<double> numbers = drawn(what_, input);
    for (std::size_t k = 0; k < numbers.size(); ++k) given_.data()[k] = static_cast<T>(numbers[k]);
  }

  void step() override {
    const Scope scope("newton_schulz");
    for (std::int64_t first = 0; first < what_.batch; first += at_a_time_)
      some(first, std::min(at_a_time_, what_.batch - first));
  }
  std::vector<double> result() override { return {made_.data(), made_.data() + made_.size()}; }

 private:
  void some(std::int64_t first, std::int64_t count) {
    const int rows = what_.rows, columns = what_.columns;
    const std::int64_t each = what_.each(), square = what_.square();
    T *x = scratch_.data(), *next = x + count * each, *gram = next + count * each,
      *factor = gram + count * square;
    const T* const given = given_.data() + first * each;
    T* const made = made_.data() + first * each;
    arrays::HOLDFAST_ISA::each_long<T>(count, 16 * each, [=](std::int64_t k) {
      const T* from = given + k * each;
      T* to = x + k * each;
      each_place(rows, columns, columns,
                 [=](std::int64_t at, std::int64_t place) { to[place] = from[at]; });
      normalise(to, each);
    });
    make_orthogonal(blas_, what_.least(), what_.greatest(), static_cast<int>(count), x, next, gram,
                    factor);
    const T* const done = x;
    arrays::HOLDFAST_ISA::each_long<T>(count, 16 * each, [=](std::int64_t k) {
      const T* from = done + k * each;
      T* to = made + k * each;
      each_place(rows, columns, columns,
                 [=](std::int64_t at, std::int64_t place) { to[at] = from[place]; });
    });
  }

  Matrices what_;
  std::int64_t at_a_time_;
  Blas blas_;
  Buffer<T> given_, made_, scratch_;
};

}  // namespace holdfast::gpt_train::HOLDFAST_ISA
