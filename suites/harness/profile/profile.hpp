// SPDX-License-Identifier: Apache-2.0
// Analysis of a recording's profiled steps: overview, operations, scopes, transfers, gaps, memory,
// compilations. Fields are those of holdfast-profile/1; unknown values are empty.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/profile/profile_data.hpp"

namespace holdfast {

// One of our kernels in one launch shape, and how well it can fill a multiprocessor.
struct KernelFit {
  LaunchShape shape = {};
  int shared_bytes = 0;  // static
  int registers = 0, spill_bytes = 0;
  double occupancy = 0;  // resident warps over those a multiprocessor can hold
  double waves = 0;      // blocks over those resident on the whole device at once
};

struct Seconds {
  double total = 0, least = 0, most = 0;
  std::int64_t count = 0;  // number of timed ones

  void add(double seconds);
};

struct Operation {
  std::string name = {};
  std::string kind = {};
  std::int64_t count = 0;
  std::optional<Seconds> seconds = {};
  std::optional<double> fraction = {};
  std::optional<KernelFit> kernel = {};
};

struct ScopeTotal {
  std::string path = {};
  int depth = 0;
  std::int64_t count = 0;
  double seconds = 0, self_seconds = 0;
  std::optional<double> fraction = {};  // of the steps' host time
  std::int64_t launches = 0;
};

struct Gap {
  std::string after = {}, before = {};
  double seconds = 0, at = 0;
};

struct Transfer {
  std::int64_t count = 0, bytes = 0;
  std::optional<double> seconds = {};
};

struct MemoryPoint {
  double at = 0;
  std::int64_t bytes = 0, delta = 0;
  std::string site = {};
};

struct ProfiledWindow {
  int first_step = 0;
  std::size_t steps = 0;
  std::optional<double> mean_step_seconds = {}, busy_fraction = {};
};

struct Profile {
  std::string clock = "none";  // source of the operations' times: "cupti", "host" or none
  std::vector<double> step_seconds = {};
  std::optional<double> busy_fraction = {};
  std::optional<std::string> top_operation = {};
  std::optional<double> top_fraction = {};
  std::vector<Operation> operations = {};  // longest first; without times, most frequent first
  std::vector<ScopeTotal> scopes = {};     // in order of first opening
  std::map<std::string, Transfer> transfers = {};  // h2d, d2h, d2d
  std::vector<Gap> gaps = {};                      // the longest on the device, longest first
  std::vector<MemoryPoint> timeline = {};
  std::vector<ProfiledWindow> windows = {};

  std::optional<double> mean_step_seconds() const;
};

Profile analyse(const Profiled& profiled);

KernelFit fit(const Architecture& architecture, const Function& function, const LaunchShape& shape);

// fused, scatter, gemm, fft, reduce, copy, fill, upload, download or loop.
std::string operation_kind(const DeviceSlice& slice);

// Operations of the device, or on host library calls and scopes, the latter without what they
// contain.
std::vector<Operation> operations(const Profiled& profiled, const StepFinder& steps);
std::vector<ScopeTotal> scope_totals(const Profiled& profiled, const StepFinder& steps);

// At most `most` points of live memory over time; keeps the peak, the first and the last.
std::vector<MemoryPoint> timeline(const std::vector<Activity>& activities, std::size_t most = 2000);

}  // namespace holdfast
