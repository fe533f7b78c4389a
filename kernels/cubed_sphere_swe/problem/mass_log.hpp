// SPDX-License-Identifier: Apache-2.0
// Private to the device variants: the masses that a loop records, one after each step.
#pragma once

#include <vector>

#include "cubed_sphere_swe/problem/formulas.hpp"
#include "runtime/backend/buffer.hpp"

namespace holdfast::cubed_sphere_swe {

// `mass` and `loop` write it on the device. It keeps the start's mass and those after the last
// `steps` steps.
class MassLog {
 public:
  // `blocks`: of the widest kernel that writes it.
  MassLog(Backend& backend, int n, int steps, unsigned blocks);

  const MassHistory& history() const { return history_; }
  void recorded(int masses) { recorded_ += static_cast<unsigned>(masses); }  // by enqueued kernels

  // Waits for the newest mass and stores it: the cost of reading back in every step.
  void read_newest();

  // The largest relative_drift() from the start. Downloads what has not been read yet.
  double drift();

 private:
  MassHistory history_ = {};
  Buffer<double> masses_, partials_;
  Buffer<unsigned> counters_;
  Device& device_;
  unsigned recorded_ = 0;
  std::vector<double> read_ = {};  // by read_newest()
};

// Shape of the kernel `mass` for n: a block per mass_threads values, at most 2 per multiprocessor.
LaunchShape mass_shape(const Device& device, int n);

// The largest relative_drift() from the first, which is that of the start.
double mass_drift(const std::vector<double>& masses);

// Integral of h, the first field of `row`.
template <class T>
double mass_of(int n, const std::vector<T>& row);

}  // namespace holdfast::cubed_sphere_swe
