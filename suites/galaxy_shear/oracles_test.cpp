// SPDX-License-Identifier: Apache-2.0
#include "galaxy_shear/oracles.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "galaxy_shear/row.hpp"

namespace holdfast::galaxy_shear {
namespace {

using Change = void (*)(Options&);
constexpr Change changes[] = {
    [](Options&) {},
    [](Options& o) { o.fft = 32; },
    [](Options& o) { o.image = 8; },
    [](Options& o) { o.psf = Psf::moffat; },
    [](Options& o) { o.psf = Psf::moffat, o.beta = 3.1; },
    [](Options& o) { o.latents = 8; },
    [](Options& o) { o.learning_rate = 0.01; },
    [](Options& o) { o.batch = 2; },
};

TEST(GalaxyOracle, WhateverAFitDependsOnHasAnAnswerOfItsOwn) {
  std::set<std::vector<double>> answers;
  for (const Change& change : changes) {
    Row row = {.family = &families::svi_step, .options = {.fft = 16, .image = 7}};
    change(row.options);
    EXPECT_TRUE(answers.insert(oracle_of(row).expected(1)).second) << (&change - changes);
  }
}

TEST(GalaxyOracle, HoldsALatentOfAFitToTheReferencesBesideLargeLosses) {
  const Row row = {.family = &families::map, .options = {.steps = 200}};
  const auto backend = open_backend("host");
  const auto fit = make(row, *backend, Variant::optimized);
  fit->start_again(1);
  fit->step();
  const std::vector<double> right = fit->result();
  const Oracle known = oracle_of(row);
  ASSERT_TRUE(known.between);
  EXPECT_EQ(known.between(right, right), 0);
  for (const std::size_t latent : {0, 1, 2, 3}) {
    std::vector<double> spoilt = right;
    spoilt.at(latent) += 1e-6;
    EXPECT_GT(known.between(spoilt, right), known.limit) << latent;
  }
  std::vector<double> spoilt = right;
  spoilt.at(4) *= 1 + 1e-6;  // the first loss, 2.5e7
  EXPECT_GT(known.between(spoilt, right), known.limit);
  spoilt = right;
  spoilt.at(0) = spoilt.at(1) = 0;  // both shears
  spoilt.at(2) += 0.05;             // x
  EXPECT_GT(known.between(spoilt, right), known.limit);
}

}  // namespace
}  // namespace holdfast::galaxy_shear
