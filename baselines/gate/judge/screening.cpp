// SPDX-License-Identifier: Apache-2.0
#include "gate/judge/screening.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "gate/base/numbers.hpp"
#include "gate/documents/measured.hpp"
#include "gate/documents/verdict_names.hpp"

namespace holdfast::gate {
namespace {

constexpr double mad_to_sd = 1.4826;     // for a normal distribution
constexpr double median_error = 1.2533;  // sqrt(pi / 2), against the mean's
constexpr double certain_errors = 4;     // standard errors that no chance explains
constexpr double likely_errors = 1.645;  // that nine draws of ten stay well within
constexpr std::size_t runs_for_student = 5;
constexpr std::size_t runs_for_trend = 8;

// Student's t at 0.995 for 4 to 19 degrees of freedom: one new run is beyond it by chance in 0.5 %
// of checks.
constexpr std::array<double, 16> student = {4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106,
                                            3.055, 3.012, 2.977, 2.947, 2.921, 2.898, 2.878, 2.861};

// The deviation between runs, and its degrees of freedom.
struct Variation {
  double deviation = 0;
  std::size_t freedom = 0;
};

// The variation of the logarithms of the stored medians, oldest first. A steady change from run to
// run is a trend, not noise: with enough runs the variation is that about the straight line through
// them. (Differences between neighbours show how runs of one day differ, but not days.)
Variation variation_between(const std::vector<double>& medians) {
  const double n = static_cast<double>(medians.size());
  const double last = n - 1;
  double mean = 0;
  for (const double median : medians) mean += std::log(median) / n;
  double squares = 0, along = 0;  // of the distances from the mean, and along their order
  for (std::size_t i = 0; i < medians.size(); ++i) {
    const double distance = std::log(medians[i]) - mean;
    squares += distance * distance;
    along += distance * (static_cast<double>(i) - last / 2);
  }
  if (medians.size() < runs_for_trend)
    return {.deviation = std::sqrt(squares / last), .freedom = medians.size() - 1};
  const double of_trend = along * along / (n * (n * n - 1) / 12);
  return {.deviation = std::sqrt(std::max(0., squares - of_trend) / (last - 1)),
          .freedom = medians.size() - 2};
}

// Half width of the prediction interval for one new run.
double prediction_half_width(const std::vector<double>& medians) {
  const Variation between = variation_between(medians);
  const std::size_t row = std::min(between.freedom - (runs_for_student - 1), student.size() - 1);
  return student[row] * between.deviation * std::sqrt(1 + 1 / static_cast<double>(medians.size()));
}

// How far the processes of one accepted run differ, as a log ratio.
double spread_within_runs(const Entry& entry) {
  return certain_errors * mad_to_sd * entry.mad_between.value_or(0) /
         std::abs(std::get<double>(entry.value));
}

// Of the logarithm of a rise: 1 where that is a worsening.
double sign_of_loss(const Standard& standard) {
  return standard.better == Better::higher ? -1 : 1;
}

// What pairs of processes say of a log worsening: their median, and its standard error.
struct PairedLoss {
  double worsening = 0;
  double error = 0;
};

// The standard error of this run's own median, on a log scale.
double standard_error(const Measured& measured, double value) {
  return median_error * mad_to_sd * measured.mad_between.value_or(0) / value /
         std::sqrt(static_cast<double>(measured.processes));
}

// If one side has fewer processes, because others were disturbed, or those of other rounds, medians
// replace pairs. Empty if a side has none, or one that is not positive.
std::optional<PairedLoss> loss_in_pairs(const Standard& standard, const Measured& measured,
                                        const Measured& base) {
  const std::size_t n = measured.values.size();
  if (n == 0 || base.values.empty()) return std::nullopt;
  for (const auto* side : {&measured, &base})
    if (*std::min_element(side->values.begin(), side->values.end()) <= 0) return std::nullopt;
  const double sign = sign_of_loss(standard);
  if (n != base.values.size() || measured.of_other_rounds || base.of_other_rounds) {
    const double now = median(measured.values), before = median(base.values);
    return PairedLoss{
        .worsening = sign * std::log(now / before),
        .error = std::hypot(standard_error(measured, now), standard_error(base, before))};
  }
  std::vector<double> logs;
  for (std::size_t i = 0; i < n; ++i)
    logs.push_back(sign * std::log(measured.values[i] / base.values[i]));
  const double middle = median(logs);
  return PairedLoss{.worsening = middle,
                    .error = median_error * mad_to_sd * median_absolute_deviation(logs) /
                             std::sqrt(static_cast<double>(n))};
}

// How much better than `value`, as a log ratio, the best quarter of the processes is, at least two
// of them. Slower code is slower in each process; a machine that slows some of them is not.
double lead_of_the_best(const Standard& standard, const Measured& measured, double value) {
  constexpr std::size_t fewest = 2, of = 4;
  const std::size_t some = std::max(fewest, (measured.values.size() + of - 1) / of);
  std::vector<double> gains;
  for (const double one : measured.values)
    if (one > 0) gains.push_back(-sign_of_loss(standard) * std::log(one / value));
  if (gains.size() < some) return 0;
  std::sort(gains.begin(), gains.end(), std::greater());
  return std::max(0., gains[some - 1]);
}

// Above 2^53 a double is not every whole number.
bool is_whole(double value) {
  constexpr double largest = 9007199254740992;
  return std::abs(value) < largest && std::trunc(value) == value;
}

std::string moved(const Value& from, const Value& to, const std::string& unit) {
  const auto [before, now] = told_apart(from, to, unit);
  if (std::holds_alternative<std::string>(to) || std::holds_alternative<std::string>(from))
    return text("changed from ", before, " to ", now);
  const char* verb = std::get<double>(to) > std::get<double>(from) ? "rose" : "fell";
  return text(verb, " from ", before, " to ", now);
}

// Decides whether a value beyond its limit is a regression: if it is twice as far beyond it, or if
// each run `again` is beyond it as well.
void judge_suspect(const Standard& standard, const Measured& measured, const Entry& entry,
                   std::span<const Measured> again, Judgement& judged) {
  const double now = std::get<double>(measured.value);
  // A run this noisy could not show less.
  const double own_error = certain_errors * standard_error(measured, now);
  const double best = lead_of_the_best(standard, measured, now);
  const bool far = judged.worsening > 2 * judged.log_limit;
  const bool repeated = !again.empty() && std::ranges::all_of(again, [&](const Measured& other) {
    return other.processes >= enough_processes && judge_screened(standard, other, entry).suspect();
  });
  judged.verdict = verdict::noisy;
  if (!(judged.worsening > own_error)) {
    judged.because += "; undecided, because the processes of this run differ as much";
  } else if (!far && !repeated) {
    judged.because += again.empty()
                          ? "; undecided until it is beyond twice the limit, or a second run of "
                            "this build (--again) shows it as well"
                          : "; undecided, because not every run of this build shows it";
  } else if (judged.worsening - best <= judged.log_limit) {
    judged.because +=
        "; undecided, because a quarter of the processes or more are as good as accepted";
  } else {
    judged.verdict = verdict::regression;
    if (!far)
      judged.because += text(", and ", plural(again.size(), "other run"), " of this build ",
                             again.size() == 1 ? "shows" : "show", " it as well");
  }
}

}  // namespace

Judgement judge_exact(const Standard& standard, const Measured& measured, const Value& baseline) {
  Judgement judged;
  const auto* now = std::get_if<double>(&measured.value);
  const auto* before = std::get_if<double>(&baseline);
  if (!now || !before) {
    if (measured.value == baseline) return judged;
    judged.verdict = standard.better == Better::same ? verdict::drift : verdict::regression;
    judged.because = moved(baseline, measured.value, standard.unit);
    return judged;
  }
  // 1e-12 absorbs the rounding of ratios of whole numbers, but no difference between whole numbers.
  const double rounding = is_whole(*now) && is_whole(*before) ? 0 : 1e-12;
  const double slack = std::abs(*before) * std::max(standard.tolerance, rounding);
  const double rise = *now - *before;
  if (*before != 0) judged.change = rise / *before;
  judged.limit = standard.better == Better::higher ? -standard.tolerance : standard.tolerance;
  if (std::abs(rise) <= slack) return judged;
  const bool worse = standard.two_sided || standard.better == Better::same ||
                     (standard.better == Better::lower ? rise > 0 : rise < 0);
  const bool never_a_gain =
      std::count(standard.fall_is_change.begin(), standard.fall_is_change.end(), every_fall) > 0;
  judged.verdict = worse          ? verdict::regression
                   : never_a_gain ? verdict::changed
                                  : verdict::improved;
  judged.because = moved(baseline, measured.value, standard.unit);
  if (judged.change) judged.because += text(" (", percent(*judged.change), ")");
  if (worse && standard.two_sided)
    judged.because += ", and a yardstick must not change in either direction";
  else if (worse)
    judged.because += text(", the limit is ", percent(*judged.limit));
  else if (never_a_gain)
    judged.because += ", and that can be a loss: say what it brings";
  return judged;
}

double screening_limit(double tolerance, const Entry& entry) {
  const double within = spread_within_runs(entry);
  if (entry.medians.size() < runs_for_student) return std::max(std::log1p(tolerance), within);
  const double between = prediction_half_width(entry.medians);
  // Runs of one day are more alike than the next day's will be.
  return std::max({std::log1p(tolerance), between, entry.bootstrap ? within : 0});
}

Judgement judge_screened(const Standard& standard, const Measured& measured, const Entry& entry,
                         std::span<const Measured> again) {
  Judgement judged;
  const auto* now = std::get_if<double>(&measured.value);
  const auto* before = std::get_if<double>(&entry.value);
  if (!now || !before || *now <= 0 || *before <= 0) {
    judged.verdict = verdict::noisy;
    judged.because =
        text("has no positive value to compare: ", readable(entry.value, standard.unit), " and ",
             readable(measured.value, standard.unit));
    return judged;
  }
  const double sign = sign_of_loss(standard);
  judged.worsening = sign * std::log(*now / *before);
  judged.log_limit = screening_limit(standard.tolerance, entry);
  judged.change = *now / *before - 1;
  judged.limit = std::expm1(sign * judged.log_limit);
  const std::string numbers =
      text(moved(entry.value, measured.value, standard.unit), " (", percent(*judged.change),
           "), the limit is ", percent(*judged.limit));
  if (measured.processes < enough_processes) {
    judged.verdict = verdict::noisy;
    judged.because = text(numbers, "; measured in ", measured.processes, " of the ",
                          enough_processes, " processes that a decision needs");
  } else if (standard.gate == Gate::block && judged.log_limit > widest_limit) {
    judged.verdict = verdict::noisy;
    judged.because = text(numbers, ", which shows nothing: accept runs of a quieter machine");
  } else if (judged.suspect()) {
    judged.because = numbers;
    judge_suspect(standard, measured, entry, again, judged);
  } else if (judged.worsening < -judged.log_limit) {
    judged.verdict = verdict::improved;
    judged.because = numbers;
  } else if (const auto because = drift(standard, entry, *now)) {
    judged.verdict = verdict::drift;
    judged.because = *because;
  }
  return judged;
}

double drift_limit(const Entry& entry) {
  return std::max(std::log1p(largest_drift), spread_within_runs(entry));
}

std::optional<std::string> drift(const Standard& standard, const Entry& entry, double value) {
  if (!entry.anchor || *entry.anchor <= 0 || value <= 0) return std::nullopt;
  const double sign = sign_of_loss(standard);
  if (sign * std::log(value / *entry.anchor) <= drift_limit(entry)) return std::nullopt;
  return text("has drifted from its first accepted value, ", readable(*entry.anchor, standard.unit),
              ", to ", readable(value, standard.unit));
}

Judgement judge_beside(const Standard& standard, const Measured& measured, const Measured& base) {
  Judgement judged;
  const auto* now = std::get_if<double>(&measured.value);
  const auto* before = std::get_if<double>(&base.value);
  const auto paired = loss_in_pairs(standard, measured, base);
  if (!now || !before || *now <= 0 || *before <= 0 || !paired) {
    judged.verdict = verdict::noisy;
    judged.because = text("has no pairs to compare: ", readable(base.value, standard.unit),
                          " of the base and ", readable(measured.value, standard.unit));
    return judged;
  }
  const double sign = sign_of_loss(standard);
  judged.worsening = paired->worsening;
  judged.log_limit = std::log1p(standard.tolerance);
  judged.worth_comparing = paired->worsening > judged.log_limit / 2;
  judged.change = std::expm1(sign * paired->worsening);
  judged.limit = std::expm1(sign * judged.log_limit);
  const std::string numbers =
      text("is ", readable(measured.value, standard.unit), ", and ",
           readable(base.value, standard.unit), " in the base beside it (", percent(*judged.change),
           " in pairs), the limit is ", percent(*judged.limit));
  const double sure = certain_errors * paired->error;
  if (const std::size_t fewer = std::min(measured.processes, base.processes);
      fewer < enough_processes) {
    judged.verdict = verdict::noisy;
    judged.because = text(numbers, "; measured in ", fewer, " of the ", enough_processes,
                          " processes that a decision needs");
  } else if (judged.suspect()) {
    const bool certain = judged.worsening > 2 * judged.log_limit && judged.worsening > sure;
    judged.verdict = certain ? verdict::regression : verdict::noisy;
    judged.because = numbers;
    if (!certain)
      judged.because += judged.worsening > sure ? "; undecided until it is beyond twice the limit"
                                                : "; undecided, because the pairs differ as much";
  } else if (judged.worsening < -judged.log_limit && -judged.worsening > sure) {
    judged.verdict = verdict::improved;
    judged.because = numbers;
  } else {
    judged.because = numbers;
  }
  return judged;
}

double resolution_beside(const Standard& standard, const Measured& measured, const Measured& base,
                         bool confirmed) {
  const double limit = std::log1p(standard.tolerance);
  const auto paired = loss_in_pairs(standard, measured, base);
  const double error = paired ? paired->error : 0;
  if (confirmed)
    return std::max(limit / 2 + likely_errors * error, std::log1p(lock_step_resolution));
  return std::max(2 * limit, certain_errors * error) + likely_errors * error;
}

double resolution_screened(const Standard& standard, const Measured& measured, const Entry& entry,
                           bool confirmed) {
  const auto* now = std::get_if<double>(&measured.value);
  const double error = now && *now > 0 ? standard_error(measured, *now) : 0;
  const double limit = screening_limit(standard.tolerance, entry);
  if (confirmed) return std::max(limit + likely_errors * error, std::log1p(lock_step_resolution));
  const double lead = now && *now > 0 ? lead_of_the_best(standard, measured, *now) : 0;
  return std::max({2 * limit, certain_errors * error, limit + lead}) + likely_errors * error;
}

Judgement judge(const Standard& standard, const Measured& measured, const Entry& entry,
                std::span<const Measured> again) {
  if (standard.timed()) return judge_screened(standard, measured, entry, again);
  return judge_exact(standard, measured, entry.value);
}

bool is_sampled(const Standard& standard, const Measured& measured) {
  return standard.timed() || !measured.values.empty() || measured.processes == 0;
}

BoundVotes vote(const Standard& standard, const Bound& bound, const Measured& measured) {
  const auto is_beyond = [&](double value) {
    return (bound.min && value < *bound.min) || (bound.max && value > *bound.max);
  };
  const double value = std::get<double>(measured.value);
  std::vector<double> values = measured.values.empty() ? measured.readings : measured.values;
  if (values.empty()) values = {value};
  BoundVotes votes{.all = values.size()};
  votes.beyond = static_cast<std::size_t>(std::ranges::count_if(values, is_beyond));
  votes.enough = !is_sampled(standard, measured) || votes.all >= enough_processes;
  // Of readings the median decides, and a single one beyond the bound leaves a doubt.
  votes.certain =
      votes.enough && (votes.beyond == votes.all || (measured.values.empty() && is_beyond(value)));
  return votes;
}

std::optional<std::string> violation(const Bound& bound, double value, const std::string& unit) {
  const auto beyond = [&](const char* where, double limit) {
    const auto [now, most] = told_apart(value, limit, unit);
    return text("is ", now, ", ", where, " the bound of ", most, " (", bound.source, ")");
  };
  if (bound.min && value < *bound.min) return beyond("below", *bound.min);
  if (bound.max && value > *bound.max) return beyond("above", *bound.max);
  return std::nullopt;
}

}  // namespace holdfast::gate
