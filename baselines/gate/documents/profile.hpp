// SPDX-License-Identifier: Apache-2.0
// holdfast-profile/1: what a suite saw while it profiled one case and variant. Unknown values are
// empty optionals; on a device that does not execute, all device times are.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gate/base/json.hpp"

namespace holdfast::gate {

// Per step, but for the shares and names.
struct ProfileOverview {
  std::vector<double> step_s = {};
  std::optional<double> mean_step_s = {};
  std::optional<double> busy_fraction = {};
  std::optional<double> idle_fraction = {};
  std::optional<double> max_gap_s = {};
  std::vector<std::string> max_gap_between = {};  // two names, or none
  std::optional<std::string> top_op = {};
  std::optional<double> top_op_fraction = {};
  double launches = 0, library_calls = 0, graph_nodes = 0, copies = 0, syncs = 0;
  double h2d_bytes = 0, d2h_bytes = 0, allocations = 0, programs = 0, plans = 0;
  std::optional<double> declared_h2d_bytes = {};  // that a step must upload, if its case says so
};

// One kind of work in one shape; counts and seconds are of all profiled steps together.
struct ProfileOp {
  std::string name = {};
  std::string kind = {};
  std::int64_t count = 0;
  std::optional<double> total_s = {}, mean_s = {}, min_s = {}, max_s = {};
  std::optional<double> fraction = {};
  std::vector<std::int64_t> grid = {},
                            block = {};  // three numbers; empty for what is no kernel of ours
  std::optional<std::int64_t> dynamic_shared_bytes = {}, shared_bytes = {};
  std::optional<std::int64_t> registers = {}, spill_bytes = {};
  std::optional<double> occupancy = {};  // resident warps over what an SM can hold
  std::optional<double> waves = {};      // blocks over what the device holds at once

  // Work that a kernel does, ours or a library's.
  bool is_kernel() const;
};

struct ProfileScope {
  std::string path = {};  // "rk4_step/rhs/project"
  std::int64_t depth = 0;
  std::int64_t count = 0;
  double total_s = 0, self_s = 0;  // on the host's clock
  std::optional<double> fraction = {};
  std::int64_t launches = 0;
};

struct ProfileTransfer {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::optional<double> total_s = {}, bytes_per_s = {};
};

struct ProfileGap {
  std::string after = {}, before = {};
  double seconds = 0, at_s = 0;
};

struct ProfileMemory {
  struct Point {
    double seconds = 0;
    std::int64_t bytes = 0, delta = 0;
    std::string site = {};
  };
  std::int64_t peak_bytes = 0;
  std::map<std::string, std::int64_t> peak_by_site = {};
  std::int64_t live_bytes_end = 0;
  std::optional<std::int64_t> device_total_bytes = {};
  std::vector<Point> timeline = {};
};

struct ProfileCompile {
  std::string program = {};
  std::string reason = {};  // "first use", "constant n: 384 -> 192"
  bool steady = false;      // after warm-up
  bool from_cache = false;
  double trace_s = 0, lower_s = 0, compile_s = 0, load_s = 0;
  std::int64_t kernels = 0;
  std::int64_t registers_max = 0, spill_bytes = 0;
};

struct ProfileWindow {
  std::int64_t first_step = 0, steps = 0;
  std::optional<double> mean_step_s = {}, busy_fraction = {};
};

struct Profile {
  std::string suite = {}, case_id = {}, variant = {};
  std::string device = {}, device_class = {}, device_name = {};
  bool executed = false;
  std::string clock = "none";  // cupti, host, none
  std::optional<std::string> silence = {};
  std::int64_t steps = 0, dropped = 0;
  ProfileOverview overview = {};
  std::vector<ProfileOp> ops = {};
  std::vector<ProfileScope> scopes = {};
  std::map<std::string, ProfileTransfer> transfers = {};  // h2d, d2h, d2d
  std::vector<ProfileGap> gaps = {};
  ProfileMemory memory = {};
  std::vector<ProfileCompile> compiles = {};
  std::optional<double> first_call_s = {};
  std::vector<ProfileWindow> windows = {};
  double work_flops = 0, work_bytes = 0;
  std::optional<double> floor_s = {}, kernels_floor_s = {};
  std::map<std::string, std::int64_t> device_counts = {};  // empty where the device told nothing
  std::optional<std::string> trace = {};
};

Profile parse_profile(const Document& document);
Profile read_profile(const std::filesystem::path& path);

// "cubed_sphere_swe.rk4_step.n_48.f64": a case id as the name of a file.
std::string slug(const std::string& case_id);

}  // namespace holdfast::gate
