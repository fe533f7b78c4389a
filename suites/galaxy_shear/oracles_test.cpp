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

}  // namespace
}  // namespace holdfast::galaxy_shear
