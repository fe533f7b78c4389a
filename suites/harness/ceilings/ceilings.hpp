// SPDX-License-Identifier: Apache-2.0
// The ceilings of this machine, calibrated in the process that uses them, and the minimal time they
// imply: the roofline behind a case's floor.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "computation.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast {

struct Ceilings {
  // A cache level or memory, as seen by all threads of a team together, or by the whole device.
  struct Level {
    std::string name = {};        // "l2", "memory"
    double capacity_bytes = 0;    // memory is unbounded
    double footprint_bytes = 0;   // the calibrated one
    double bytes_per_second = 0;  // reads plus writes
  };
  struct Peak {
    std::optional<double> flop_per_second = {};        // multiply-adds, two each
    std::optional<double> gemm_flop_per_second = {};   // by the BLAS, which may use matrix units
    std::optional<double> split_flop_per_second = {};  // f32 products by three bf16 ones each
    std::optional<double> specials_per_second = {};    // exponentials
  };

  std::vector<Level> levels = {};  // innermost first, memory last
  Peak f64 = {}, f32 = {};
  Peak bf16 = {};  // products alone: other computation beside them is in f32
  std::optional<double> memory_copy_bytes_per_second = {};  // by the device's copy verb
  std::optional<double> h2d_bytes_per_second = {};  // from page-locked memory, until complete
  std::optional<double> launch_seconds = {};        // from one launch to the next, back to back
  std::optional<double> graph_node_seconds = {};
  std::optional<double> grid_barrier_seconds = {};
  std::optional<double> barrier_seconds = {};  // to fork and join a team of threads

  // The minimal time of a step, and what limits it: "l1", "l2", "l3", "memory", "flops",
  // "specials", "latency"; empty for no work.
  struct Floor {
    double seconds = 0;
    std::string bound = {};
  };
  // `footprint_bytes`: the memory that a step touches, each byte once. What fits into a level stays
  // there: each level serves the part of the footprint that it holds beyond the levels within it.
  Floor floor(const Work& work, double footprint_bytes) const;
  double floor_seconds(const Work& work, double footprint_bytes) const {
    return floor(work, footprint_bytes).seconds;
  }
  double bandwidth(double footprint_bytes) const;  // at that footprint; zero if not calibrated

  const Peak& peak_of(Precision precision) const;

  // For results and reports: every name that any device has, empty if unknown here.
  std::map<std::string, std::optional<double>> named() const;
};

// Ceilings of the backend's machine, measured now (calibrate.hpp); empty on a device that does not
// execute.
std::optional<Ceilings> calibrate(Backend& backend);

}  // namespace holdfast
