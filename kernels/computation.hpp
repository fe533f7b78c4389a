// SPDX-License-Identifier: Apache-2.0
// All that the harness sees of a workload.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/precision.hpp"
#include "runtime/count/ledger.hpp"

namespace holdfast {

// What one step must at least do, whoever implements it: the roofline floor follows from these
// numbers. A function of the size alone, so that a faster variant cannot shrink its own yardstick.
struct Work {
  double flops = 0;
  double bytes = 0;     // compulsory reads plus writes of device (on host: main) memory
  double phases = 0;    // that must follow one another through the whole device: each costs at
                        // least a launch, a graph node or a grid-wide barrier
  double specials = 0;  // exponentials, logarithms, sines, roots
  Precision precision = Precision::f64;  // of the arithmetic
};

enum class Variant { reference, optimized };

// A workload's own named value, in SI units; it becomes an advisory metric unless the case declares
// more.
struct NamedReading {
  std::string name = {};
  double value = 0;
};

// A workload at one size. Inputs are in place after construction, and every step does the same
// work.
class Computation {
 public:
  virtual ~Computation() = default;
  virtual void step() = 0;  // enqueues one unit of work; asynchronous on a GPU
  virtual std::vector<double>
  result() = 0;  // what the steps so far computed; zeros or nothing on a dry device
  virtual std::vector<NamedReading> readings() { return {}; }
  virtual Permissions permissions() const { return {}; }  // what a steady step does on purpose
  // Begins anew on the same memory with the same compiled code, before the first step: with the
  // input of construction, number 0, or another one of its shape. A workload that takes no start
  // goes on where it is.
  virtual void start_again(int input) { (void)input; }
};

}  // namespace holdfast
