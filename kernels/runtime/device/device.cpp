// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/device.hpp"

#include <cstring>

#include "runtime/base/error.hpp"
#include "runtime/count/recorder.hpp"

namespace holdfast {
namespace {

constexpr std::int64_t grid_limit_x = 2147483647, grid_limit_yz = 65535;
constexpr unsigned block_limit_z = 64;

std::int64_t volume(const Dim3& extent) {
  return std::int64_t{extent.x} * extent.y * extent.z;
}

std::string shown(const Dim3& extent) {
  return text("(", extent.x, ", ", extent.y, ", ", extent.z, ")");
}

// Why `shape` cannot be launched; empty when it can.
std::string refusal(const Architecture& arch, const Function& function, const LaunchShape& shape) {
  const auto threads = volume(shape.block), blocks = volume(shape.grid);
  if (threads < 1 || threads > arch.threads_per_block || shape.block.z > block_limit_z)
    return text("a block of ", shown(shape.block), " threads; 1 to ", arch.threads_per_block,
                " are allowed, at most ", block_limit_z, " along z");
  if (blocks < 1 || shape.grid.x > grid_limit_x || shape.grid.y > grid_limit_yz ||
      shape.grid.z > grid_limit_yz)
    return text("a grid of ", shown(shape.grid), " blocks; 1 to ", grid_limit_x,
                " are allowed along x, 1 to ", grid_limit_yz, " along y and z");

  if (function.most_threads > 0 && threads > function.most_threads)
    return text("a block of ", threads, " threads; its __launch_bounds__ allow ",
                function.most_threads);
  const auto shared = function.shared_bytes + static_cast<std::int64_t>(shape.shared_bytes);
  if (shared > arch.shared_bytes_per_block)
    return text("a block needs ", shared, " bytes of shared memory, sm_", arch.sm, " gives ",
                arch.shared_bytes_per_block);
  const auto resident = occupancy(arch, function.registers, shared, static_cast<int>(threads));
  if (resident < 1)
    return text("a block of ", threads, " threads with ", function.registers,
                " registers each does not fit a multiprocessor of sm_", arch.sm, " with ",
                arch.registers_per_multiprocessor, " registers");
  if (shape.cooperative && blocks > std::int64_t{resident} * arch.multiprocessors)
    return text("a cooperative grid of ", blocks, " blocks, but only ",
                std::int64_t{resident} * arch.multiprocessors, " are resident at once (",
                arch.multiprocessors, " multiprocessors times ", resident, ")");
  return {};
}

Graph::Node moved(Graph::Node::Kind kind, std::size_t bytes) {
  return {.kind = kind, .bytes = static_cast<std::int64_t>(bytes)};
}

Graph::Node called(std::string library) {
  return {.kind = Graph::Node::Kind::library, .library = std::move(library)};
}

// An argument may be a pointer, or contain several: each of its words is looked at. No number
// passed to a kernel is as large as an address, and two in one word hardly look like one.
template <class Look>
void each_word(const LaunchArguments& arguments, const Look& look) {
  for (std::size_t i = 0; i < arguments.sizes.size(); ++i)
    for (std::size_t at = 0; at + sizeof(void*) <= arguments.sizes[i]; at += sizeof(void*)) {
      const void* word = nullptr;
      std::memcpy(static_cast<void*>(&word),
                  static_cast<const std::byte*>(arguments.pointers[i]) + at, sizeof word);
      look(word);
    }
}

}  // namespace

std::optional<std::int64_t> Device::free_bytes() const {
  const auto all = memory_bytes();
  if (!all) return {};
  return *all - ledger_->live_bytes;
}

std::unique_ptr<DeviceTrace> Device::open_trace(std::chrono::steady_clock::time_point) {
  return nullptr;
}

Counts& Device::counts() {
  return capturing_ ? capturing_->counts : ledger_->counts;
}

void Device::forbid_in_capture(std::string_view doing) const {
  if (capturing_)
    throw Error(Fault::broken_rule,
                text(doing, " while a graph is captured: move it out of the recorded step"));
}

template <class MakeNode, class Act>
void Device::enqueue(const MakeNode& node, std::initializer_list<Used> memory, const Act& act) {
  refuse_released_in_capture();
  for (const Used& one : memory) {
    if (is_pinned(one.memory, 1)) refuse_pinned(node());
    if (is_foreign(one)) refuse_foreign(node());
  }
  const Verb verb(listener(), [&](Recorder& recorder) { return recorder.open(node()); });
  act();
  if (!capturing_) {
    ++enqueued_;
    return;
  }
  auto& captured = capturing_->nodes.emplace_back(node());
  // A kernel, a copy or a fill is one node; a library's nodes must be counted.
  if (captured.kind == Graph::Node::Kind::library)
    captured.device_nodes = do_captured_nodes().value_or(captured_nodes_ + 1) - captured_nodes_;
  captured_nodes_ += captured.device_nodes;
  captured.scopes = open_scopes(capturing_->scopes_around);
  for (const Used& one : memory) note_use(one.memory);
}

void* Device::allocate(std::size_t bytes, std::string_view site) {
  forbid_in_capture(text("allocates '", site, "'"));
  const Verb verb(ledger_->recorder, [&](Recorder& recorder) {
    return recorder.open(Activity::Kind::allocate, site, bytes);
  });
  // What a device refuses was never held: the peak it would have made is undone.
  const auto asked = static_cast<std::int64_t>(bytes);
  std::optional<Ledger> before;
  if (ledger_->live_bytes + asked > ledger_->peak_bytes) before = *ledger_;
  // The ledger first, so that what a steady step must not do does not happen at all.
  ledger_->allocated(asked, site);
  try {
    void* const memory = do_allocate(bytes);
    live_[memory] = {bytes, std::string(site), ++allocations_};
    return memory;
  } catch (const Error& error) {
    if (before) {
      *ledger_ = *std::move(before);
    } else {
      ledger_->released(asked, site);
      --ledger_->counts.allocations;
    }
    throw Error(error.fault(),
                text("failed to allocate '", site, "' (", ledger_->live_bytes,
                     " bytes are held already): ", error.what()),
                error.where());
  }
}

void Device::release(void* memory, std::size_t bytes, std::string_view site) noexcept {
  const Verb verb(ledger_->recorder, [&](Recorder& recorder) {
    return recorder.open(Activity::Kind::release, site, bytes);
  });
  if (capturing_) released_in_capture_ = text("releases '", site, "'");
  do_release(memory);
  live_.erase(memory);
  ++releases_;
  ledger_->released(static_cast<std::int64_t>(bytes), site);
}

void Device::copy(void* to, const void* from, std::size_t bytes) {
  enqueue([&] { return moved(Graph::Node::Kind::copy, bytes); }, {{to, bytes}, {from, bytes}},
          [&] { do_copy(to, from, bytes); });
  ++counts().copies;
  counts().moved_bytes += static_cast<std::int64_t>(bytes);
}

void Device::fill_zero(void* memory, std::size_t bytes) {
  enqueue([&] { return moved(Graph::Node::Kind::fill, bytes); }, {{memory, bytes}},
          [&] { do_fill_zero(memory, bytes); });
  counts().moved_bytes += static_cast<std::int64_t>(bytes);
}

void Device::load(std::span<const char> cubin, Function& function) {
  forbid_in_capture(text("loads kernel ", function.expression));
  do_load(cubin, function);
}

void Device::launch(Function& function, const LaunchShape& shape,
                    const LaunchArguments& arguments) {
  if (const auto reason = refusal(architecture_, function, shape); !reason.empty())
    throw Error(Fault::broken_rule, text("failed to launch ", function.expression, ": ", reason));
  const auto node = [&] { return Graph::Node{.function = &function, .shape = shape}; };
  if (!pinned_.empty())
    each_word(arguments, [&](const void* word) {
      if (is_pinned(word, 1)) refuse_pinned(node());
    });
  if (checks_pointers()) require_held(function, arguments);
  enqueue(node, {}, [&] { do_launch(function, shape, arguments.pointers); });
  if (capturing_) each_word(arguments, [&](const void* word) { note_use(word); });
  function.shapes.insert(shape);
  count_launch();
  counts().threads += shape.grid.volume() * shape.block.volume();
  counts().argument_sum += arguments.sum;
  counts().argument_magnitudes += arguments.magnitudes;
  if (capturing_) {
    auto& [launches, argument_sum] = capturing_->launched[&function];
    ++launches;
    argument_sum += arguments.sum;
  } else {
    ++function.launches;
    function.argument_sum += arguments.sum;
  }
}

void Device::count_launch() {
  ++counts().launches;
  if (capturing_) return;
  ++counts().host_launches;
  counts().hidden_bytes += overlap_.launch();
}

void Device::count_library_call(std::int64_t flops, std::int64_t bytes) {
  count_launch();
  ++counts().library_calls;
  counts().library_flops += flops;
  counts().library_bytes += bytes;
}

void Device::open_blas() {
  forbid_in_capture("opens the BLAS library");
  do_open_blas();
}

void Device::gemm(const Gemm& problem, const void* a, const void* b, void* c, void* work_area) {
  enqueue([&] { return called(shown(problem)); }, {{a}, {b}, {c}, {work_area}},
          [&] { do_gemm(problem, a, b, c, work_area); });
  count_library_call(flops(problem), moved_bytes(problem, {a, b, c, c}));
}

std::unique_ptr<GemmPlan> Device::plan_gemm(const Gemm& problem, std::size_t work_area_bytes) {
  forbid_in_capture("plans a matrix product");
  const Verb verb(ledger_->recorder, [&](Recorder& recorder) {
    return recorder.open(Activity::Kind::plan, shown(problem));
  });
  ledger_->plan(shown(problem));
  return do_plan_gemm(problem, work_area_bytes);
}

void Device::gemm(GemmPlan& plan, const Gemm& problem, const GemmOperands& operands,
                  void* work_area) {
  const auto& [a, b, c, d] = operands;
  enqueue([&] { return called(shown(problem)); }, {{a}, {b}, {c}, {d}, {work_area}},
          [&] { do_planned_gemm(plan, problem, operands, work_area); });
  count_library_call(flops(problem), moved_bytes(problem, operands));
}

std::unique_ptr<FftPlan> Device::plan_fft(const Fft& problem, void* work_area) {
  forbid_in_capture("plans a Fourier transform");
  const Verb verb(ledger_->recorder, [&](Recorder& recorder) {
    return recorder.open(Activity::Kind::plan, shown(problem));
  });
  ledger_->plan(shown(problem));
  auto plan = do_plan_fft(problem, work_area);
  plan->work_area = work_area;
  return plan;
}

void Device::transform(FftPlan& plan, const void* in, void* out) {
  enqueue([&] { return called(shown(plan.problem)); }, {{in}, {out}, {plan.work_area}},
          [&] { do_transform(plan, in, out); });
  count_library_call(plan.problem.flops(), plan.problem.moved_bytes());
}

double Device::time(const std::function<void()>& enqueue) {
  if (timing_ || (!executes() && ledger_->phase() == Ledger::Phase::steady))
    throw Error(Fault::broken_rule,
                "times work in a step, and so waits for it, which no count says: leave it to "
                "whoever calls the step");
  struct Clear {
    bool& flag;
    ~Clear() { flag = false; }
  };
  const Clear clear{timing_};
  timing_ = true;
  return do_time(enqueue);
}

void Device::drain() {
  if (ledger_->phase() == Ledger::Phase::steady) return synchronize();
  do_synchronize();
}

void Device::synchronize() {
  forbid_in_capture("waits for the device");
  const Verb verb(ledger_->recorder,
                  [](Recorder& recorder) { return recorder.open(Activity::Kind::synchronize); });
  do_synchronize();
  overlap_.await_all();
  ++ledger_->counts.syncs;
}

}  // namespace holdfast
