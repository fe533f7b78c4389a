// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/timing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/time.hpp"

namespace holdfast {
namespace {

using Clock = std::chrono::steady_clock;

// One round: times of both sides, the log of their ratio, the time spent waiting, and whether a
// core was shared when it began or ended.
struct Round {
  double a = 0, b = 0;  // seconds per step
  double log = 0;
  double seconds = 0, waited = 0;
  bool shared = false;

  bool disturbed() const { return waited > disturbed_share * seconds; }
  bool undisturbed() const { return !disturbed() && !shared; }
};

// The samples of one side in one round.
struct Sampled {
  const Timer& timer;
  int batch;
  double seconds = 0;
  int count = 0;

  void take() {
    seconds += timer(batch);
    ++count;
  }
  double mean() const { return seconds / (count * batch); }
};

// Takes rounds until the budget is satisfied.
class Sampling {
 public:
  Sampling(const TimingBudget& budget, const Others& others) : budget_(budget), others_(others) {}

  // `round` fills in what it timed.
  template <class Take>
  std::vector<Round> run(const Take& round) {
    bool shared_before = shared();
    while (another()) {
      const double before = waited();
      const auto start = Clock::now();
      Round next = round();
      next.seconds = seconds_since(start);
      next.waited = waited() - before;
      const bool shared_after = shared();
      next.shared = std::exchange(shared_before, shared_after) || shared_after;
      quiet_ += !next.disturbed();
      if (next.undisturbed() || (others_.lasts && !next.disturbed())) {
        ++undisturbed_;
        sum_ += next.log;
        squares_ += next.log * next.log;
      }
      rounds_.push_back(next);
      taken_ += next.seconds;
    }
    const int few = fewest(), enough = fewest_to_stand_for(static_cast<int>(rounds_.size()));
    leave_out([](const Round& one) { return one.disturbed(); }, enough);
    leave_out([](const Round& one) { return one.shared; }, few);
    return std::move(rounds_);
  }

 private:
  // How many of `rounds` must be quiet to represent a quiet machine. Fewer may be special moments:
  // a CPU that others keep awake, for example, wakes threads sooner than an idle one.
  int fewest_to_stand_for(int rounds) const {
    return std::max(fewest(), rounds / budget_.rounds_per_undisturbed);
  }
  int fewest() const {
    const bool are_long = taken_ > budget_.long_round_seconds * static_cast<double>(rounds_.size());
    return are_long ? budget_.fewest_long_rounds : budget_.fewest_rounds;
  }
  bool another() const {
    const int done = static_cast<int>(rounds_.size());
    if (done < fewest()) return true;
    const double spent = seconds_since(start_);
    // Half of the rounds, but a few suffice.
    const int wanted =
        std::max(std::min(done / 2, budget_.fewest_undisturbed), fewest_to_stand_for(done));
    if (quiet_ < std::min(wanted, done))
      return done < budget_.patience * budget_.most_rounds &&
             (done < 2 * fewest() || spent < budget_.patience * budget_.seconds);
    if (undisturbed_ < fewest() && done > budget_.short_rounds)
      return spent < budget_.patience_with_bursts * budget_.seconds;
    return done < budget_.most_rounds && spent < budget_.seconds &&
           !(spent > budget_.settled_seconds && undisturbed_ >= fewest() && settled());
  }
  // Whether the mean log ratio is known accurately enough.
  bool settled() const {
    const double mean = sum_ / undisturbed_;
    const double variance = std::max(squares_ / undisturbed_ - mean * mean, 0.0);
    return std::sqrt(variance / undisturbed_) < budget_.settled_error;
  }
  double waited() const { return others_.waited ? others_.waited() : 0; }
  bool shared() const { return others_.share && others_.share(); }
  // Leaves rounds out if enough others remain.
  template <class Which>
  void leave_out(const Which& which, int enough) {
    const auto bad = std::ranges::count_if(rounds_, which);
    if (std::ssize(rounds_) - bad >= enough) std::erase_if(rounds_, which);
  }

  const TimingBudget& budget_;
  const Others& others_;
  Clock::time_point start_ = Clock::now();
  std::vector<Round> rounds_ = {};
  int quiet_ = 0, undisturbed_ = 0;  // undisturbed: quiet, on no shared core unless sharing lasts
  double sum_ = 0, squares_ = 0;     // of the undisturbed rounds' logs
  double taken_ = 0;                 // seconds of all rounds
};

// The fraction of the time of all rounds.
template <class Seconds>
double share(const std::vector<Round>& rounds, const Seconds& seconds_of) {
  double part = 0, whole = 0;
  for (const Round& round : rounds) part += seconds_of(round), whole += round.seconds;
  return whole > 0 ? part / whole : 0;
}

double waited_share(const std::vector<Round>& rounds) {
  return share(rounds, [](const Round& one) { return one.waited; });
}

double shared_share(const std::vector<Round>& rounds) {
  return share(rounds, [](const Round& one) { return one.shared ? one.seconds : 0; });
}

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
    return seconds_since(start);
  };
}

int batch_for(const Timer& timer, double seconds) {
  constexpr int most = 1 << 16;
  int batch = 1;
  while (batch < most) {
    const double spent = timer(batch);
    if (spent >= seconds) return batch;
    // Aims slightly beyond the goal, and distrusts a sample much shorter than it.
    const double factor = spent > 0 ? std::clamp(1.2 * seconds / spent, 2.0, 16.0) : 16.0;
    batch = std::min(most, static_cast<int>(std::ceil(batch * factor)));
    if (factor < 16.0) return batch;
  }
  return batch;
}

Rounds time_in_turn(const Timer& a, int batch_a, const Timer& b, int batch_b,
                    const TimingBudget& budget, const Others& others) {
  bool a_first = true;
  const auto taken = Sampling(budget, others).run([&] {
    Sampled of_a{a, batch_a}, of_b{b, batch_b};
    Sampled &first = a_first ? of_a : of_b, &second = a_first ? of_b : of_a;
    const auto start = Clock::now();
    first.take();
    second.take();
    if (seconds_since(start) < 2 * budget.long_sample_seconds) {
      second.take();
      first.take();
    } else {
      a_first = !a_first;
    }
    Round round{.a = of_a.mean(), .b = of_b.mean()};
    round.log = std::log(round.b / round.a);
    return round;
  });
  Rounds rounds{.waited = waited_share(taken), .shared = shared_share(taken)};
  for (const Round& round : taken) {
    rounds.a.push_back(round.a);
    rounds.b.push_back(round.b);
    rounds.log_ratios.push_back(round.log);
  }
  return rounds;
}

Alone time_alone(const Timer& timer, int batch, const TimingBudget& budget, const Others& others) {
  const auto taken = Sampling(budget, others).run([&] {
    Sampled sampled{timer, batch};
    const auto start = Clock::now();
    sampled.take();
    if (seconds_since(start) < budget.long_sample_seconds) sampled.take();
    return Round{.a = sampled.mean(), .log = std::log(sampled.mean())};
  });
  Alone alone{.waited = waited_share(taken), .shared = shared_share(taken)};
  for (const Round& round : taken) alone.seconds.push_back(round.a);
  return alone;
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
