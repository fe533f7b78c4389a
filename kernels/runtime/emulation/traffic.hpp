// SPDX-License-Identifier: Apache-2.0
// Counts how warps of emulated kernels read and write device and shared memory: an access pattern
// that a GPU serves in more transactions than it must shows without one. Only kernels of a file
// that gcc compiled with -fsanitize=thread are seen, because the calls that it makes before each
// access are answered here instead of by the sanitizer's library. It makes none for atomics, for
// memcpy, and for a structure that is handed by value to a function which is not inlined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace holdfast::emulation {

// Of one kernel. A request is what the lanes of a warp access at one instruction, all for the first
// time, all for the second, and so on; a lane's stores to adjoining places, one right after the
// other, are taken for one of a vector, which gcc makes member by member. Of device memory a sector
// is 32 bytes, the least that is moved for it. Shared memory lies in 32 banks, neighbouring words
// of 4 bytes in neighbouring ones: each gives a word in a wavefront.
struct Traffic {
  std::int64_t requests = 0;  // of device memory
  std::int64_t sectors = 0;
  std::int64_t least_sectors = 0;  // in which the bytes of each request would fit
  std::int64_t wavefronts = 0;
  std::int64_t least_wavefronts = 0;  // without conflicts

  Traffic& operator+=(const Traffic& other);
};

// While it lives, launches are recorded; one at a time.
class TrafficRecord {
 public:
  TrafficRecord();
  ~TrafficRecord();
  TrafficRecord(const TrafficRecord&) = delete;
  TrafficRecord& operator=(const TrafficRecord&) = delete;

  const std::map<std::string, Traffic>& kernels() const { return kernels_; }
  void add(const std::string& kernel, const Traffic& traffic) { kernels_[kernel] += traffic; }

 private:
  std::map<std::string, Traffic> kernels_ = {};
};

// Device memory; what is neither that nor shared memory is local, and not counted.
void add_device_memory(const void* memory, std::size_t bytes);
void remove_device_memory(const void* memory);

// Around each block of a launch.
void begin_block_traffic(std::size_t threads);
void end_block_traffic(const std::string& kernel);

// By the running thread of a block, at an instruction.
void note_read(const void* memory, std::size_t bytes, const void* instruction);
void note_write(const void* memory, std::size_t bytes, const void* instruction);

}  // namespace holdfast::emulation
