// SPDX-License-Identifier: Apache-2.0
// Runs a kernel's threads on the CPU, for tests: every thread of a block is a fiber, blocks run one
// after the other. What CUDA leaves undefined and a GPU lets pass (a barrier that some threads do
// not reach) is an error here.
#pragma once

#include <cstdint>
#include <functional>
#include <source_location>
#include <string>

#include "runtime/device/device.hpp"

namespace holdfast::emulation {

struct Index3 {
  unsigned x = 0, y = 0, z = 0;
};

// Of the thread that runs now; valid inside a kernel only.
extern constinit thread_local Index3 threadIdx, blockIdx;
extern constinit thread_local Dim3 blockDim, gridDim;

// Threads run forward or backward from barrier to barrier: a missing barrier shows in one of the
// two orders.
enum class Order { forward, backward };

// `body` is called once per thread of the grid. Blocks of a cooperative launch are alive at the
// same time, each on its own thread of the CPU. Throws Error{device} naming `kernel` for a barrier
// that not all threads reach.
void run_grid(const std::string& kernel, const LaunchShape& shape, Order order,
              const std::function<void()>& body);

// What the shim's device functions call. Each suspends the calling thread until those concerned
// have arrived.
void block_barrier(std::source_location where);
void grid_barrier(std::source_location where);
void warp_barrier(unsigned mask, std::source_location where);

// Eight bytes per lane through which a warp exchanges values between two warp_barriers.
void* warp_slot(unsigned lane);
// Those of the lanes of `mask` for one exchange, to be asked for once by each lane. A whole warp's
// alternate: nobody fills one again before all lanes have met at the next exchange's barrier, so
// that none is needed behind the reading. Other lanes need one there.
constexpr unsigned whole_warp = 0xffffffffu;
std::uint64_t* exchange_slots(unsigned mask);
unsigned lane_index();

// Copies of sixteen bytes behind the running thread's back, as early as they may be made (at once,
// Order::backward) or as late (by the wait that they are waited for with, Order::forward): what
// lacks a wait, or a barrier before the copy, shows in one of the two. A thread that ends with
// copies that it never waited for is an error.
void copy_behind(void* to, const void* from);
void close_copies();                  // those since the last call are one group
void finish_copies(unsigned newest);  // all groups but the newest so many
void finish_copies();                 // all, closed or not

}  // namespace holdfast::emulation
