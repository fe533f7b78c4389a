// SPDX-License-Identifier: Apache-2.0
// A row of the suite's table: one claim about one computation at one size.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "families/family.hpp"
#include "xpcs_fit/data/sizes.hpp"
#include "xpcs_fit/patterns.hpp"
#include "xpcs_fit/strategies.hpp"

namespace holdfast::xpcs_fit {

struct Row;

namespace families {
// stepped.cpp
extern const Family<Row> g2, residual, normal_equations;
// fits.cpp
extern const Family<Row> fit,  // 8 passes
    converged,                 // as many as it takes
    ladder;                    // all strategies beside each other
// patterns.cpp
extern const Family<Row> angle_loop, batch_chi2, chunk_gather, round_trip;
// streams.cpp
extern const Family<Row> stream_faults,  // planted faults, and what becomes of batches
    stream_overhead,                     // what looking at each batch costs
    stream_resume;                       // stopped, spoilt and resumed
// saving.cpp
extern const Family<Row> stream_checkpoint,  // how long it takes to save a fit
    progress,                                // what telling how far it is costs
    silence,                                 // the same fit, which tells nothing
    stream_memory;                           // what is held from batch to batch
// budgets.cpp
extern const Family<Row> memory_budget,  // a stream of 8 passes within so many bytes
    out_of_memory;                       // where only a stream has room
// machine.cpp
extern const Family<Row> clear,  // compiled again, once all is forgotten
    guard,                       // that a device computes at all
    status,                      // what telling of it costs
    threads,                     // what more of them bring
    spectrum;                    // the published benchmark of a device
// protocols.cpp
extern const Family<Row> first_call,  // what the first call costs, and the next
    shape_change,                     // what must not be compiled again
    in_turn,                          // two inputs that must not be taken for one another
    memory;                           // peaks beside the published estimate
}  // namespace families

// The change that a case of families::shape_change makes.
enum class Change { shape, dtype_mode, tail, constants };

struct Row {
  const Family<Row>* family = &families::normal_equations;
  NamedSize size = NamedSize::t;
  Tier tier = Tier::full;
  Options options = {};
  Strategy strategy = Strategy::standard;  // of fits
  DataSource source = DataSource::resident;
  int angles = 0, frames = 0;  // of families::angle_loop, instead of a size
  int count =
      1;  // of other patterns: sets of parameters, chunks, iterations; batches; threads; samples
  int parameters = 9;                  // of families::stream_checkpoint
  double probability = 0;              // of families::stream_faults, that an attempt fails
  StreamMode mode = StreamMode::full;  // of families::stream_overhead
  int permanent = -1;                  // a batch of which all do; -1: none
  int limit_mebibytes = 0;             // of families::memory_budget
  Change change = Change::shape;
  std::uint64_t seed = Recipe{}.seed;  // of the noise of data
  Kinds only = {};                     // of devices that it is confined to; empty: all that can
  int checkpoint_frequency = 10;       // batches; of streams that are saved
  std::string checkpoint_folder = {};  // empty: they are not
  double least_success_rate = 0.5;     // of streams that look at their batches
  bool counted = false;                // small enough for its instructions to be counted
};

// GiB that the published rules of strategies, chunks and batches are given.
inline constexpr double available_gib = 64;

// "xpcs_fit/<word>/mode:../<axes>/size:../f64".
std::string named(const std::string& word, const Row& row, const std::vector<Axis>& axes = {});

// "xpcs_fit/<word>/<axes>/mode:../size:../f64".
std::string named(const std::string& word, const std::vector<Axis>& axes, const Row& row);

Size size_of(const Row& row);
inline std::int64_t points_of(const Row& row) {
  return size_of(row).points();
}

// Several cases of a process ask for the same input; it is made once. Zeros where nothing executes.
Problem problem_of(const Row& row, bool executes);

}  // namespace holdfast::xpcs_fit
