// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulation/emulation.hpp"

#include <algorithm>
#include <barrier>
#include <bit>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/base/error.hpp"
#include "runtime/emulation/fiber.hpp"
#include "runtime/emulation/static_shared.hpp"
#include "runtime/emulation/traffic.hpp"

namespace holdfast::emulation {

constinit thread_local Index3 threadIdx, blockIdx;
constinit thread_local Dim3 blockDim, gridDim;

namespace {

class Block;

enum class Wait { nothing, block, warp, grid };

struct Copy {
  void* to = nullptr;
  const void* from = nullptr;
};
using Copies = std::vector<Copy>;

struct Thread {
  Index3 index = {};
  bool done = false;
  Wait wait = Wait::nothing;
  unsigned mask = 0;  // lanes that a warp barrier waits for
  std::source_location where = {};
  std::unique_ptr<Fiber> fiber = {};  // while it waits
  unsigned exchanges = 0;             // of its whole warp, so far
  Copies open = {};
  std::vector<Copies> groups = {};  // closed, oldest first
};

struct Warp {
  int waiting = 0;  // lanes that wait for one another
  std::uint64_t slots[3][32] = {};
};

// The blocks of a cooperative launch meet here; a failed block leaves, so that the others can end.
using GridBarrier = std::barrier<>;

class Block {
 public:
  Block(const std::string& kernel, Index3 index, Dim3 extent, Order order, GridBarrier* grid,
        const std::function<void()>& body)
      : kernel_(kernel), index_(index), order_(order), grid_(grid), body_(body) {
    threads_.reserve(std::size_t{extent.x} * extent.y * extent.z);
    start_order_.reserve(threads_.capacity());
    ready_.reserve(threads_.capacity());
    for (unsigned z = 0; z < extent.z; ++z)
      for (unsigned y = 0; y < extent.y; ++y)
        for (unsigned x = 0; x < extent.x; ++x) threads_.push_back({.index = {x, y, z}});
    for (std::size_t i = 0; i < threads_.size(); ++i)
      start_order_.push_back(order == Order::forward ? i : threads_.size() - 1 - i);
    warps_.resize((threads_.size() + 31) / 32);
  }

  void run();
  void work();  // on a fiber: runs unstarted threads until one waits or none is left
  void wait(Wait what, unsigned mask, std::source_location where);

  std::size_t running() const { return running_; }
  Thread& self() { return threads_[running_]; }
  Order order() const { return order_; }
  void* slot(unsigned lane) { return &warps_[running_ / 32].slots[0][lane]; }
  std::uint64_t* exchange_slots(unsigned mask) {
    auto& slots = warps_[running_ / 32].slots;
    return mask == whole_warp ? slots[1 + ++threads_[running_].exchanges % 2] : slots[0];
  }

 private:
  void resume(std::unique_ptr<Fiber> fiber);
  void enter(std::size_t thread) {
    running_ = thread;
    threadIdx = threads_[thread].index;
  }
  bool release_warps();
  bool all_wait_for(Wait what) const;
  void release(std::size_t thread) {
    if (threads_[thread].wait == Wait::warp)
      --warps_[thread / 32].waiting;
    else
      --waiting_for(threads_[thread].wait);
    threads_[thread].wait = Wait::nothing;
    ready_.push_back(thread);
  }
  std::size_t& waiting_for(Wait what) { return waiting_[what == Wait::grid]; }
  // The thread that has been ready longest.
  std::size_t take_ready() {
    const auto thread = ready_[gone_on_++];
    if (gone_on_ == ready_.size()) {
      ready_.clear();
      gone_on_ = 0;
    }
    return thread;
  }
  [[noreturn]] void report_divergence() const;
  void forbid_copies_left() const;

