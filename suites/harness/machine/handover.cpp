// SPDX-License-Identifier: Apache-2.0
#include "harness/machine/handover.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>

#include "base/time.hpp"
#include "runtime/backend/backend.hpp"

namespace holdfast {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int tries = 5, round_trips = 400;
constexpr int over = -1;
// If both threads share a processor, a hand-over waits for the scheduler.
constexpr double longest_try = 2e-3;

void wait_for(const std::atomic<int>& ball, int value) {
  while (ball.load(std::memory_order_acquire) != value) __builtin_ia32_pause();
}

// Odd numbers travel there, even ones back.
double serve(std::atomic<int>& ball) {
  double least = std::numeric_limits<double>::infinity();
  int sent = 0;
  double spent = 0;
  for (int attempt = 0; attempt < tries && spent < longest_try; ++attempt) {
    const auto start = Clock::now();
    int done = 0;
    do {
      for (const int pause = done + 8; done < pause; ++done, sent += 2) {
        ball.store(sent + 1, std::memory_order_release);
        wait_for(ball, sent + 2);
      }
      spent = seconds_since(start);
    } while (done < round_trips && spent < longest_try);
    least = std::min(least, spent / done);
  }
  ball.store(over, std::memory_order_release);
  return least;
}

void give_back(std::atomic<int>& ball) {
  for (int last = 0;;) {
    const int seen = ball.load(std::memory_order_acquire);
    if (seen == over) return;
    if (seen == last + 1)
      ball.store(last += 2, std::memory_order_release);
    else
      __builtin_ia32_pause();
  }
}

}  // namespace

std::optional<double> handover_seconds() {
  if (host_limits().threads < 2) return {};
  alignas(64) std::atomic<int> ball = 0;
  double seconds = 0;
  int team = 1;
#pragma omp parallel num_threads(2)
  {
#pragma omp single
    team = omp_get_num_threads();
    if (team == 2) {
      if (omp_get_thread_num() == 0)
        seconds = serve(ball);
      else
        give_back(ball);
    }
  }
  if (team < 2) return {};
  return seconds;
}

}  // namespace holdfast
