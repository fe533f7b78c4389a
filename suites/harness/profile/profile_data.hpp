// SPDX-License-Identifier: Apache-2.0
// The recorded data of one profiled variant of a case: the source of the document, the trace, the
// memory profile and the kernel dump.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "computation.hpp"
#include "runtime/backend/recording.hpp"

namespace holdfast {

// Several consecutive recordings of one backend, on one clock that starts with the first.
struct Recorded {
  std::vector<Activity> activities = {};
  std::vector<DeviceSlice> slices = {};
  std::vector<ScopeRecord> scopes = {};  // in order of opening
  std::vector<WorkerTrack> workers = {};
  std::optional<DeviceCounts> device_counts = {};
  std::size_t dropped = 0;
  std::optional<std::string> silence = {};  // why the device reported no times
};

// A stopped recording that began `offset` seconds after the first.
void append(Recorded& recorded, const Recording& recording, double offset);

// A step, with half-open ranges of what belongs to it.
struct ProfiledStep {
  double begin = 0, end = 0;                         // host times
  std::size_t first_activity = 0, end_activity = 0;  // of Recorded::activities
  std::size_t first_scope = 0, end_scope = 0;        // of Recorded::scopes
};

// Consecutive profiled steps.
struct StepWindow {
  int first_step = 0;  // counted from the end of the warm-up
  std::vector<ProfiledStep> steps = {};
  // From the first step until the device finished the last, on the host's clock; absent if nothing
  // executes.
  std::optional<double> seconds = {};
};

struct Profiled {
  std::string suite = {}, case_id = {};
  Variant variant = Variant::optimized;
  std::string device = {}, device_class = {}, device_name = {};
  bool executes = true;
  std::optional<Architecture> architecture = {};  // none on host
  Recorded recorded = {};
  std::vector<ProfiledStep> warm_up = {};
  double first_call_seconds = 0;  // construction and the first step, until it is done
  std::vector<StepWindow> windows = {};
  Counts counts = {};  // of all profiled steps together
  std::int64_t peak_bytes = 0, live_bytes = 0;
  std::map<std::string, std::int64_t, std::less<>> peak_by_site = {};
  std::optional<std::int64_t> device_memory_bytes = {};
  std::vector<const Compiled*> programs = {};  // owned by the backend's compiler
  Work work = {};
  std::optional<double> declared_upload_bytes = {};  // minimum per step, by the case
  std::optional<double> floor_seconds = {}, kernels_floor_seconds = {};

  std::size_t step_count() const;
};

// File name stem of a case and variant: "suite.rk4_step.n_48.f64.optimized".
std::string file_stem(const Profiled& profiled);

// Finds the profiled step that an activity belongs to.
class StepFinder {
 public:
  explicit StepFinder(const std::vector<StepWindow>& windows);
  const std::vector<const ProfiledStep*>& steps() const { return steps_; }
  std::optional<std::size_t> step_of(std::size_t activity) const;  // index into steps()

 private:
  std::vector<const ProfiledStep*> steps_ = {};
};

// Whether the slice is a kernel, ours or a library's.
bool is_launch(const DeviceSlice& slice);

// The enclosing scope of each scope, or -1; for records in order of opening.
std::vector<int> parents(const std::vector<ScopeRecord>& scopes);

// "rk4_step/rhs/project" for each scope.
std::vector<std::string> paths(const std::vector<ScopeRecord>& scopes);

}  // namespace holdfast