  const std::string& kernel_;
  Index3 index_;
  Order order_;
  GridBarrier* grid_;
  const std::function<void()>& body_;
  std::vector<Thread> threads_;
  std::vector<std::size_t> start_order_;
  std::vector<Warp> warps_;
  std::size_t next_ = 0, running_ = 0;
  std::size_t waiting_[2] = {};  // threads at the block's and at the grid's barrier
  std::vector<std::size_t> ready_;
  std::size_t gone_on_ = 0;  // number of ready_ already resumed
  std::unique_ptr<Fiber> on_stage_;
  std::exception_ptr failure_;
};

thread_local Block* current = nullptr;

// Idle stacks for the next block, kept because mapping one costs more than running it.
thread_local std::vector<std::unique_ptr<Fiber>> idle;

std::unique_ptr<Fiber> take_fiber() {
  // A fiber outlives blocks: in each round it works for the current one.
  if (idle.empty()) return std::make_unique<Fiber>([] { current->work(); });
  auto fiber = std::move(idle.back());
  idle.pop_back();
  return fiber;
}

void Block::work() {
  try {
    while (next_ < start_order_.size()) {
      const auto mine = start_order_[next_++];
      enter(mine);
      body_();
      forbid_copies_left();
      threads_[mine].done = true;
    }
  } catch (const boost::context::detail::forced_unwind&) {
    throw;
  } catch (...) {
    failure_ = std::current_exception();
  }
  on_stage_->leave();  // out of work: the fiber sleeps in the pool
}

void Block::wait(Wait what, unsigned mask, std::source_location where) {
  auto& self = threads_[running_];
  self.wait = what;
  self.mask = mask;
  self.where = where;
  if (what == Wait::warp)
    ++warps_[running_ / 32].waiting;
  else
    ++waiting_for(what);
  self.fiber = std::move(on_stage_);
  if (ready_.empty()) return self.fiber->leave();
  const auto thread = take_ready();
  enter(thread);
  on_stage_ = std::move(threads_[thread].fiber);
  self.fiber->hand_over(*on_stage_);
}

void Block::resume(std::unique_ptr<Fiber> fiber) {
  on_stage_ = std::move(fiber);
  on_stage_->enter();
  if (on_stage_) idle.push_back(std::move(on_stage_));
  if (failure_) std::rethrow_exception(failure_);
}

void Block::run() {
  current = this;
  blockIdx = index_;
  for (;;) {
    if (!ready_.empty()) {
      const auto thread = take_ready();
      enter(thread);
      resume(std::move(threads_[thread].fiber));
    } else if (next_ < start_order_.size()) {
      resume(take_fiber());
    } else if (all_wait_for(Wait::block)) {
      for (const auto thread : start_order_) release(thread);
    } else if (all_wait_for(Wait::grid)) {
      if (!grid_)
        throw Error(Fault::device, text("kernel ", kernel_,
                                        " waits for its grid, but its launch is not cooperative"));
      grid_->arrive_and_wait();
      for (const auto thread : start_order_) release(thread);
    } else if (!release_warps()) {
      for (const auto& thread : threads_)
        if (!thread.done) report_divergence();
      return;
    }
  }
}

bool Block::all_wait_for(Wait what) const {
  if (waiting_[what == Wait::grid] < threads_.size()) return false;
  for (const auto& thread : threads_)
    if (thread.wait != what || thread.where.line() != threads_[0].where.line()) return false;
  return true;
}

// One warp at a time, the first that can proceed: it runs ahead of the others until it must wait
// for them, which exposes a missing block barrier.
bool Block::release_warps() {
  for (std::size_t i = 0; i < start_order_.size(); i += 32) {
    const auto first = start_order_[i] / 32 * 32, end = std::min(first + 32, threads_.size());
    if (warps_[first / 32].waiting == 0) continue;
    bool any = false;
    for (auto thread = first; thread < end; ++thread) {
      if (threads_[thread].wait != Wait::warp) continue;
      const unsigned mask = threads_[thread].mask;
      if (first + std::countr_zero(mask) != thread) continue;  // its lowest lane asks for all
      bool complete = true;
      for (auto lane = first; lane < end; ++lane)
        if (mask >> (lane - first) & 1)
          complete = complete && threads_[lane].wait == Wait::warp && threads_[lane].mask == mask &&
                     threads_[lane].where.line() == threads_[thread].where.line();
      if (!complete) continue;
      for (auto lane = first; lane < end; ++lane)
        if (mask >> (lane - first) & 1) release(lane);
      any = true;
    }
    if (any) return true;
  }
  return false;
}

void Block::report_divergence() const {
  std::size_t ended = 0;
  const Thread* waiting = nullptr;  // the first one
  for (const auto& thread : threads_) {
    if (thread.done) ++ended;
    if (thread.wait != Wait::nothing && !waiting) waiting = &thread;
  }
  throw Error(Fault::device,
              text("kernel ", kernel_, ", block (", index_.x, ", ", index_.y, ", ", index_.z,
                   "): thread (", waiting->index.x, ", ", waiting->index.y, ", ", waiting->index.z,
                   ") waits at the barrier in line ", waiting->where.line(),
                   ", which not all threads reach: ", ended, " of ", threads_.size(),
                   " have ended, ", threads_.size() - ended, " wait there or at another barrier"));
}

void Block::forbid_copies_left() const {
  const Thread& thread = threads_[running_];
  if (thread.open.empty() && thread.groups.empty()) return;
  throw Error(Fault::device,
              text("kernel ", kernel_, ", block (", index_.x, ", ", index_.y, ", ", index_.z,
                   "): thread (", thread.index.x, ", ", thread.index.y, ", ", thread.index.z,
                   ") ends with copies that it never waited for"));
}

void make(const Copies& copies) {
  for (const Copy& copy : copies) std::memcpy(copy.to, copy.from, 16);
}

Index3 index_of(std::size_t block, const Dim3& grid) {
  return {static_cast<unsigned>(block % grid.x), static_cast<unsigned>(block / grid.x % grid.y),
          static_cast<unsigned>(block / grid.x / grid.y)};
}

void enter_grid(const LaunchShape& shape) {
  blockDim = shape.block;
  gridDim = shape.grid;
}

std::vector<SharedRoom>& watched() {
  static std::vector<SharedRoom> rooms;
  return rooms;
}

void run_block(const std::string& kernel, Index3 index, const LaunchShape& shape, Order order,
               GridBarrier* grid, const std::function<void()>& body) {
  constexpr std::size_t margin = 4096;  // bytes behind what the launch asks for
  constexpr unsigned char untouched = 0xff;
  for (const SharedRoom room : watched())
    std::fill_n(room().begin(), std::min(shape.shared_bytes + margin, room().size()), untouched);
  spoil_static_shared();
  begin_block_traffic(static_cast<std::size_t>(shape.block.volume()));
  Block(kernel, index, shape.block, order, grid, body).run();
  end_block_traffic(kernel);
  for (const SharedRoom room : watched()) {
    const auto behind = room().subspan(shape.shared_bytes);
    const auto written = [](unsigned char byte) { return byte != untouched; };
    if (std::ranges::any_of(behind.first(std::min(margin, behind.size())), written))
      throw Error(Fault::device, text("kernel ", kernel, " wrote behind its block's ",
                                      shape.shared_bytes, " bytes of dynamic shared memory"));
  }
}

// Hand-written grid barriers spin, so every block needs a preemptively scheduled thread.
void run_cooperatively(const std::string& kernel, const LaunchShape& shape, Order order,
                       std::size_t blocks, const std::function<void()>& body) {
  GridBarrier barrier(static_cast<std::ptrdiff_t>(blocks));
  std::mutex mutex;
  std::exception_ptr failure;
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < blocks; ++i)
    threads.emplace_back([&, i] {
      try {
        enter_grid(shape);
        run_block(kernel, index_of(i, shape.grid), shape, order, &barrier, body);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
      barrier.arrive_and_drop();
    });
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

void run_grid(const std::string& kernel, const LaunchShape& shape, Order order,
              const std::function<void()>& body) {
  const auto blocks = std::size_t{shape.grid.x} * shape.grid.y * shape.grid.z;
  if (shape.cooperative) return run_cooperatively(kernel, shape, order, blocks, body);
  enter_grid(shape);
  for (std::size_t i = 0; i < blocks; ++i) {
    const auto block = order == Order::forward ? i : blocks - 1 - i;
    run_block(kernel, index_of(block, shape.grid), shape, order, nullptr, body);
  }
}

bool watch(SharedRoom room) {
  watched().push_back(room);
  return true;
}

bool is_shared(const void* at) {
  const auto place = reinterpret_cast<std::uintptr_t>(at);
  return is_static_shared(at) || std::ranges::any_of(watched(), [&](SharedRoom room) {
           return place - reinterpret_cast<std::uintptr_t>(room().data()) < room().size();
         });
}

void block_barrier(std::source_location where) {
  current->wait(Wait::block, 0, where);
}
void grid_barrier(std::source_location where) {
  current->wait(Wait::grid, 0, where);
}
void warp_barrier(unsigned mask, std::source_location where) {
  current->wait(Wait::warp, mask, where);
}
void* warp_slot(unsigned lane) {
  return current->slot(lane);
}
void copy_behind(void* to, const void* from) {
  note_read(from, 16, __builtin_return_address(0));
  note_write(to, 16, __builtin_return_address(0));
  if (current->order() == Order::forward)
    current->self().open.push_back({to, from});
  else
    make({{to, from}});
}
void close_copies() {
  Thread& self = current->self();
  self.groups.push_back(std::exchange(self.open, {}));
}
void finish_copies(unsigned newest) {
  auto& groups = current->self().groups;
  for (; groups.size() > newest; groups.erase(groups.begin())) make(groups.front());
}
void finish_copies() {
  finish_copies(0);
  make(std::exchange(current->self().open, {}));
}

std::uint64_t* exchange_slots(unsigned mask) {
  return current->exchange_slots(mask);
}
unsigned lane_index() {
  return static_cast<unsigned>(current->running() % 32);
}

}  // namespace holdfast::emulation
