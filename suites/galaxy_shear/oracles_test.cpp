// SPDX-License-Identifier: Apache-2.0
#include "galaxy_shear/oracles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "galaxy_shear/data/data.hpp"
#include "galaxy_shear/data/golden.hpp"
#include "galaxy_shear/oracle/oracle.hpp"
#include "galaxy_shear/row.hpp"
#include "testing/results.hpp"

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

struct Held {
  const Family<Row>* family;
  double f64, f32;
};

TEST(GalaxyOracle, HoldsEachUnitToWhatItsArithmeticLeaves) {
  for (const auto& [family, f64, f32] : {Held{&families::render, 1e-12, 2e-6},
                                         {&families::render_grad, 1e-10, 2e-4},
                                         {&families::forward, 1e-10, 2e-5},
                                         {&families::svi_step, 1e-9, 4e-4},
                                         {&families::scene_step, 1e-9, 4e-4},
                                         {&families::map, 1e-8, 2e-3}}) {
    Row row = {.family = family};
    EXPECT_EQ(oracle_of(row).limit, f64);
    row.options.precision = Precision::f32;
    EXPECT_EQ(oracle_of(row).limit, f32);
  }
  for (const auto& [family, limit] :
       {std::pair{&families::vi_step, 1e-8}, {&families::hmc_sample, 1e-5}})
    EXPECT_EQ(family->oracle(Row{.family = family}).limit, limit);
}

// A variant whose numbers are all too large by a factor.
class Larger final : public Computation {
 public:
  Larger(std::unique_ptr<Computation> inner, std::size_t first, double share)
      : inner_(std::move(inner)), first_(first), share_(share) {}
  void step() override { inner_->step(); }
  std::vector<double> result() override {
    std::vector<double> all = inner_->result();
    all.at(first_) *= 1 + share_;
    return all;
  }

 private:
  std::unique_ptr<Computation> inner_;
  std::size_t first_;
  double share_;
};

// In a step's result the latents, their gradients and the squares of these come before the loss.
TEST(GalaxyOracle, FindsWhatIsWrongOfAPublishedSmallScene) {
  const auto backend = open_backend("host");
  const auto error = [&](const Row& row, std::size_t place, double share) {
    return small_error(row, [&](Problem problem) {
      EXPECT_EQ(problem.scene.psf.kind, row.options.psf);
      return std::make_unique<Larger>(make(*backend, Variant::optimized, std::move(problem)), place,
                                      share);
    });
  };
  for (const Psf psf : {Psf::gaussian, Psf::moffat}) {
    const Row step = {.family = &families::svi_step, .options = {.psf = psf}};
    const golden::Golden t = psf == Psf::gaussian ? golden::t_gaussian() : golden::t_moffat();
    const std::size_t latents = t.gradient.size();
    EXPECT_LT(error(step, 0, 0), 1e-9);
    for (std::size_t k = 0; k < latents; ++k)
      EXPECT_GT(error(step, latents + k, 0.5), 1e-6) << k;    // a gradient
    EXPECT_NEAR(error(step, 3 * latents, 1e-3), 1e-3, 1e-9);  // the loss
    const Row image = {.family = &families::render, .options = {.psf = psf}};
    EXPECT_LT(error(image, 0, 0), 1e-12);
    const auto& [i, j, value] = t.pixels[0];
    EXPECT_GT(error(image, static_cast<std::size_t>(i * t.scene.image + j), 0.5), 1e-6);
  }
  const Row scene = {.family = &families::scene_step, .options = {.objects = 3}};
  EXPECT_LT(error(scene, 0, 0), 1e-9);
  EXPECT_GT(error(scene, golden::scene().gradient.size(), 0.5), 1e-6);
}

TEST(GalaxyOracle, RowsOfOtherLengthsAreInfinitelyFarApart) {
  const std::vector<double> one = {1}, both = {1, 2};
  EXPECT_EQ(relative(one, both), INFINITY);
  EXPECT_EQ(relative(both, one), INFINITY);
  EXPECT_EQ(relative(both, both), 0);
}

