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

// A kernel of a variant's programs, and how one step launches it.
struct KernelUse {
  std::string name = {};
  KernelKind kind = KernelKind::fused;
  std::string cubin = {};
  std::string shapes = {};  // grids, blocks and dynamic shared memory it was launched with
  int registers = 0, spill_bytes = 0, shared_bytes = 0;
  int local_bytes = 0;  // per thread
  std::int64_t launches = 0;
  std::int64_t argument_sum = 0;  // of what these launches are told
  bool used = false;              // launched at all, in the warm-up or in a step
  // Over all launch shapes: blocks and threads of one launch each, the largest block, the most
  // dynamic shared memory, the lowest occupancy, the waves of each.
  std::int64_t blocks = 0, threads = 0, block_threads = 0, dynamic_shared_bytes = 0;
  double occupancy = 0, waves = 0;
  std::optional<InstructionCounts> code = {};  // for a used kernel; empty without a disassembler
};

struct VariantMeasurement {
  Counts warm = {};  // construction and warm-up
  Counts step = {};  // one step in steady state
  std::int64_t peak_bytes_warm = 0, peak_bytes = 0;
  std::int64_t kept_heap_bytes = 0;  // on a host beyond the ledger's, after the warm-up
  std::optional<std::int64_t> estimated_bytes = {};  // the predicted peak
  std::optional<double> least_upload_bytes = {};     // per step, declared by the case
  double first_call_seconds = 0;  // construction and the first step, until it is done
  double warm_up_seconds = 0;     // the same plus the other warm-up steps
  StageSeconds stages = {};       // over all its programs
  std::vector<KernelUse> kernels = {};
  std::string no_code = {};                  // why the kernels' machine code is unknown
  std::optional<std::string> identity = {};  // hash of the compiled code and its use; empty on host
  std::optional<double> check_error = {};
  std::optional<double> seconds = {};  // per step, median over the rounds
  std::int64_t samples = 0;
  std::map<std::string, double> readings = {};  // of the workload and of the case
};

enum class CheckStatus { passed, failed, not_executed };

// The repeated verification of a case after its timed section.
struct Again {
  std::uint32_t seed = 0;
  int steps = 0;  // made by the optimized variant
};

struct Measurement {
  enum class Status { ok, failed };
  Status status = Status::ok;
  std::string reason = {};    // of a failure
  bool broke_off = false;     // interrupted by the device or a lack of memory
  bool device_broke = false;  // later measurements in this process cannot be trusted
  bool executed = false;
  Work work = {};
  CheckStatus check = CheckStatus::not_executed;
  std::string oracle = {};
  // Of the worse variant; no error if a result is not finite.
  std::optional<double> check_error = {}, check_limit = {};
  std::optional<Again> again = {};
  std::optional<VariantMeasurement> reference = {};
  VariantMeasurement optimized = {};
  std::optional<double> speedup = {};
  std::optional<double> handover_seconds = {};  // the worse of before and after the timing; on host
  // Over the counted samples: time that this process's threads waited for a CPU, as a fraction of
  // the samples' time; on host.
  std::optional<double> waited_fraction = {};
  // The fraction of their time in rounds that began or ended while other work used the other half
  // of a core.
  std::optional<double> shared_fraction = {};
  std::optional<double> floor_seconds = {};
  std::map<std::string, double> derived = {};
  std::optional<HostMemory> host_memory = {};
};

struct MeasureOptions {
  TimingBudget budget = {};
  const Ceilings* ceilings = nullptr;      // none on a dry device
  std::optional<std::uint32_t> seed = {};  // for the repeated verification; empty: drawn
};

// Errors of the case itself (a broken rule, a failing device, a program that does not compile, any
// exception) become a failed measurement; Error{no_device} and Error{bad_input} propagate.
Measurement measure(const Case& one, const std::string& device, const MeasureOptions& options);

}  // namespace holdfast
