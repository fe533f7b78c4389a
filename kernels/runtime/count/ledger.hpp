// SPDX-License-Identifier: Apache-2.0
// The costs of a computation, counted where they occur: every number that a suite reports, except
// time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

// Events so far. Monotonic: the difference of two snapshots is what happened between them.
struct Counts {
  std::int64_t launches =
      0;  // kernels started, own and library's, each node of a replayed graph included
  std::int64_t threads = 0;              // that own kernels are launched with
  std::int64_t argument_sum = 0;         // of what own kernels are told
  std::int64_t argument_magnitudes = 0;  // of numbers among it, as powers of two
  std::int64_t library_calls = 0;        // those of them started by a BLAS or FFT library
  std::int64_t library_flops = 0;        // asked of these, by the size of their problems
  std::int64_t library_bytes = 0;        // that these read and write once, likewise
  // Submissions that the host pays for: launches outside graphs, and replays.
  std::int64_t host_launches = 0;
  std::int64_t graph_nodes = 0;  // nodes (kernels, copies, fills) executed by replayed graphs
  std::int64_t copies = 0;       // device to device
  std::int64_t moved_bytes = 0;  // written by copies and fills within the device
  std::int64_t transfers = 0;    // to the device or back, of however few bytes
  std::int64_t h2d_bytes = 0;
  std::int64_t d2h_bytes = 0;
  std::int64_t hidden_bytes = 0;    // of both, in transfers that a kernel may run beside
  std::int64_t lone_launches = 0;   // that a transfer waits for, and none may run beside
  std::int64_t pageable_bytes = 0;  // of both, from or to memory that is not page-locked
  std::int64_t syncs = 0;           // times the host waited for the device
  std::int64_t polls = 0;           // times the host asked whether the device has come to an event
  std::int64_t allocations = 0;     // of device (on host: accounted) memory
  std::int64_t programs = 0;        // distinct programs requested from this backend, cached or not
  std::int64_t nvrtc_runs = 0;      // of those, how many were really compiled
  std::int64_t plans = 0;           // of Fourier transforms, and of bf16 and tf32 products

  Counts& operator+=(const Counts&);
  friend Counts operator-(Counts, const Counts&);
  friend bool operator==(const Counts&, const Counts&) = default;
};

// The table for code that treats all counters alike.
struct Counter {
  std::string_view name;
  std::int64_t Counts::*member;
  std::string_view timed = {};  // in words, if timed steps must agree in it
  bool steady = true;           // the same in each step
  bool shown = true;            // in a profile
};
inline constexpr Counter counter_table[] = {
    {"launches", &Counts::launches, "launches"},
    {"threads", &Counts::threads, "threads of its kernels", true, false},
    {"argument_sum", &Counts::argument_sum, "(sum of its kernels' arguments)", true, false},
    // A number may follow that of the step.
    {"argument_magnitudes", &Counts::argument_magnitudes, {}, false, false},
    {"library_calls", &Counts::library_calls, "library calls"},
    {"library_flops", &Counts::library_flops, "flop of libraries", true, false},
    {"library_bytes", &Counts::library_bytes, "bytes of libraries", true, false},
    {"host_launches", &Counts::host_launches, "launches and replays by the host", true, false},
    {"graph_nodes", &Counts::graph_nodes, "graph nodes"},
    {"copies", &Counts::copies, "copies"},
    {"moved_bytes", &Counts::moved_bytes, "bytes of copies and fills", true, false},
    {"transfers", &Counts::transfers, "transfers", true, false},
    {"h2d_bytes", &Counts::h2d_bytes, "uploaded bytes"},
    {"d2h_bytes", &Counts::d2h_bytes, "downloaded bytes"},
    {"hidden_bytes", &Counts::hidden_bytes, {}, true, false},
    {"lone_launches", &Counts::lone_launches, {}, true, false},
    {"pageable_bytes", &Counts::pageable_bytes, {}, true, false},
    {"syncs", &Counts::syncs},
    {"polls", &Counts::polls, {}, false, false},  // a device takes its time
    {"allocations", &Counts::allocations},
    {"programs", &Counts::programs},
    {"nvrtc_runs", &Counts::nvrtc_runs, {}, false, false},  // caches fill
    {"plans", &Counts::plans},
};

// A variant's declaration of what its steady step does on purpose: the anti-patterns that a spec
// measures.
struct Permissions {
  bool may_allocate = false;
  bool may_compile = false;  // covers plans and graphs
};

class Recorder;

class Ledger {
 public:
  // Building: anything goes. Steady: a measured step, in which allocating, page-locking, compiling,
  // planning and capturing a graph throw Error{broken_rule} unless permitted.
  enum class Phase { building, steady };

  Counts counts = {};
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;   // highest live_bytes so far: the high-water mark
  Recorder* recorder = nullptr;  // of the open Recording (recording.hpp); null if none

  void enter(Phase phase, Permissions permissions = {});
  Phase phase() const { return phase_; }

  // Limits live memory: an allocation that would exceed `bytes` in total throws
  // Error{out_of_memory}. Throws Error{bad_input} for a limit below 1. `remedy` tells the user what
  // to do.
  void limit_to(std::int64_t bytes, std::string_view remedy = "choose a smaller size");
  std::optional<std::int64_t> limit_bytes() const { return limit_bytes_; }

  // `site` names the memory's owner ("h", "cufft work area"), so that the peak can be reported by
  // site.
  void allocated(std::int64_t bytes, std::string_view site);
  void released(std::int64_t bytes, std::string_view site) noexcept;
  void program(bool ran_nvrtc, std::string_view name);
  void plan(std::string_view what);
  // A graph that begins to be captured, which is not counted: making it executable takes as long as
  // planning.
  void graph() const;
  // Page-locked host memory, which is not counted: page-locking takes as long as allocating on a
  // device, so it needs the same permission.
  void pinned(std::int64_t bytes) const;

  // Live bytes by site at the moment of the peak. Sums to peak_bytes.
  const std::map<std::string, std::int64_t, std::less<>>& peak_by_site() const;

 private:
  void forbid(std::string_view doing, bool permitted) const;  // throws in a steady phase

  Phase phase_ = Phase::building;
  std::optional<std::int64_t> limit_bytes_ = {};
  std::string remedy_ = {};
  Permissions permissions_ = {};
  std::map<std::string, std::int64_t, std::less<>> live_by_site_ = {};
  std::map<std::string, std::int64_t, std::less<>> peak_by_site_ = {};
};

}  // namespace holdfast
