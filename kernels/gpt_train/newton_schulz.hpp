// SPDX-License-Identifier: Apache-2.0
// Isolated Newton-Schulz: the orthogonalisation in Muon's update of matrices of one shape, without
// the moments before and the parameters after it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "computation.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast::gpt_train {

struct Matrices {
  int rows = 128, columns = 384;
  int batch = 1;
  Precision precision = Precision::f32;  // on a host f32 or f64, on a device bf16

  int least() const { return rows < columns ? rows : columns; }     // m
  int greatest() const { return rows < columns ? columns : rows; }  // q
  std::int64_t each() const { return std::int64_t{rows} * columns; }
  std::int64_t square() const { return std::int64_t{least()} * least(); }
  std::int64_t numbers() const { return batch * each(); }
};

// The matrices of an input before rounding, one after the other, row-major.
std::vector<double> drawn(const Matrices& what, int input = 0);

// A step orthogonalises each of them separately; its result has their order. start_again() draws
// those of another input. On a device
// layout_bytes is read. Throws Error{bad_input} for invalid sizes.
std::unique_ptr<Computation> make_newton_schulz(Backend& backend, Variant variant,
                                                const Matrices& what);

// Squares are symmetric: only half of each counts as work.
Work work_of(const Matrices& what);

// The bytes that one computation holds, by formula.
std::int64_t formula_peak_bytes(Variant variant, const Matrices& what);

}  // namespace holdfast::gpt_train
