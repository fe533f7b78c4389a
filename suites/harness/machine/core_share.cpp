// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/core_share.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "base/time.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast {
namespace {

using Clock = std::chrono::steady_clock;

// Unshared, the quotient is stable to a percent on some processors and moves in steps of a tenth on
// others; any busy neighbour adds a third.
constexpr double crowded = 1.25;
// One in fifty may be too low because it was interrupted while multiplying.
constexpr std::size_t outliers = 50;
constexpr std::size_t most_seen = 5000;
constexpr auto look_around = std::chrono::milliseconds(20);

template <class Work>
double seconds_of(const Work& work) {
  const auto start = Clock::now();
  work();
  return seconds_since(start);
}

// More independent additions than a core can start at once.
void add() {
  unsigned long a = 0, b = 1, c = 2, d = 3, e = 4, f = 5, g = 6, h = 7;
  for (int i = 0; i < 6000; ++i)
    asm volatile(
        "add $1, %0\n\tadd $1, %1\n\tadd $1, %2\n\tadd $1, %3\n\t"
        "add $1, %4\n\tadd $1, %5\n\tadd $1, %6\n\tadd $1, %7"
        : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h)
        :
        : "cc");
}

void multiply() {
  unsigned long a = 3;
  for (int i = 0; i < 1500; ++i)
    asm volatile("imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0" : "+r"(a) : : "cc");
}

// Measures each twice, alternately: an interruption of one hardly affects the other.
double crowding_here() {
  double additions = std::numeric_limits<double>::infinity(), multiplications = additions;
  for (int i = 0; i < 2; ++i) {
    additions = std::min(additions, seconds_of(add));
    multiplications = std::min(multiplications, seconds_of(multiply));
  }
  return additions / multiplications;
}

}  // namespace

std::vector<double> crowding() {
  std::vector<double> found(static_cast<std::size_t>(host_limits().threads), 0);
#pragma omp parallel num_threads(static_cast <int>(found.size()))
  found[static_cast<std::size_t>(omp_get_thread_num())] = crowding_here();
  std::erase(found, 0);  // of threads that did not start
  return found;
}

bool CoreShare::shared() {
  const std::vector<double> found = probe_();
  for (const double one : found)
    if (seen_.size() < most_seen) seen_.insert(std::ranges::upper_bound(seen_, one), one);
  return !found.empty() && std::ranges::max(found) > crowded * seen_[seen_.size() / outliers];
}

CoreShare& core_share() {
  static CoreShare cores = [] {
    CoreShare looking;
    for (const auto start = Clock::now(); Clock::now() - start < look_around;)
      (void)looking.shared();
    return looking;
  }();
  return cores;
}

}  // namespace holdfast
