// SPDX-License-Identifier: Apache-2.0
// One case on one device, measured: built, warmed up, checked, accounted, timed. Nothing here knows
// JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/case/case.hpp"
#include "harness/ceilings/ceilings.hpp"
#include "harness/machine/host_memory.hpp"
#include "harness/measure/correctness.hpp"
#include "harness/measure/timing.hpp"
#include "runtime/compile/machine_code.hpp"

namespace holdfast {

// A kernel of a variant's programs, and how often one step launches it.
struct KernelUse {
  std::string name = {};
  KernelKind kind = KernelKind::fused;
  std::string cubin = {};
  std::string shapes = {};  // grids, blocks and dynamic shared memory it was launched with
  int registers = 0, spill_bytes = 0, shared_bytes = 0;
  int local_bytes = 0;  // per thread
  std::int64_t launches = 0;
  bool used = false;  // launched at all, in the warm-up or in a step
  // Of all shapes it was launched with: blocks and threads of one launch each, the largest block,
  // the most dynamic shared memory, the least occupancy, the waves of each.
  std::int64_t blocks = 0, threads = 0, block_threads = 0, dynamic_shared_bytes = 0;
  double occupancy = 0, waves = 0;
  std::optional<InstructionCounts> code = {};  // of a used kernel; empty without a disassembler
};

struct VariantMeasurement {
  Counts warm = {};  // construction and warm-up
  Counts step = {};  // one step in steady state
  std::int64_t peak_bytes_warm = 0, peak_bytes = 0;
  std::optional<std::int64_t> estimated_bytes = {};  // what the peak should be by formula
  std::optional<double> least_upload_bytes = {};     // of a step, by formula
  double first_call_seconds = 0;  // construction and the first step, until it is done
  double warm_up_seconds = 0;     // the same and the other steps of the warm-up
  StageSeconds stages = {};       // of all its programs
  std::vector<KernelUse> kernels = {};
  std::string no_code = {};  // why it is not known what the kernels' machine code does
  std::optional<std::string> identity = {};  // of the compiled code and its use; empty on host
  std::optional<double> check_error = {};
  std::optional<double> seconds = {};  // per step, median over the rounds
  std::int64_t samples = 0;
  std::map<std::string, double> readings = {};  // the workload's own and the case's
};

enum class CheckStatus { passed, failed, not_executed };

// How a case was verified again after its timed section.
struct Again {
  std::uint32_t seed = 0;
  int steps = 0;  // that the optimized variant made
};

struct Measurement {
  enum class Status { ok, failed };
  Status status = Status::ok;
  std::string reason = {};    // why it failed
  bool broke_off = false;     // a training whose loss is no number, no room for it
  bool device_broke = false;  // nothing that follows in this process can be trusted
  bool executed = false;
  Work work = {};
  CheckStatus check = CheckStatus::not_executed;
  std::string oracle = {};
  // Of the worse variant; no error where a result holds what is no number.
  std::optional<double> check_error = {}, check_limit = {};
  std::optional<Again> again = {};
  std::optional<VariantMeasurement> reference = {};
  VariantMeasurement optimized = {};
  std::optional<double> speedup = {};
  std::optional<double> handover_seconds = {};  // the worse of before and after the timing; on host
  // Of the samples that count: what this process's threads waited for a CPU, as a share of the time
  // that the samples took; on host.
  std::optional<double> waited_fraction = {};
  // The same of rounds that began or ended while another machine or program computed on a core's
  // other half.
  std::optional<double> shared_fraction = {};
  std::optional<double> floor_seconds = {};
  std::map<std::string, double> derived = {};
  std::optional<HostMemory> host_memory = {};
};

struct MeasureOptions {
  TimingBudget budget = {};
  const Ceilings* ceilings = nullptr;      // none on a dry device
  std::optional<std::uint32_t> seed = {};  // of verifying again; none: drawn
};

// Errors of the case itself (a broken rule, a failing device, a program that does not compile, any
// exception) come back as a failed measurement; Error{no_device} and Error{bad_input} pass through.
Measurement measure(const Case& one, const std::string& device, const MeasureOptions& options);

}  // namespace holdfast
