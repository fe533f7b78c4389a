// SPDX-License-Identifier: Apache-2.0
// A device: the dozen verbs a computation may ask of a GPU. The public verbs count and check, the
// same on every device; the private ones act. CudaDevice does them, DryDevice does nothing: what is
// counted cannot differ between the two.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/architecture.hpp"
#include "runtime/blas.hpp"
#include "runtime/fft.hpp"
#include "runtime/ledger.hpp"

namespace holdfast {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;

  auto operator<=>(const Dim3&) const = default;
};

struct LaunchShape {
  Dim3 grid = {};                // blocks
  Dim3 block = {};               // threads per block
  std::size_t shared_bytes = 0;  // dynamic shared memory per block
  bool cooperative = false;      // all blocks resident at once: the kernel uses a grid-wide barrier

  auto operator<=>(const LaunchShape&) const = default;
};

// What a kernel is in a list of launches. `scatter` writes a few places of an array that others
// fill as well; `fused` is everything that reads and computes and writes its own.
enum class KernelKind { fused, scatter, gemm, reduce, copy, loop };
std::string_view name(KernelKind kind);

// A kernel of a compiled program. Owned by the compiler; valid as long as its backend.
struct Function {
  std::string expression = {};  // "stage<double>", as the program names it
  KernelKind kind = KernelKind::fused;
  std::string name = {};              // mangled
  std::string parameters = {};        // "(float const*, float*, int)"
  int registers = 0;                  // per thread
  int spill_bytes = 0;                // local-memory spills, stores plus loads
  int shared_bytes = 0;               // static, per block
  std::string cubin_hash = {};        // of the program's cubin
  const void* handle = nullptr;       // cudaKernel_t on a real device
  std::int64_t launches = 0;          // so far, for the kernel table of a result
  std::set<LaunchShape> shapes = {};  // every distinct one so far, recorded or run
};

// Recorded work. Replaying it counts what was recorded, node by node.
class Graph {
 public:
  struct Executable {
    virtual ~Executable() = default;
  };
  // One recorded node, for those who profile a replay.
  struct Node {
    enum class Kind { kernel, library, copy, fill } kind = Kind::kernel;
    const Function* function = nullptr;  // of a kernel
    std::string library = {};            // "gemm [6, 48, 49, 49] f64"
    LaunchShape shape = {};
    std::int64_t bytes = 0;  // of a copy or a fill
    int device_nodes = 1;    // that it became in the device's own graph; a library's may be several
  };

  std::vector<Node> nodes = {};
  Counts counts = {};
  std::map<Function*, std::int64_t> launches = {};  // per kernel, for the kernel table
  std::unique_ptr<Executable> executable = {};      // null on a dry device
};

class DeviceTrace;

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
  const Architecture& architecture() const { return architecture_; }

  void* allocate(std::size_t bytes, std::string_view site);
  void release(void* memory, std::size_t bytes, std::string_view site) noexcept;
  // Memory of the host, zero at first, that an upload reads without staging it once more.
  void* allocate_pinned(std::size_t bytes);
  void release_pinned(void* memory) noexcept { do_release_pinned(memory); }
  void upload(void* to, const void* from, std::size_t bytes);
  void download(void* to, const void* from, std::size_t bytes);  // waits; zeros on a dry device
  void copy(void* to, const void* from, std::size_t bytes);
  void fill_zero(void* memory, std::size_t bytes);

  void load(std::span<const char> cubin, Function& function);
  // Checks the shape against the architecture and the function's resources; Error{device} names the
  // kernel.
  void launch(Function& function, const LaunchShape& shape, void** arguments);

  // Everything `enqueue` puts on the stream, recorded and not executed. Synchronising or allocating
  // inside is an error.
  Graph capture(const std::function<void()>& enqueue);
  void replay(const Graph& graph);

  void open_blas();  // once before the first gemm, so that no capture has to
  void gemm(const Gemm& problem, const void* a, const void* b, void* c, void* work_area);
  std::unique_ptr<FftPlan> plan_fft(const Fft& problem, void* work_area);
  void transform(FftPlan& plan, const void* in, void* out);

  // What the device itself tells of its work while this lives, on a clock that began at `start`;
  // null where it tells nothing. For a Recording.
  virtual std::unique_ptr<DeviceTrace> open_trace(std::chrono::steady_clock::time_point start);

  // Seconds the device spent on the work that `enqueue` puts on its stream; zero on a dry device.
  virtual double time(const std::function<void()>& enqueue) = 0;
  void synchronize();
  void drain() { do_synchronize(); }  // the same uncounted, for those who watch

  Ledger& ledger() { return *ledger_; }

 private:
  virtual void* do_allocate(std::size_t bytes) = 0;
  virtual void do_release(void* memory) noexcept = 0;
  // Plain memory where no hardware copies.
  virtual void* do_allocate_pinned(std::size_t bytes);
  virtual void do_release_pinned(void* memory) noexcept;
  virtual void do_upload(void* to, const void* from, std::size_t bytes) = 0;
  virtual void do_download(void* to, const void* from, std::size_t bytes) = 0;
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
  virtual std::unique_ptr<FftPlan> do_plan_fft(const Fft& problem, void* work_area) = 0;
  virtual void do_transform(FftPlan& plan, const void* in, void* out) = 0;
  virtual void do_synchronize() = 0;
  // Nodes of the device's graph so far; empty on a device that has none.
  virtual std::optional<int> do_captured_nodes() { return std::nullopt; }

  // Acts, and keeps the work for whoever records or captures it; `node` is asked only then.
  template <class MakeNode, class Act>
  void enqueue(const MakeNode& node, const Act& act);
  Counts& counts();                       // of the graph being captured, else the ledger's
  void count_launch(Function* function);  // null: a library's
  Recorder* listener() const { return capturing_ ? nullptr : ledger_->recorder; }
  void forbid_in_capture(std::string_view doing) const;
  void abandon_capture() noexcept;

  Ledger* ledger_;
  Architecture architecture_;
  Graph* capturing_ = nullptr;  // the graph being captured
  int captured_nodes_ = 0;      // of its counterpart on the device
};

}  // namespace holdfast
