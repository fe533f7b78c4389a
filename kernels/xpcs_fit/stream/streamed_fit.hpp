// SPDX-License-Identifier: Apache-2.0
// A fit whose passes are made batch by batch and survive failing batches. It is control flow over
// any source of batches, without physics.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "runtime/base/words.hpp"
#include "xpcs_fit/problem/fit.hpp"
#include "xpcs_fit/stream/checkpoints.hpp"
#include "xpcs_fit/stream/faults.hpp"

namespace holdfast::xpcs_fit {

// Computes batches. A batch is begun in a slot and finished later; in between, others may be begun
// in other slots.
class Batches {
 public:
  virtual ~Batches() = default;
  virtual int count() const = 0;
  virtual int slots() const = 0;  // how many may be begun at a time
  virtual std::int64_t points(int batch) const = 0;
  // Reads the batch from its source anew, spoils it if told so, and starts on F, g and N at `at`.
  virtual void begin(int slot, int batch, bool poisoned, const std::vector<double>& at) = 0;
  // F, g, N of the batch begun in that slot.
  virtual const double* finish(int slot) = 0;
};

// Which sum of a batch was not finite.
enum class BatchFault { none, cost, gradient, matrix };

// The record of one batch in one pass: cost and length of the gradient from the last attempt, the
// fault of the last attempt that had one.
struct BatchRecord {
  int pass = 0, batch = 0, attempts = 0;
  bool good = true;
  BatchFault fault = BatchFault::none;
  double cost = 0, gradient = 0;
  double seconds = 0;  // from its first begin until its sums were accepted or given up
};

// Plain adds batches up. Fast counts them, may be saved, and checks F once a pass. Full also checks
// each batch, repeats one that failed, and leaves out one that keeps failing.
enum class StreamMode { plain, fast, full };
inline constexpr Words<StreamMode, 3> stream_mode_words = {"mode", {"plain", "fast", "full"}};

struct StreamSettings {
  StreamMode mode = StreamMode::full;
  int retries = 2;
  double least_success_rate = 0.5;
  FaultPlan faults = {};
  Checkpoints* checkpoints = nullptr;  // null: nothing is saved
  int checkpoint_frequency = 10;       // batches between checkpoints; one more at the end
  std::function<void(const BatchRecord&)> watch = {};  // called for each batch, in their order
};

struct StreamStatistics {
  static constexpr std::size_t kept_records = 100;
  std::int64_t batches = 0, attempts = 0, faults = 0, recovered = 0, failed = 0, passes = 0,
               restarts = 0;
  std::int64_t faults_of[4] = {};                           // by BatchFault, attempts
  double least_seconds = 0, most_seconds = 0, seconds = 0;  // per batch; of all
  std::deque<BatchRecord> last = {};                        // at most kept_records

  void add(const BatchRecord& record);
  void add_good();  // a batch that was not checked
};

class StreamedFit {
 public:
  // passes: how many, or 0 until it converges.
  StreamedFit(const Problem& problem, int passes, Batches& batches, StreamSettings settings);

  // Throws Error{broken_rule} that begins with success_rate_too_low and reports the best parameters
  // so far.
  void run();
  // Continues from the newest checkpoint, which may be the end, or from the start if none is
  // usable; the result is bit for bit that of an uninterrupted fit.
  void resume();

  FitState state() { return fit_.state(); }
  const StreamStatistics& statistics() const { return statistics_; }
  double success_rate() const;
  std::int64_t points() const;  // in batches that are not left out
  double freedom() const { return static_cast<double>(points()) - p_; }
  // A checkpoint: everything that resume() needs to continue at that batch of the current pass.
  std::string saved(int next_batch) const;
  // The size of a checkpoint after 100 batches without a restart.
  static std::size_t saved_bytes(int parameters, int batches);

 private:
  void start();
  void go_on(int next_batch);
  bool begins_elsewhere();
  void pass(const std::vector<double>& at, int first);
  void save(int next_batch) const;
  int restore(const std::string& payload);
  void take(int slot, int batch, const std::vector<double>& at);
  void leave_out(int batch);
  BatchFault fault_of(const double* normal) const;
  void check_success_rate();
  const double* best_parameters();  // of the lowest accepted F

  int p_, passes_;
  std::uint64_t seed_;
  HostFit fit_;
  Batches& batches_;
  StreamSettings settings_;
  int pass_ = 0;
  std::vector<char> left_out_;                  // 1 for each batch left out
  std::vector<double> normal_;                  // of the pass, in the order of batches
  std::vector<double> costs_, accepted_costs_;  // per batch: of this pass, of the current state
  std::vector<double> begun_;                   // start time of the batch in each slot, in seconds
  // At a restart: the best state before it, and the costs of its batches.
  std::vector<double> best_ = {}, best_costs_ = {};
  StreamStatistics statistics_ = {};
};

}  // namespace holdfast::xpcs_fit
