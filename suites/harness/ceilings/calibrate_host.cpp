// SPDX-License-Identifier: Apache-2.0
#include <omp.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "calibration/calibration.hpp"
#include "calibration/host_caches.hpp"
#include "harness/ceilings/calibrate.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

using calibration::Cache;
using calibration::Calibration;
using calibration::Kind;
using calibration::Size;
using Backends = std::vector<std::unique_ptr<Backend>>;  // one per thread of the team

constexpr std::size_t MiB = std::size_t{1} << 20;
constexpr double seconds_per_ceiling = 0.02;
// Work per step and thread: a few tenths of a millisecond, far above the clock's resolution.
constexpr std::size_t bytes_per_step = 32 * MiB;
constexpr int multiply_adds = 100'000, exponentials = 400, edge = 384;

// At least a cache line, if many threads share a small size.
std::size_t share_of(std::size_t bytes, std::size_t threads) {
  constexpr std::size_t line = 64;
  return std::max(bytes / threads, line);
}

// The best sample until the deadline; takes at least a few.
double best_rate(Calibration& calibration, double Work::*amount, double deadline) {
  double least = 0;
  for (int sample = 0; sample < fewest_samples || monotonic_seconds() < deadline; ++sample) {
    const double begin = thread_cpu_seconds();
    calibration.step();
    const double seconds = thread_cpu_seconds() - begin;
    least = sample == 0 ? seconds : std::min(least, seconds);
  }
  return calibration.work().*amount / least;
}

// The rate of `amount` per second of all threads running concurrently, each on its own clock. They
// synchronise once, at the beginning: on a busy machine every wait is long. If they have to share a
// CPU, this is what they could do with one each.
double team_rate(const Backends& backends, const Size& share, double Work::*amount) {
  double rate = 0;
  std::exception_ptr failure;
#pragma omp parallel num_threads(static_cast <int>(backends.size())) reduction(+ : rate)
  {
    std::unique_ptr<Calibration> own;
    try {
      // Made here, so that first touch places its memory near the thread.
      own = calibration::make_verified(*backends[static_cast<std::size_t>(omp_get_thread_num())],
                                       share);
    } catch (...) {
#pragma omp critical
      failure = std::current_exception();
    }
#pragma omp barrier
    if (own) rate += best_rate(*own, amount, monotonic_seconds() + seconds_per_ceiling);
  }
  if (failure) std::rethrow_exception(failure);
  return rate;
}

// The best of copy, triad and read: which one that is depends on the machine and on the level.
Ceilings::Level level(const Backends& backends, std::string name, double capacity,
                      std::size_t thread_bytes, bool beyond_caches) {
  Ceilings::Level level{.name = std::move(name),
                        .capacity_bytes = capacity,
                        .footprint_bytes = static_cast<double>(thread_bytes * backends.size())};
  for (const Kind kind : {Kind::copy, Kind::triad, Kind::read}) {
    const Size share{.kind = kind,
                     .footprint_bytes = thread_bytes,
                     .repeats = static_cast<int>(std::max(bytes_per_step / thread_bytes, 1ul)),
                     .streams = beyond_caches};
    level.bytes_per_second =
        std::max(level.bytes_per_second, team_rate(backends, share, &Work::bytes));
  }
  return level;
}

std::vector<Ceilings::Level> levels(const Backends& backends) {
  const int threads = static_cast<int>(backends.size());
  std::vector<Ceilings::Level> levels;
  const auto add = [&](const std::string& name, double capacity, std::size_t thread_bytes,
                       bool beyond_caches) {
    if (auto found = if_it_succeeds(
            name, [&] { return level(backends, name, capacity, thread_bytes, beyond_caches); }))
      levels.push_back(std::move(*found));
  };
  std::size_t last_cache = 0;
  for (const Cache& cache : calibration::host_caches()) {
    // Half of a thread's share, but no more than certainly exceeds the level before.
    constexpr std::size_t most = 32 * MiB;
    const std::size_t capacity = cache.team_bytes(threads);
    add(text("l", cache.level), static_cast<double>(capacity),
        std::min(share_of(capacity / 2, backends.size()), most), false);
    last_cache = capacity;
  }
  // Four times the last cache, or if that takes long, certainly more than twice: some have 480 MiB.
  constexpr std::size_t least = 128 * MiB, most = 512 * MiB;
  std::size_t beyond =
      std::max(std::clamp(4 * last_cache, least, most), last_cache * 2 + last_cache / 4);
  if (const auto limit = host_limits().memory_bytes)
    beyond = std::min(beyond, static_cast<std::size_t>(*limit) / 4);
  add("memory", 0, share_of(beyond, backends.size()), true);
  return levels;
}

Ceilings::Peak peak(const Backends& backends, Precision precision) {
  const auto rate = [&](const char* what, Kind kind, double Work::*amount, int repeats) {
    const Size share{.kind = kind, .precision = precision, .edge = edge, .repeats = repeats};
    return if_it_succeeds(what, [&] { return team_rate(backends, share, amount); });
  };
  return {.flop_per_second = rate("multiply-adds", Kind::multiply_add, &Work::flops, multiply_adds),
          .gemm_flop_per_second = rate("matrix products", Kind::matrix_product, &Work::flops, 1),
          .specials_per_second =
              rate("exponentials", Kind::exponentials, &Work::specials, exponentials)};
}

// The whole team is measured, so by wall clock. On a busy machine few samples find all of its
// threads on a CPU; empty if none did, because what remains is the system's time slice.
std::optional<double> fork_join_seconds(Backend& backend) {
  constexpr int samples = 1000;
  constexpr double longest = 0.1, time_slice = 1e-3;
  const auto barrier = calibration::make_verified(backend, {.kind = Kind::barriers});
  const double deadline = monotonic_seconds() + longest;
  double least = time_slice, end = 0;
  for (int sample = 0; sample < samples && end < deadline; ++sample) {
    const double begin = monotonic_seconds();
    barrier->step();
    end = monotonic_seconds();
    least = std::min(least, end - begin);
  }
  if (least == time_slice) return std::nullopt;
  return least;
}

}  // namespace

Ceilings calibrate_host() {
  Backends backends;
  for (int thread = 0; thread < host_limits().threads; ++thread)
    backends.push_back(open_backend("host"));
  return {.levels = levels(backends),
          .f64 = peak(backends, Precision::f64),
          .f32 = peak(backends, Precision::f32),
          .barrier_seconds = if_it_succeeds("a barrier", [&] {
                               return fork_join_seconds(*backends.front());
                             }).value_or(std::nullopt)};
}

}  // namespace holdfast
