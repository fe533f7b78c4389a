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
    converged,                 // as many as it needs
    ladder;                    // all strategies compared
// patterns.cpp
extern const Family<Row> angle_loop, batch_chi2, chunk_gather, round_trip;
// streams.cpp
extern const Family<Row> stream_faults,  // planted faults, and their effect on batches
    stream_overhead,                     // the cost of checking each batch
    stream_resume;                       // stopped, spoilt and resumed
// saving.cpp
extern const Family<Row> stream_checkpoint,  // the time to save a fit
    progress,                                // the cost of reporting progress
    silence,                                 // the same fit without reports
    stream_memory;                           // memory held from batch to batch
// budgets.cpp
extern const Family<Row> memory_budget,  // a stream of 8 passes within a byte budget
    out_of_memory;                       // only a stream fits in memory
// machine.cpp
extern const Family<Row> clear,  // compiled again after all is forgotten
    guard,                       // whether a device computes at all
    status,                      // the cost of reporting the machine
    threads,                     // the gain of more threads
    spectrum;                    // the published benchmark of a device
// protocols.cpp
extern const Family<Row> first_call,  // the costs of the first call and the next
    shape_change,                     // changes that must not recompile
    in_turn,                          // two inputs that must not be confused
    memory;                           // peaks compared with the published estimate
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
  double probability = 0;              // of families::stream_faults, per attempt
  StreamMode mode = StreamMode::full;  // of families::stream_overhead
  int permanent = -1;                  // a batch whose attempts all fail; -1: none
  int limit_mebibytes = 0;             // of families::memory_budget
  Change change = Change::shape;
  std::uint64_t seed = Recipe{}.seed;  // of the noise of data
  Kinds only = {};                     // devices it is restricted to; empty: all that can run it
  int checkpoint_frequency = 10;       // batches; of streams that are saved
  std::string checkpoint_folder = {};  // empty: they are not saved
  double least_success_rate = 0.5;     // of streams that check their batches
  bool counted = false;                // small enough for its instructions to be counted
};

// The memory given to the published rules of strategies, chunks and batches.
inline constexpr double available_gib = 64;

// "xpcs_fit/<word>/<before>/mode:../<after>/size:../f64".
std::string named(const std::string& word, const Row& row, const std::vector<Axis>& before = {},
                  const std::vector<Axis>& after = {});

Size size_of(const Row& row);
inline std::int64_t points_of(const Row& row) {
  return size_of(row).points();
}

// Several cases of a process share the same input, which is made once; of the large ones only the
// last is kept, for the largest has 8 GB. Zeros if nothing executes.
Problem problem_of(const Row& row, bool executes, std::int64_t large_bytes = 500'000'000);

}  // namespace holdfast::xpcs_fit
