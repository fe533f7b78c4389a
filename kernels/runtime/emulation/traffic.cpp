// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulation/traffic.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <mutex>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/emulation/emulation.hpp"

namespace holdfast::emulation {
namespace {

constexpr std::uintptr_t sector_bytes = 32;
constexpr std::size_t widest = 16;  // bytes of one lane's access

struct Access {
  bool shared = false;
  bool writes = false;
  const void* instruction = nullptr;
  std::size_t round = 0;  // how often the thread was there before
  std::uintptr_t begin = 0, end = 0;
};

// Of the block that runs on this thread of the CPU, by the block's threads.
thread_local std::vector<std::vector<Access>> accesses;

TrafficRecord* record = nullptr;
std::mutex adding;  // blocks of a cooperative launch end at the same time

std::map<std::uintptr_t, std::size_t>& device_memory() {
  static std::map<std::uintptr_t, std::size_t> memory;
  return memory;
}

bool is_device_memory(std::uintptr_t at) {
  const auto after = device_memory().upper_bound(at);
  if (after == device_memory().begin()) return false;
  const auto& [begin, bytes] = *std::prev(after);
  return at < begin + bytes;
}

void number_rounds(std::vector<Access>& of_thread) {
  std::ranges::stable_sort(of_thread, {}, &Access::instruction);
  for (std::size_t i = 1; i < of_thread.size(); ++i)
    if (of_thread[i].instruction == of_thread[i - 1].instruction)
      of_thread[i].round = of_thread[i - 1].round + 1;
}

void note(Access access, const void* memory, std::size_t bytes) {
  if (accesses.empty()) return;
  access.begin = reinterpret_cast<std::uintptr_t>(memory);
  access.end = access.begin + bytes;
  access.shared = is_shared(memory);
  if (!access.shared && !is_device_memory(access.begin)) return;
  const std::size_t thread =
      threadIdx.x + std::size_t{blockDim.x} * (threadIdx.y + std::size_t{blockDim.y} * threadIdx.z);
  auto& own = accesses[thread];
  // A vector is read by one access, and written by one for each of its members.
  const bool adjoins = !own.empty() && access.writes && own.back().writes &&
                       own.back().end == access.begin && access.end - own.back().begin <= widest;
  if (adjoins)
    own.back().end = access.end;
  else
    own.push_back(access);
}

// The accesses of a request, by their places.
Traffic of_device_request(std::span<const Access> request) {
  std::uintptr_t bytes = 0, covered = 0, next_sector = 0;
  Traffic traffic{.requests = 1};
  for (const auto& [shared, writes, instruction, round, begin, end] : request) {
    bytes += end - std::min(end, std::max(begin, covered));
    covered = std::max(covered, end);
    const std::uintptr_t last = (end - 1) / sector_bytes;
    const std::uintptr_t new_from = std::max(begin / sector_bytes, next_sector);
    traffic.sectors += static_cast<std::int64_t>(last + 1 - std::min(last + 1, new_from));
    next_sector = std::max(next_sector, last + 1);
  }
  traffic.least_sectors = static_cast<std::int64_t>((bytes + sector_bytes - 1) / sector_bytes);
  return traffic;
}

Traffic of_shared_request(std::span<const Access> request) {
  constexpr std::size_t banks = 32, word_bytes = 4;
  std::array<std::int64_t, banks> words = {};
  std::uintptr_t next_word = 0;
  for (const Access& access : request)
    for (std::uintptr_t word = std::max(access.begin / word_bytes, next_word);
         word <= (access.end - 1) / word_bytes; next_word = ++word)
      ++words[word % banks];
  const std::int64_t all = std::reduce(words.begin(), words.end());
  return {.wavefronts = std::ranges::max(words),
          .least_wavefronts = (all + std::int64_t{banks} - 1) / std::int64_t{banks}};
}

Traffic of_warp(std::span<std::vector<Access>> threads) {
  std::vector<Access> all;
  for (std::vector<Access>& thread : threads) {
    number_rounds(thread);
    all.insert(all.end(), thread.begin(), thread.end());
  }
  std::ranges::sort(
      all, {}, [](const Access& a) { return std::tie(a.shared, a.instruction, a.round, a.begin); });
  Traffic sum;
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::find_if(begin, all.end(), [&](const Access& access) {
      return std::tie(access.shared, access.instruction, access.round) !=
             std::tie(begin->shared, begin->instruction, begin->round);
    });
    sum += begin->shared ? of_shared_request({begin, end}) : of_device_request({begin, end});
    begin = end;
  }
  return sum;
}

}  // namespace

TrafficRecord::TrafficRecord() {
  record = this;
}
TrafficRecord::~TrafficRecord() {
  record = nullptr;
}

Traffic& Traffic::operator+=(const Traffic& other) {
  requests += other.requests;
  sectors += other.sectors;
  least_sectors += other.least_sectors;
  wavefronts += other.wavefronts;
  least_wavefronts += other.least_wavefronts;
  return *this;
}

void add_device_memory(const void* memory, std::size_t bytes) {
  device_memory()[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
}
void remove_device_memory(const void* memory) {
  device_memory().erase(reinterpret_cast<std::uintptr_t>(memory));
}

void begin_block_traffic(std::size_t threads) {
  accesses.assign(record ? threads : 0, {});  // a kernel that threw left some
}

void end_block_traffic(const std::string& kernel) {
  if (!record) return;
  constexpr std::size_t lanes = 32;
  Traffic sum;
  for (std::span rest(accesses); !rest.empty(); rest = rest.subspan(std::min(lanes, rest.size())))
    sum += of_warp(rest.first(std::min(lanes, rest.size())));
  accesses.clear();
  if (sum.requests + sum.wavefronts == 0) return;
  const std::lock_guard lock(adding);
  record->add(kernel, sum);
}

void note_read(const void* memory, std::size_t bytes, const void* instruction) {
  note({.instruction = instruction}, memory, bytes);
}

void note_write(const void* memory, std::size_t bytes, const void* instruction) {
  note({.writes = true, .instruction = instruction}, memory, bytes);
}

}  // namespace holdfast::emulation
