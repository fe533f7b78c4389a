// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulation/emulated_device.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "runtime/backend/host_library.hpp"
#include "runtime/base/error.hpp"
#include "runtime/emulation/traffic.hpp"

namespace holdfast {
namespace {

constexpr std::size_t alignment = 256,
                      margin = 256;  // bytes, before and after each allocation
// NaN in every precision, so that a read beside an allocation shows in the results.
unsigned char canary(const unsigned char* at) {
  return reinterpret_cast<std::uintptr_t>(at) % 2 == 0 ? 0xfa : 0xff;
}
constexpr std::size_t most_bytes = std::size_t{1} << 30;  // per allocation, as if memory ended

struct Allocation {
  std::vector<unsigned char> storage = {};
  std::size_t bytes = 0;
};

using Steps = std::vector<std::function<void()>>;

struct EmulatedGraph final : Graph::Executable {
  // Shared with replays that have not run yet.
  std::shared_ptr<Steps> steps = std::make_shared<Steps>();
};

struct EmulatedFft final : FftPlan {
  using FftPlan::FftPlan;
  // Shared with transforms that have not run yet.
  std::shared_ptr<FftPlan> on_host = plan_fft_on_host(problem);
};

struct EmulatedEvent final : LaneEvent {
  using LaneEvent::LaneEvent;
  emulation::Lanes::Moment moment = {};
};

class EmulatedDevice final : public Device {
 public:
  EmulatedDevice(Ledger& ledger, const Architecture& architecture, EmulatedKernels kernels,
                 const Emulation& emulation)
      : Device(ledger, architecture),
        kernels_(std::move(kernels)),
        order_(emulation.order),
        memory_bytes_(emulation.memory_bytes),
        foreign_bytes_(emulation.foreign_bytes),
        lanes_(emulation.copies) {}

  std::string name() const override { return text("emulated sm_", architecture().sm); }
  bool executes() const override { return true; }
  std::optional<std::int64_t> memory_bytes() const override { return memory_bytes_; }
  std::optional<std::int64_t> free_bytes() const override {
    const auto of_others_too = Device::free_bytes();
    if (!of_others_too) return {};
    return *of_others_too - foreign_bytes_;
  }

 private:
  bool checks_pointers() const override { return true; }
  double do_time(const std::function<void()>& enqueue) override {
    const auto begin = std::chrono::steady_clock::now();
    enqueue();
    lanes_.finish();
    return seconds_since(begin);
  }
  void* do_allocate(std::size_t bytes) override {
    if (bytes > most_bytes)
      throw Error(Fault::out_of_memory,
                  text("it asks for ", bytes, " bytes, and the emulated device has no such room"));
    Allocation allocation{.bytes = bytes};
    allocation.storage.resize(bytes + 2 * margin + alignment);
    for (unsigned char& byte : allocation.storage) byte = canary(&byte);
    auto* memory = allocation.storage.data() + margin;
    memory += (alignment - reinterpret_cast<std::uintptr_t>(memory) % alignment) % alignment;
    std::fill_n(memory, bytes,
                0xff);  // NaN in every precision: a read before the first write shows
    allocations_.emplace(memory, std::move(allocation));
    emulation::add_device_memory(memory, bytes);
    return memory;
  }
  // Waits for the device, as cudaFree may and CudaDevice does where there are two lanes.
  void do_release(void* memory) noexcept override {
    finish_quietly();
    emulation::remove_device_memory(memory);
    allocations_.erase(memory);
  }
  void do_release_pinned(void* memory) noexcept override {
    finish_quietly();
    Device::do_release_pinned(memory);
  }

  void do_upload(void* to, const void* from, std::size_t bytes) override {
    enqueue(text("an upload of ", bytes, " bytes"), [=] { move(to, from, bytes); });
    reach(lanes_.now(Lane::main));
  }
  void do_download(void* to, const void* from, std::size_t bytes) override {
    reach(lanes_.now(Lane::main));
    move(to, from, bytes);
  }
  void do_upload_later(void* to, const void* from, std::size_t bytes, Lane lane) override {
    enqueue(
        text("an upload of ", bytes, " bytes"), [=] { move(to, from, bytes); }, lane);
  }
  void do_download_later(void* to, const void* from, std::size_t bytes, Lane lane) override {
    enqueue(
        text("a download of ", bytes, " bytes"), [=] { move(to, from, bytes); }, lane);
  }
  std::unique_ptr<LaneEvent> do_make_event(std::string name) override {
    return std::make_unique<EmulatedEvent>(*this, std::move(name));
  }
  void do_record(LaneEvent& event, Lane lane) override {
    static_cast<EmulatedEvent&>(event).moment = lanes_.now(lane);
  }
  void do_wait(Lane lane, const LaneEvent& event) override {
    lanes_.wait(lane, static_cast<const EmulatedEvent&>(event).moment);
  }
  void do_await(const LaneEvent& event) override {
    reach(static_cast<const EmulatedEvent&>(event).moment);
  }
  bool do_reached(const LaneEvent& event) const override {
    return lanes_.reached(static_cast<const EmulatedEvent&>(event).moment);
  }
  void do_copy(void* to, const void* from, std::size_t bytes) override {
    enqueue(text("a copy of ", bytes, " bytes"), [=] { move(to, from, bytes); });
  }
  void do_fill_zero(void* memory, std::size_t bytes) override {
    enqueue(text("clearing ", bytes, " bytes"), [=] {
      if (bytes > 0) std::memset(memory, 0, bytes);
    });
  }

