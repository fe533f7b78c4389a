// SPDX-License-Identifier: Apache-2.0
// Computations of known work and known result, each limited by one resource: bandwidth, arithmetic,
// library, latency. The caller that steps them measures the rate.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "computation.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast::calibration {

enum class Kind {
  copy,         // to = from, by loads and stores; half of the footprint each
  triad,        // a = b + 3 c: two reads for a write; a third of the footprint each (host)
  read,         // a sum
  memory_copy,  // to = from by the backend's own copy (device)
  upload,       // to the device, from page-locked memory (device)
  multiply_add,
  exponentials,
  matrix_product,  // by the backend's Blas: `edge` rows and columns
  split_products,  // f32 products as three bf16 ones on the matrix unit (device)
  launches,        // launches of a nearly empty kernel (device)
  graph_nodes,     // the same kernel, replayed from a graph (device)
  barriers,        // host: fork and join of a team of host_limits().threads; device: all blocks of
                   // a cooperative kernel meet
};
std::string_view name(Kind kind);

struct Size {
  Kind kind = Kind::copy;
  Precision precision = Precision::f64;  // for multiply_add, exponentials and matrix_product
  std::size_t footprint_bytes = 0;       // for copies, triad, read and upload
  int edge = 0;                          // for matrix_product
  int repeats = 1;       // within a step: passes, iterations, launches, nodes or barriers
  bool streams = false;  // copy past the caches: a footprint beyond all of them (host)
};

// A Calibration's result is known beforehand; each value may deviate by `tolerance`, relative.
class Calibration : public Computation {
 public:
  virtual Work work() const = 0;                     // per step
  virtual std::vector<double> expected() const = 0;  // of result(), after the steps so far
  virtual double tolerance() const { return 0; }
};

// On host a calibration is one thread's share and uses no other thread: each thread of a team makes
// one. Only `barriers` takes the team itself. Throws Error{bad_input} for a kind that the backend
// lacks.
std::unique_ptr<Calibration> make(Backend& backend, const Size& size);

// Throws Error{device}, with both numbers, if the result after the steps so far differs from
// expected() by more than tolerance().
void verify(Calibration& calibration, std::string_view what);

// make(), one step, and verify().
std::unique_ptr<Calibration> make_verified(Backend& backend, const Size& size);

}  // namespace holdfast::calibration
