// SPDX-License-Identifier: Apache-2.0
// Runs a kernel's threads on the CPU, for tests: every thread of a block is a fiber, blocks run one
// after the other. Behaviour that CUDA leaves undefined and a GPU tolerates (a barrier that some
// threads do not reach) is an error here.
#pragma once

#include <cstdint>
#include <functional>
#include <source_location>
#include <span>
#include <string>

#include "runtime/device/device.hpp"

namespace holdfast::emulation {

struct Index3 {
  unsigned x = 0, y = 0, z = 0;
};

// Those of the running thread; valid inside a kernel only.
extern constinit thread_local Index3 threadIdx, blockIdx;
extern constinit thread_local Dim3 blockDim, gridDim;

// Order of threads between barriers, forward or backward: a missing barrier between a write and a
// read shows in one of the two. What threads or blocks add to one place without an atomic shows in
// neither, because a thread runs undisturbed between barriers, and a block to its end.
enum class Order { forward, backward };

// Calls `body` once per thread of the grid. Blocks of a cooperative launch are alive at the same
// time, each on its own CPU thread. Throws Error{device}, naming `kernel`, for a barrier that not
// all threads reach and for a write behind a block's dynamic shared memory.
void run_grid(const std::string& kernel, const LaunchShape& shape, Order order,
              const std::function<void()>& body);

// Room for dynamic shared memory, as the calling CPU thread has it. Of watched rooms run_grid fills
// what a launch asks for with NaN in every precision, before each block, as it does all static
// shared memory. Returns true.
using SharedRoom = std::span<unsigned char> (*)();
bool watch(SharedRoom room);
// Whether a byte there is shared memory, dynamic or static, of the block that the CPU thread runs.
bool is_shared(const void* at);

// Called by the shim's device functions. Each suspends the calling thread until all participants
// have arrived.
void block_barrier(std::source_location where);
void grid_barrier(std::source_location where);
void warp_barrier(unsigned mask, std::source_location where);

// Eight bytes per lane through which a warp exchanges values between two warp_barriers.
void* warp_slot(unsigned lane);
// The slots of the lanes in `mask` for one exchange; each lane must ask once. A whole warp
// alternates between two sets: nobody refills one before all lanes have met at the next exchange's
// barrier, so no barrier is needed after reading. Partial warps need one there.
constexpr unsigned whole_warp = 0xffffffffu;
std::uint64_t* exchange_slots(unsigned mask);
unsigned lane_index();

// Asynchronous copies of sixteen bytes, made as early as possible (at once, Order::backward) or as
// late (in the wait for them, Order::forward): a missing wait, or a missing barrier before the
// copy, shows in one of the two. A thread that ends with unawaited copies is an error.
void copy_behind(void* to, const void* from);
void close_copies();                  // groups those since the last call
void finish_copies(unsigned newest);  // all groups except the newest `newest`
void finish_copies();                 // all, grouped or not

}  // namespace holdfast::emulation
