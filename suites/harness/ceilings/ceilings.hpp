// SPDX-License-Identifier: Apache-2.0
// What this machine can do at best, calibrated in the process that asks, and the least time that
// follows from it: the roofline that a case's floor is read from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "computation.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast {

struct Ceilings {
  // A cache level or memory, as all threads of a team, or the whole device, see it together.
  struct Level {
    std::string name = {};        // "l2", "memory"
    double capacity_bytes = 0;    // what it can hold; memory is without bound
    double footprint_bytes = 0;   // that was calibrated
    double bytes_per_second = 0;  // reads plus writes
  };
  struct Peak {
    std::optional<double> flop_per_second = {};       // multiply-adds, two each
    std::optional<double> gemm_flop_per_second = {};  // on a GPU by units that nothing else can use
    std::optional<double> split_flop_per_second = {};  // the same as three bf16 products for each
    std::optional<double> specials_per_second = {};    // exponentials
  };

  std::vector<Level> levels = {};  // innermost first, memory last
  Peak f64 = {}, f32 = {};
  Peak bf16 = {};  // of products alone: what else is computed beside them is f32
  std::optional<double> memory_copy_bytes_per_second = {};  // by the device's copy verb
  std::optional<double> h2d_bytes_per_second = {};  // from page-locked memory, until it is there
  std::optional<double> launch_seconds = {};        // from one launch to the next, back to back
  std::optional<double> graph_node_seconds = {};
  std::optional<double> grid_barrier_seconds = {};
  std::optional<double> barrier_seconds = {};  // to fork and join a team of threads

  // The least time of a step, and what binds it: "l1", "l2", "l3", "memory", "flops", "specials",
  // "latency"; empty for no work.
  struct Floor {
    double seconds = 0;
    std::string bound = {};
  };
  // `footprint_bytes`: the memory that a step touches, each byte once. What fits a level stays
  // there: each level serves the share of the footprint that it can hold besides those within it.
  Floor floor(const Work& work, double footprint_bytes) const;
  double floor_seconds(const Work& work, double footprint_bytes) const {
    return floor(work, footprint_bytes).seconds;
  }
  double bandwidth(double footprint_bytes) const;  // that follows; zero where none was calibrated

  const Peak& peak_of(Precision precision) const;

  // For results and reports: every name that any device has, empty where this one cannot know.
  std::map<std::string, std::optional<double>> named() const;
};

// Of the backend's machine, measured now (calibrate.hpp); empty on a device that does not execute.
std::optional<Ceilings> calibrate(Backend& backend);

}  // namespace holdfast
