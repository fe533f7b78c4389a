// SPDX-License-Identifier: Apache-2.0
#include "harness/ceilings.hpp"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "runtime/buffer.hpp"

namespace holdfast {
namespace {

constexpr double mebibyte = 1 << 20;
constexpr double calibration_seconds = 0.1;  // per ceiling

struct Footprint {
  const char* name;
  double bytes;
};
constexpr Footprint footprints[] = {{"l2_bytes_per_s", 1 * mebibyte},
                                    {"l3_bytes_per_s", 12 * mebibyte},
                                    {"memory_bytes_per_s", 128 * mebibyte}};

// The best of the samples that fit: a ceiling is what the machine can do when left alone.
double least_seconds(const std::function<double()>& sample) {
  double best = sample(), spent = best;
  while (spent < calibration_seconds) {
    const double seconds = sample();
    best = std::min(best, seconds);
    spent += seconds;
  }
  return best;
}

// One thread's own CPU time: a ceiling must not sink because somebody else is on the machine.
double on_thread_clock(const std::function<void()>& work) {
  const auto now = [] {
    timespec time = {};
    (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

// One thread's share of `footprint`, copied back and forth; bytes read plus written per second.
double thread_copy_bytes_per_second(double footprint) {
  const auto count = static_cast<std::size_t>(footprint / 2 / sizeof(double));
  std::vector<double> from(count, 1.0), to(count, 1.0);
  const double bytes = 2.0 * static_cast<double>(count * sizeof(double));
  const int repeats = std::max(1, static_cast<int>(4 * mebibyte / bytes));
  const double seconds = least_seconds([&] {
    return on_thread_clock([&] {
      for (int repeat = 0; repeat < repeats; ++repeat) {
        std::memcpy(to.data(), from.data(), count * sizeof(double));
        asm volatile("" ::"r"(to.data()) : "memory");  // every copy counts
      }
    });
  });
  return repeats * bytes / seconds;
}

// Chains of multiply-adds that no memory is behind: 12 hide a latency of 4 cycles on 2 units of any
// width, with room.
constexpr int chains = 12;
constexpr long fma_iterations = 20000;

template <class T>
struct Lanes {
  static constexpr int count = 64 / sizeof(T);
};

template <class T>
[[gnu::always_inline]] inline T fma_chains(long iterations) {
  constexpr int lanes = Lanes<T>::count;
  typedef T Vector [[gnu::vector_size(64)]];
  Vector sums[chains];
  for (int c = 0; c < chains; ++c)
    for (int l = 0; l < lanes; ++l) sums[c][l] = static_cast<T>(c + l);
  const Vector factor = Vector{} + static_cast<T>(0.999), shift = Vector{} + static_cast<T>(1e-3);
  for (long i = 0; i < iterations; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < chains; ++c) sums[c] = sums[c] * factor + shift;
  }
  T total = 0;
  for (int c = 0; c < chains; ++c)
    for (int l = 0; l < lanes; ++l) total += sums[c][l];
  return total;
}

// One body per instruction set that the workloads are compiled for.
[[gnu::target("arch=x86-64-v4")]] double fma_v4(long n) {
  return fma_chains<double>(n);
}
[[gnu::target("arch=x86-64-v4")]] float fmaf_v4(long n) {
  return fma_chains<float>(n);
}
[[gnu::target("arch=x86-64-v3")]] double fma_v3(long n) {
  return fma_chains<double>(n);
}
[[gnu::target("arch=x86-64-v3")]] float fmaf_v3(long n) {
  return fma_chains<float>(n);
}

template <class T>
double thread_flop_per_second(T (*chain)(long)) {
  volatile T sink = 0;
  const double seconds =
      least_seconds([&] { return on_thread_clock([&] { sink = chain(fma_iterations); }); });
  return 2.0 * chains * Lanes<T>::count * static_cast<double>(fma_iterations) / seconds;
}

// One thread alone, times the threads: what no run can exceed, since threads share at best nothing.
Ceilings calibrate_host() {
  const int threads = host_limits().threads;
  const bool wide = host_limits().isa == "x86-64-v4";
  Ceilings ceilings;
  for (const auto& [name, bytes] : footprints)
    ceilings.levels.push_back(
        {name, bytes, threads * thread_copy_bytes_per_second(bytes / threads)});
  ceilings.f64_flop_per_second = threads * thread_flop_per_second(wide ? fma_v4 : fma_v3);
  ceilings.f32_flop_per_second = threads * thread_flop_per_second(wide ? fmaf_v4 : fmaf_v3);
  return ceilings;
}

Ceilings calibrate_device(Backend& backend) {
  constexpr int copies = 20;
  constexpr double bytes = 2048 * mebibyte;
  Buffer<char> from(backend, static_cast<std::size_t>(bytes / 2), "calibration");
  Buffer<char> to(backend, static_cast<std::size_t>(bytes / 2), "calibration");
  Device& device = *backend.device;
  device.fill_zero(from.data(), from.bytes());
  const double seconds = least_seconds([&] {
    return device.time([&] {
      for (int i = 0; i < copies; ++i) device.copy(to.data(), from.data(), from.bytes());
    });
  });
  Ceilings ceilings;
  ceilings.levels.push_back({"memory_bytes_per_s", bytes, copies * bytes / seconds});
  return ceilings;
}

}  // namespace

double Ceilings::bandwidth(double bytes) const {
  for (const Level& level : levels)
    if (bytes <= level.footprint_bytes) return level.bytes_per_second;
  return levels.back().bytes_per_second;
}

double Ceilings::floor_seconds(const Work& work, double footprint_bytes) const {
  const double memory = work.bytes / bandwidth(footprint_bytes);
  return f64_flop_per_second ? std::max(memory, work.flops / *f64_flop_per_second) : memory;
}

std::map<std::string, std::optional<double>> Ceilings::named() const {
  std::map<std::string, std::optional<double>> out = {{"f64_flop_per_s", f64_flop_per_second},
                                                      {"f32_flop_per_s", f32_flop_per_second}};
  for (const Level& level : levels) out[level.name] = level.bytes_per_second;
  return out;
}

std::optional<Ceilings> calibrate(Backend& backend) {
  if (!backend.executes()) return std::nullopt;
  return backend.device ? calibrate_device(backend) : calibrate_host();
}

}  // namespace holdfast