TEST(GalaxyOracle, OfDrawnLatentsKnowsThoseDrawn) {
  Row row = {.family = &families::forward, .options = {.fft = 16, .image = 7}};
  const std::vector<double> at_start = oracle_of(row).expected(1);
  row.options.sample = true;
  const std::vector<double> drawn = oracle_of(row).expected(1);
  EXPECT_EQ(at_start.size(), 1U);
  EXPECT_EQ(drawn.size(), 4 + 1U);
  EXPECT_NE(drawn.back(), at_start.back());
}

TEST(GalaxyOracle, AFitOfAnotherNumberOfStepsIsWrongHoweverCloseItEnds) {
  const Row row = {.family = &families::map, .options = {.fft = 16, .image = 7, .steps = 3}};
  const auto backend = open_backend("host");
  const std::vector<double> right = result_of(*make(row, *backend, Variant::optimized));
  const Oracle known = oracle_of(row);
  EXPECT_LE(known.distance(right, {}), known.limit);
  std::vector<double> shorter = right;
  shorter.erase(shorter.begin() + 4);
  EXPECT_EQ(known.distance(shorter, {}), INFINITY);
  for (const std::size_t loss : {4, 6}) {
    std::vector<double> spoilt = right;
    spoilt.at(loss) *= 1.001;
    EXPECT_GT(known.distance(spoilt, {}), known.limit) << loss;
  }
}

// Two galaxies of 4 latents, then 200 losses of each. A learning rate of 1e-5 moves none to its
// truth.
TEST(GalaxyOracle, OfTwoFitsThatDoNotRestBothAreComparedAlongTheirPaths) {
  for (const double rate : {0., 1e-5}) {
    const Row row = {
        .family = &families::map,
        .options = {.fft = 16, .image = 7, .batch = 2, .steps = 200, .learning_rate = rate}};
    const auto backend = open_backend("host");
    const auto fit = make(row, *backend, Variant::optimized);
    const Oracle known = oracle_of(row);
    for (const int input : {0, 1}) {
      fit->start_again(input);
      const std::vector<double> right = result_of(*fit);
      const auto distance = [&](const std::vector<double>& result) {
        return input == 0 ? known.distance(result, {}) : known.other(result, 1);
      };
      EXPECT_LE(distance(right), known.limit) << rate << ' ' << input;
      for (const std::size_t place : {0, 7, 8 + 20, 8 + 200 + 20}) {
        std::vector<double> spoilt = right;
        spoilt.at(place) *= 1.001;
        EXPECT_GT(distance(spoilt), known.limit) << rate << ' ' << input << ' ' << place;
      }
    }
  }
}

// The direct sums of a thousand paths would take minutes.
TEST(GalaxyOracle, OfALargeBatchThatDoesNotRestFourAreComparedAlongTheirPaths) {
  constexpr int batch = 64, steps = 3;
  const Row row = {.family = &families::map,
                   .options = {.fft = 16, .image = 7, .batch = batch, .steps = steps}};
  const auto backend = open_backend("host");
  const auto fit = make(row, *backend, Variant::optimized);
  const Oracle known = oracle_of(row);
  for (const int input : {0, 1}) {
    fit->start_again(input);
    const std::vector<double> right = result_of(*fit);
    const auto is_right = [&](int b, int step, double loss) {
      std::vector<double> spoilt = right;
      spoilt.at(std::size_t(batch) * 4 + std::size_t(b) * steps + step) = loss;
      return (input == 0 ? known.distance(spoilt, {}) : known.other(spoilt, 1)) <= known.limit;
    };
    std::vector<int> followed;
    for (int b = 0; b < batch; ++b) {
      const double first = right.at(std::size_t(batch) * 4 + std::size_t(b) * steps);
      EXPECT_TRUE(is_right(b, 0, first));
      EXPECT_FALSE(is_right(b, 1, NAN));
      EXPECT_FALSE(is_right(b, steps - 1, 1.1 * first)) << b;
      if (!is_right(b, 1, 0.9 * first)) followed.push_back(b);
    }
    EXPECT_EQ(followed, (std::vector{0, 21, 42, 63})) << input;
  }
}

TEST(GalaxyOracle, AFitRestsAtTheBenchmarksSizesAndLearningRate) {
  const auto rests_with = [](Options options) {
    return rests(Row{.family = &families::map, .options = options});
  };
  EXPECT_TRUE(rests_with({}));
  EXPECT_TRUE(rests_with({.batch = 64, .psf = Psf::moffat, .steps = 300}));
  for (const Options& options : {Options{.fft = 64}, Options{.image = 33}, Options{.latents = 8},
                                 Options{.steps = 199}, Options{.learning_rate = 1e-5}})
    EXPECT_FALSE(rests_with(options));
}

