// SPDX-License-Identifier: Apache-2.0
// For tests: streamed fits and what they tell, and the published counts of their faults.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "xpcs_fit/streams.hpp"
#include "xpcs_fit/testing/support.hpp"

namespace holdfast::xpcs_fit {

struct StreamOutcome {
  std::vector<double> fit = {};
  std::map<std::string, double> told = {};
};
inline StreamOutcome stream_outcome(Backend& backend, const Problem& problem,
                                    const StreamOptions& options) {
  const auto computation = make_stream(backend, problem, options);
  StreamOutcome all = {.fit = result_of(*computation)};
  for (const NamedReading& one : computation->readings()) all.told[one.name] = one.value;
  return all;
}

// The published set: 18 batches of 512 points.
inline Problem published_set() {
  return problem({4, 48}, {}, 0.01);
}

// With the published counts, failed batches are read again and change no bit; one that always fails
// is left out. with_faults(FaultPlan): the streamed fit of the published set.
template <class WithFaults>
void expect_published_faults(const WithFaults& with_faults) {
  const StreamOutcome calm = with_faults(FaultPlan{});
  EXPECT_EQ(calm.fit[1], 6);
  EXPECT_NEAR(calm.fit[0] / 0.4692969007797889, 1, 1e-9);
  EXPECT_EQ(calm.told.at("attempts"), 108);
  struct Counted {
    double probability, attempts, faults, recovered;
  };
  for (const Counted& row : {Counted{0.05, 113, 5, 5}, {0.3, 147, 39, 28}}) {
    const StreamOutcome found = with_faults(FaultPlan{.probability = row.probability});
    EXPECT_EQ(found.told.at("n_batches"), 18);
    EXPECT_EQ(found.told.at("batches"), 108);
    EXPECT_EQ(found.told.at("attempts"), row.attempts);
    EXPECT_EQ(found.told.at("faults"), row.faults);
    EXPECT_EQ(found.told.at("recovered"), row.recovered);
    EXPECT_EQ(found.told.at("failed"), 0);
    EXPECT_EQ(found.fit, calm.fit);
  }
  const StreamOutcome less = with_faults(FaultPlan{.permanent = {3}});
  EXPECT_EQ(less.told.at("batches"), 103);
  EXPECT_EQ(less.told.at("attempts"), 105);
  EXPECT_EQ(less.told.at("faults"), 3);
  EXPECT_EQ(less.told.at("failed"), 1);
  EXPECT_EQ(less.told.at("success_rate"), 1 - 1. / 18);
  EXPECT_EQ(less.told.at("points"), 8704);
  double shift = 0;
  for (std::size_t k = 0; k < 9; ++k)
    shift = std::max(shift, std::abs(less.fit[3 + k] - calm.fit[3 + k]) / calm.fit[12 + k]);
  EXPECT_NEAR(shift, 0.26, 0.005);
}

}  // namespace holdfast::xpcs_fit