  void do_load(std::span<const char>, Function&) override {}
  void do_launch(const Function& function, const LaunchShape& shape, void** arguments) override {
    const auto name = function.expression;
    const auto body = kernels_.bind(name, arguments);
    enqueue(text("kernel ", name), [=, this] { emulation::run_grid(name, shape, order_, body); });
  }

  void do_begin_capture() override { recording_ = std::make_unique<EmulatedGraph>(); }
  std::unique_ptr<Graph::Executable> do_end_capture() override { return std::move(recording_); }
  void do_replay(const Graph& graph) override {
    lanes_.enqueue(Lane::main, [steps = static_cast<EmulatedGraph&>(*graph.executable).steps] {
      for (const auto& step : *steps) step();
    });
  }

  void do_open_blas() override {}
  void do_gemm(const Gemm& problem, const void* a, const void* b, void* c, void*) override {
    enqueue("a matrix product", [=] { gemm_on_host(problem, {a, b, c, c}); });
  }
  std::unique_ptr<GemmPlan> do_plan_gemm(const Gemm& problem, std::size_t) override {
    return std::make_unique<GemmPlan>(problem);
  }
  void do_planned_gemm(GemmPlan&, const Gemm& problem, const GemmOperands& operands,
                       void*) override {
    enqueue("a matrix product", [=] { gemm_on_host(problem, operands); });
  }
  std::unique_ptr<FftPlan> do_plan_fft(const Fft& problem, void*) override {
    return std::make_unique<EmulatedFft>(problem);
  }
  void do_transform(FftPlan& plan, const void* in, void* out) override {
    enqueue("a Fourier transform", [plan = static_cast<EmulatedFft&>(plan).on_host, in, out] {
      transform_on_host(*plan, in, out);
      // A library may leave anything there: what reads it again shows.
      if (plan->problem.kind == Fft::Kind::real_backward)
        std::memset(const_cast<void*>(in), 0xff, plan->problem.work_area_bytes() / 2);
    });
  }
  void do_synchronize() override {
    lanes_.finish();
    raise_failure();
  }

  // Errors where nothing may be thrown are reported by the next wait; work behind them runs too,
  // before its memory is gone.
  void finish_quietly() noexcept {
    for (;;) {
      try {
        return lanes_.finish();
      } catch (...) {
        if (!failure_) failure_ = std::current_exception();
      }
    }
  }
  void raise_failure() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  void reach(emulation::Lanes::Moment moment) {
    lanes_.reach(moment);
    raise_failure();
  }

  static void move(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memmove(to, from, bytes);
  }

  // Passes the work to its lane, or records it for a graph; afterwards reports writes beside its
  // memory.
  void enqueue(const std::string& what, std::function<void()> work, Lane lane = Lane::main) {
    auto checked = [this, what, work = std::move(work)] {
      work();
      check_canaries(what);
    };
    if (recording_)
      recording_->steps->emplace_back(std::move(checked));
    else
      lanes_.enqueue(lane, std::move(checked));
  }

  void check_canaries(const std::string& what) const {
    for (const auto& [memory, allocation] : allocations_) {
      const auto* first = static_cast<const unsigned char*>(memory);
      const auto* end = first + allocation.bytes;
      const auto intact = [](const unsigned char& byte) { return byte == canary(&byte); };
      const bool before = std::all_of(allocation.storage.data(), first, intact);
      const bool after =
          std::all_of(end, allocation.storage.data() + allocation.storage.size(), intact);
      if (!before || !after)
        throw Error(Fault::device,
                    text(what, " wrote ", before ? "behind the end" : "before the begin",
                         " of an allocation of ", allocation.bytes, " bytes"));
    }
  }

  EmulatedKernels kernels_;
  emulation::Order order_;
  std::optional<std::int64_t> memory_bytes_;
  std::int64_t foreign_bytes_;
  emulation::Lanes lanes_;
  std::map<const void*, Allocation, std::less<>> allocations_;
  std::unique_ptr<EmulatedGraph> recording_;
  std::exception_ptr failure_ = {};
};

}  // namespace

void EmulatedKernels::add_binding(const std::string& expression, const Binding& binding) {
  if (bindings_.try_emplace(expression, binding).first->second.kernel != binding.kernel)
    throw Error(Fault::broken_rule,
                text("the emulated device has another kernel ", expression, " already"));
}

std::function<void()> EmulatedKernels::bind(const std::string& expression, void** pointers) const {
  const auto found = bindings_.find(expression);
  if (found == bindings_.end())
    throw Error(Fault::device, text("failed to launch ", expression,
                                    " on the emulated device: the test did not add it"));
  return found->second.bind(pointers);
}

std::unique_ptr<Backend> make_emulated_backend(EmulatedKernels kernels, Emulation emulation) {
  (void)open_backend("host");  // settles the threads of the host libraries
  auto arch = architecture(emulation.sm);
  arch.multiprocessors = emulation.multiprocessors;
  auto backend = std::make_unique<Backend>();
  backend->name = text("emulated:sm_", emulation.sm);
  backend->device =
      std::make_unique<EmulatedDevice>(backend->ledger, arch, std::move(kernels), emulation);
  backend->compiler = std::make_unique<Compiler>(*backend->device);
  return backend;
}

}  // namespace holdfast