TEST(GalaxyCase, IsVerifiedAsCloselyAsItCanBe) {
  const auto sites = [](const Family<Row>& family, Variant variant) {
    return steps_of(Row{.family = &family}).rewritten(*open_backend("host"), variant);
  };
  using Sites = std::vector<std::string>;
  for (const Variant variant : {Variant::optimized, Variant::reference})
    EXPECT_EQ(sites(families::render_grad, variant), (Sites{"result: sums", "result: gradients"}));
  EXPECT_EQ(steps_of(Row{.family = &families::svi_step}).warm_up, 3);
  for (const Family<Row>* family :
       {&families::render, &families::render_grad, &families::forward, &families::map})
    EXPECT_EQ(steps_of(Row{.family = family}).inputs, 2);
}

TEST(GalaxyOracle, HoldsALatentOfAFitToTheReferencesBesideLargeLosses) {
  const Row row = {.family = &families::map, .options = {.steps = 200}};
  const auto backend = open_backend("host");
  const auto fit = make(row, *backend, Variant::optimized);
  fit->start_again(1);
  const std::vector<double> right = result_of(*fit);
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

// Four latents per galaxy, then 200 losses per galaxy.
TEST(GalaxyOracle, EveryGalaxyOfABatchHasLossesThatEndWhereItsNoiseLeavesThem) {
  const Row row = {.family = &families::map, .options = {.batch = 3}};
  const auto backend = open_backend("host");
  const auto fit = make(row, *backend, Variant::optimized);
  const Oracle known = oracle_of(row);
  for (const int input : {0, 1}) {
    fit->start_again(input);
    const std::vector<double> right = result_of(*fit);
    const auto is_right = [&](const std::vector<double>& result) {
      return (input == 0 ? known.distance(result, {}) : known.other(result, 1)) <= known.limit;
    };
    EXPECT_TRUE(is_right(right)) << input;
    for (const std::size_t b : {0, 1, 2}) {
      const auto with = [&](std::size_t step, double loss) {
        std::vector<double> spoilt = right;
        spoilt.at(3 * 4 + b * 200 + step) = loss;
        return spoilt;
      };
      const double last = right.at(3 * 4 + b * 200 + 199);
      for (const double off : {-20., 20.}) EXPECT_FALSE(is_right(with(199, last + off))) << b;
      for (const double loss : {NAN, INFINITY}) EXPECT_FALSE(is_right(with(100, loss))) << b;
    }
  }
}

// Two galaxies, with their states behind the losses: shears to 1e-4, positions to 2e-4 of a pixel.
TEST(GalaxyOracle, AFitAtRestOfAnotherInputEndsAtItsTruths) {
  const Row row = {.family = &families::map, .options = {.batch = 2}};
  const Scene scene = scene_of(row.options);
  const Oracle known = oracle_of(row);
  const std::vector<double> data = data_of(scene, Noise::philox, 2, 2);
  const auto is_right = [&](int galaxy, int k, double off, double status = 0) {
    std::vector<double> result, losses;
    for (int b = 0; b < 2; ++b) {
      Parameters z = truth_of(scene, 2 + b);
      if (b == galaxy) z[scene.latents[k]] += off;
      const std::vector<double> u = latents_of(scene, z);
      result.insert(result.end(), u.begin(), u.end());
      const auto own = data.begin() + b * 48 * 48;
      const std::vector<double> at_truth = latents_of(scene, truth_of(scene, 2 + b));
      losses.resize(losses.size() + 200, oracle::loss(scene, {own, own + 48 * 48}, at_truth));
    }
    result.insert(result.end(), losses.begin(), losses.end());
    result.insert(result.end(), {0, status});
    return known.other(result, 1) <= known.limit;
  };
  EXPECT_TRUE(is_right(0, 0, 0));
  EXPECT_FALSE(is_right(0, 0, 0, 3));
  for (const int galaxy : {0, 1})
    for (const int k : {0, 1, 2, 3})
      for (const double share : {-1.02, -0.98, 0.98, 1.02})
        EXPECT_EQ(is_right(galaxy, k, share * (k < 2 ? 1e-4 : 2e-4)), std::abs(share) < 1)
            << galaxy << ' ' << k << ' ' << share;
}

TEST(GalaxyOracle, MeasuresAFitsErrorInWidthsOfThePosterior) {
  const Row row = {.family = &families::map, .options = {.batch = 3}};
  const Scene scene = scene_of(row.options);
  // Latents at the truth, with latent k of the last galaxy moved by a width; k < 0: none.
  const auto moved = [&](int k, double width) {
    std::vector<double> all;
    for (int b = 0; b < row.options.batch; ++b) {
      Parameters z = truth_of(scene, b);
      if (b == 2 && k >= 0) z[scene.latents[k]] += width;
      const std::vector<double> u = latents_of(scene, z);
      all.insert(all.end(), u.begin(), u.end());
    }
    return all;
  };
  EXPECT_NEAR(posterior_error(row, moved(-1, 0)), 0, 1e-8);
  const auto widths = oracle::posterior_widths(scene, truth_of(scene, 0));
  for (int k = 0; k < scene.latent_count(); ++k) {
    EXPECT_NEAR(posterior_error(row, moved(k, widths[k])), 1, 1e-8) << k;
    EXPECT_NEAR(posterior_error(row, moved(k, -2 * widths[k])), 2, 1e-8) << k;
  }
}

// The result of two galaxies: u, m, v [2, 4], losses, steps, status.
TEST(GalaxyInvariant, AFitMovesAndEachOfItsGalaxiesTakesSoundSteps) {
  const Row row = {.family = &families::svi_step, .options = {.batch = 2}};
  const Invariant goes_on = fit_goes_on(row);
  const std::vector<double> before(3 * 8 + 6);
  std::vector<double> after = before;
  after[5] = 0.1;
  after[26] = after[27] = 3;
  EXPECT_EQ(goes_on(before, after), std::nullopt);
  const auto with = [&](std::size_t place, double value) {
    std::vector<double> spoilt = after;
    spoilt.at(place) = value;
    return goes_on(before, spoilt);
  };
  EXPECT_EQ(with(5, 0), "no latent moved");
  EXPECT_EQ(with(27, 0), "galaxy 1 took no step");
  EXPECT_EQ(with(29, 2), "galaxy 1 failed at step 2");
  EXPECT_EQ(with(25, NAN), "the loss of galaxy 1 is no number");
}

// Walks of four latents, whose fields are followed by loss, evaluations, status, or loss, error,
// taken, evaluations.
TEST(GalaxyInvariant, AWalkEvaluatesWholeStepsOfGradients) {
  const auto told = [](const Family<Row>& family, std::size_t size, std::size_t evaluations,
                       double made) {
    const Row row = {.family = &family};
    std::vector<double> before(size), after(size);
    after.at(evaluations) = made;
    return family.invariant(row)(before, after);
  };
  EXPECT_EQ(told(families::vi_step, 19, 17, 3), std::nullopt);
  EXPECT_EQ(told(families::vi_step, 19, 17, 0), "0 gradients were evaluated, 1 a step expected");
  EXPECT_EQ(told(families::vi_step, 19, 17, 0.5),
            "0.5 gradients were evaluated, 1 a step expected");
  EXPECT_EQ(told(families::hmc_sample, 16, 15, 34), std::nullopt);
  EXPECT_EQ(told(families::hmc_sample, 16, 15, 33),
            "33 gradients were evaluated, 17 a step expected");
  const auto spoilt = [](const Family<Row>& family, std::size_t size, std::size_t evaluations,
                         std::size_t place, double value) {
    std::vector<double> before(size), after(size);
    after.at(evaluations) = 34;
    after.at(place) = value;
    return family.invariant(Row{.family = &family})(before, after);
  };
  EXPECT_EQ(spoilt(families::vi_step, 19, 17, 18, 2), "failed at step 2");
  EXPECT_EQ(spoilt(families::vi_step, 19, 17, 16, NAN), "the loss is no number");
  EXPECT_EQ(spoilt(families::hmc_sample, 16, 15, 12, NAN), "the loss is no number");
}

}  // namespace
}  // namespace holdfast::galaxy_shear
