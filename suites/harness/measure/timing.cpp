// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/timing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace holdfast {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Whether to begin another round.
class Countdown {
 public:
  explicit Countdown(const TimingBudget& budget) : budget_(budget) {}
  bool another() {
    const int done = rounds_++;
    return done < budget_.fewest_rounds ||
           (done < budget_.most_rounds && since(start_) < budget_.seconds);
  }

 private:
  TimingBudget budget_;
  Clock::time_point start_ = Clock::now();
  int rounds_ = 0;
};

}  // namespace

Timer timer(Backend& backend, Computation& computation) {
  if (backend.device)
    return [&backend, &computation](int steps) {
      return backend.device->time([&] {
        for (int i = 0; i < steps; ++i) computation.step();
      });
    };
  return [&computation](int steps) {
    const auto start = Clock::now();
    for (int i = 0; i < steps; ++i) computation.step();
    return since(start);
  };
}

int batch_for(const Timer& timer, double seconds) {
  constexpr int most = 1 << 16;
  int batch = 1;
  while (batch < most) {
    const double spent = timer(batch);
    if (spent >= seconds) return batch;
    // Aims a little beyond the goal, and distrusts a sample much shorter than it.
    const double factor = spent > 0 ? std::clamp(1.2 * seconds / spent, 2.0, 16.0) : 16.0;
    batch = std::min(most, static_cast<int>(std::ceil(batch * std::min(factor, 16.0))));
    if (factor < 16.0) return batch;
  }
  return batch;
}

Rounds time_in_turn(const Timer& a, int batch_a, const Timer& b, int batch_b,
                    const TimingBudget& budget) {
  Rounds rounds;
  for (Countdown countdown(budget); countdown.another();) {
    double seconds_a = a(batch_a);
    const double seconds_b = b(batch_b) + b(batch_b);
    seconds_a += a(batch_a);
    rounds.a.push_back(seconds_a / (2.0 * batch_a));
    rounds.b.push_back(seconds_b / (2.0 * batch_b));
    rounds.log_ratios.push_back(std::log(rounds.b.back() / rounds.a.back()));
  }
  return rounds;
}

std::vector<double> time_alone(const Timer& timer, int batch, const TimingBudget& budget) {
  std::vector<double> seconds;
  for (Countdown countdown(budget); countdown.another();)
    seconds.push_back((timer(batch) + timer(batch)) / (2.0 * batch));
  return seconds;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double trimmed_mean(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t least = values.size() < 3 ? 0 : 1;
  const auto cut = static_cast<std::ptrdiff_t>(std::max(values.size() / 5, least));
  return std::accumulate(values.begin() + cut, values.end() - cut, 0.0) /
         static_cast<double>(values.size() - 2 * static_cast<std::size_t>(cut));
}

}  // namespace holdfast
