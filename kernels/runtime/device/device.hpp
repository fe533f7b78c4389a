// SPDX-License-Identifier: Apache-2.0
// A device: the verbs through which a computation uses a GPU. The public ones count and check, the
// same on every device; the private ones act. CudaDevice implements them, DryDevice does nothing:
// counts cannot differ between the two.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/fourier.hpp"
#include "runtime/base/gemm.hpp"
#include "runtime/count/launch.hpp"
#include "runtime/count/ledger.hpp"
#include "runtime/count/overlap.hpp"
#include "runtime/device/architecture.hpp"

namespace holdfast {

class Device;
class DeviceTrace;

// A point on a lane: the other lane, or the host, waits until the lane reaches it. Recording it
// again moves it, for waits from then on.
struct LaneEvent {
  LaneEvent(const Device& of, std::string called) : device(&of), name(std::move(called)) {}
  virtual ~LaneEvent() = default;
  LaneEvent(const LaneEvent&) = delete;
  LaneEvent& operator=(const LaneEvent&) = delete;

  const Device* device;
  std::string name;
  std::optional<Lane> recorded_on = {};
  std::uint64_t enqueued_before = 0;  // work of the device when it was recorded
  Progress done = {};                 // once it is reached
};

class Device {
 public:
  Device(Ledger& ledger, Architecture architecture)
      : ledger_(&ledger), architecture_(architecture) {}
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  virtual std::string name() const = 0;  // "NVIDIA H200", "dry sm_90"
  virtual bool executes() const = 0;     // false on a dry device
  virtual std::optional<std::int64_t> memory_bytes() const = 0;
  // Memory that nobody holds, other processes either; where the device does not know, all of it but
  // what is held here.
  virtual std::optional<std::int64_t> free_bytes() const;
  const Architecture& architecture() const { return architecture_; }

  // Verbs below that take the device's memory refuse other memory with Error{broken_rule}, where
  // nothing or a CPU executes: a GPU would fail later, for all.
  void* allocate(std::size_t bytes, std::string_view site);
  void release(void* memory, std::size_t bytes, std::string_view site) noexcept;
  // Host memory, initially zero, that an upload reads without staging. It is an error to give it to
  // a kernel, a library, or a copy or fill within the device, because nothing would count that.
  void* allocate_pinned(std::size_t bytes);
  void release_pinned(void* memory) noexcept;
  void upload(void* to, const void* from, std::size_t bytes);
  void download(void* to, const void* from, std::size_t bytes);  // waits; zeros on a dry device
  // Asynchronous variants, from and to memory of allocate_pinned(), which the caller must not touch
  // until an event is reached. They cannot be captured in a graph.
  void upload_later(void* to, const void* pinned, std::size_t bytes, Lane lane = Lane::copies);
  void download_later(void* pinned, const void* from, std::size_t bytes, Lane lane = Lane::copies);
  std::unique_ptr<LaneEvent> make_event(std::string name);
  void record(LaneEvent& event, Lane lane);
  void wait(Lane lane, const LaneEvent& event);  // the lane waits, the host continues
  void await(const LaneEvent& event);            // the host waits
  // The same for a host that runs ahead of the device, which has work behind the event and never
  // idles for it: no sync is counted, unless nothing was enqueued since, or only transfers of the
  // main lane.
  void keep_pace(const LaneEvent& event);
  bool reached(const LaneEvent& event) const;  // await would return at once; true on a dry device

  void copy(void* to, const void* from, std::size_t bytes);
  void fill_zero(void* memory, std::size_t bytes);

  void load(std::span<const char> cubin, Function& function);
  // Checks the shape against the architecture and the function's resources and launch bounds;
  // Error{broken_rule} names the kernel.
  void launch(Function& function, const LaunchShape& shape, const LaunchArguments& arguments = {});

  // Records everything `enqueue` puts on the stream, without executing it. Synchronising,
  // allocating or releasing inside is an error.
  Graph capture(const std::function<void()>& enqueue);
  // Throws Error{broken_rule}, naming the node, if one refers to memory released since.
  void replay(const Graph& graph);

  void open_blas();  // once before the first gemm, so that a capture need not
  void gemm(const Gemm& problem, const void* a, const void* b, void* c, void* work_area);
  // For planned(problem), within `work_area_bytes`. The product's alpha and beta may differ from
  // the plan's.
  std::unique_ptr<GemmPlan> plan_gemm(const Gemm& problem, std::size_t work_area_bytes);
  void gemm(GemmPlan& plan, const Gemm& problem, const GemmOperands& operands, void* work_area);
  std::unique_ptr<FftPlan> plan_fft(const Fft& problem, void* work_area);
  void transform(FftPlan& plan, const void* in, void* out);

  // Returns a trace that collects the device's own records while it lives, on a clock that began at
  // `start`; null if the device keeps none. For a Recording.
  virtual std::unique_ptr<DeviceTrace> open_trace(std::chrono::steady_clock::time_point start);

  // Seconds the device spent on the work that `enqueue` puts on its lanes; zero on a dry device.
  // It waits, and no count says so: Error{broken_rule} within timed work, and in a steady step of a
  // dry device.
  double time(const std::function<void()>& enqueue);
  void synchronize();
  void drain();  // for observers: not counted outside of steady steps

  Ledger& ledger() { return *ledger_; }

 protected:
  // By default plain memory, for devices without copying hardware.
  virtual void* do_allocate_pinned(std::size_t bytes);
  virtual void do_release_pinned(void* memory) noexcept;

 private:
  // Work on a GPU is timed, so it looks none up.
  virtual bool checks_pointers() const { return !executes(); }
  virtual double do_time(const std::function<void()>& enqueue) = 0;
  virtual void* do_allocate(std::size_t bytes) = 0;
  virtual void do_release(void* memory) noexcept = 0;
  virtual void do_upload(void* to, const void* from, std::size_t bytes) = 0;
  virtual void do_download(void* to, const void* from, std::size_t bytes) = 0;
  virtual void do_upload_later(void* to, const void* pinned, std::size_t bytes, Lane lane) = 0;
  virtual void do_download_later(void* pinned, const void* from, std::size_t bytes, Lane lane) = 0;
  virtual std::unique_ptr<LaneEvent> do_make_event(std::string name) = 0;
  virtual void do_record(LaneEvent& event, Lane lane) = 0;
  virtual void do_wait(Lane lane, const LaneEvent& event) = 0;
  virtual void do_await(const LaneEvent& event) = 0;
  virtual bool do_reached(const LaneEvent& event) const = 0;
  virtual void do_copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void do_fill_zero(void* memory, std::size_t bytes) = 0;
  virtual void do_load(std::span<const char> cubin, Function& function) = 0;
  virtual void do_launch(const Function& function, const LaunchShape& shape, void** arguments) = 0;
  virtual void do_begin_capture() = 0;
  virtual std::unique_ptr<Graph::Executable> do_end_capture() = 0;
  virtual void do_replay(const Graph& graph) = 0;
  virtual void do_open_blas() = 0;
  virtual void do_gemm(const Gemm& problem, const void* a, const void* b, void* c,
                       void* work_area) = 0;
  virtual std::unique_ptr<GemmPlan> do_plan_gemm(const Gemm& problem,
                                                 std::size_t work_area_bytes) = 0;
  virtual void do_planned_gemm(GemmPlan& plan, const Gemm& problem, const GemmOperands& operands,
                               void* work_area) = 0;
  virtual std::unique_ptr<FftPlan> do_plan_fft(const Fft& problem, void* work_area) = 0;
  virtual void do_transform(FftPlan& plan, const void* in, void* out) = 0;
  virtual void do_synchronize() = 0;
  // Nodes so far in the device's graph; empty on a device without one.
  virtual std::optional<int> do_captured_nodes() { return std::nullopt; }

  struct Used {
    const void* memory = nullptr;
    std::size_t bytes = 0;  // from there on; 0 where only a library knows how many
  };
  // Calls `act`, which reads and writes `memory`, and keeps the work if it is recorded or captured;
  // only then is `node` called.
  template <class MakeNode, class Act>
  void enqueue(const MakeNode& node, std::initializer_list<Used> memory, const Act& act);
  Counts& counts();  // those of the graph being captured, else the ledger's
  void count_launch();
  void count_library_call(std::int64_t flops, std::int64_t bytes);
  void count_transfer(std::int64_t Counts::*direction, std::size_t bytes,
                      std::optional<Lane> later);
  void count_pageable(const void* memory, std::size_t bytes);
  Recorder* listener() const { return capturing_ ? nullptr : ledger_->recorder; }
  void forbid_in_capture(std::string_view doing) const;
  void refuse_released_in_capture() const;
  bool is_pinned(const void* memory, std::size_t bytes) const;
  void require_pinned(std::string_view doing, const void* memory, std::size_t bytes) const;
  [[noreturn]] static void refuse_pinned(const Graph::Node& given);
  // Where pointers are checked: neither none nor in one allocation that is held here. One past its
  // end is in it for no bytes.
  bool is_foreign(const Used& used) const;
  [[noreturn]] void refuse_foreign(std::string_view doing) const;
  [[noreturn]] void refuse_foreign(const Graph::Node& given) const;
  void require_held(const Function& function, const LaunchArguments& arguments) const;
  void require_own(const LaneEvent& event) const;
  void require_recorded(const LaneEvent& event) const;
  void abandon_capture() noexcept;
  // Notes that the last captured node refers to `memory`, if it is ours.
  void note_use(const void* memory);
  void check_uses(const Graph& graph) const;

  Ledger* ledger_;
  Architecture architecture_;
  struct Live {
    std::size_t bytes = 0;
    std::string site = {};
    std::uint64_t number = 0;  // running number of the allocation
  };
  std::map<const void*, Live> live_ = {};
  std::uint64_t allocations_ = 0, releases_ = 0;
  std::uint64_t enqueued_ = 0;  // work outside captures, without transfers of the main lane
  Overlap overlap_ = {};
  std::map<const void*, std::size_t> pinned_ = {};  // page-locked memory that is held, in bytes
  Graph* capturing_ = nullptr;                      // the graph being captured
  int captured_nodes_ = 0;                          // in its counterpart on the device
  std::string released_in_capture_ = {};            // "releases 'h'"; empty if nothing was
  bool timing_ = false;
};

}  // namespace holdfast
