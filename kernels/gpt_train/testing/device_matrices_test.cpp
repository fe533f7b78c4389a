// SPDX-License-Identifier: Apache-2.0
// Isolated Newton-Schulz on a device: its results on the emulated one, and its costs.
#include <gtest/gtest.h>

#include <cmath>

#include "gpt_train/newton_schulz.hpp"
#include "gpt_train/testing/kernels_on_cpu.hpp"
#include "gpt_train/testing/support.hpp"
#include "testing/dry_run.hpp"
#include "testing/error_of.hpp"

namespace holdfast::gpt_train {
namespace {

Matrices of(int rows, int columns, int batch) {
  return {.rows = rows, .columns = columns, .batch = batch, .precision = Precision::bf16};
}

struct Likeness {
  double off = 0, cosine = 1;  // of the worst matrix
};
Likeness like_the_oracle(Variant variant, const Matrices& what) {
  const auto backend = emulated();
  const auto computation = make_newton_schulz(*backend, variant, what);
  const std::vector<double> found = result_of(*computation, 2), expected = oracle::answer(what);
  const std::vector<std::size_t> fields(std::size_t(what.batch), std::size_t(what.each()));
  Likeness worst = {.off = oracle::distance(fields, found, expected)};
  for (std::int64_t first = 0; first < what.numbers(); first += what.each()) {
    double across = 0, own = 0, other = 0;
    for (auto k = std::size_t(first); k < std::size_t(first + what.each()); ++k) {
      across += found[k] * expected[k];
      own += found[k] * found[k];
      other += expected[k] * expected[k];
    }
    worst.cosine = std::min(worst.cosine, across / std::sqrt(own * other));
  }
  return worst;
}

// Wide and tall, not multiples of a square of 32, and several of them.
TEST(DeviceMatrices, AreMadeOrthogonalAsByTheOracle) {
  for (const Matrices& what : {of(40, 104, 3), of(72, 40, 2), of(64, 64, 1)})
    for (const Variant variant : {Variant::reference, Variant::optimized}) {
      const Likeness found = like_the_oracle(variant, what);
      EXPECT_LT(found.off, 3e-2) << what.rows << ' ' << static_cast<int>(variant);
      EXPECT_GT(found.cosine, 0.999) << what.rows << ' ' << static_cast<int>(variant);
    }
}

TEST(DeviceMatrices, OfAnotherInputAreThoseOfTheHosts) {
  const Matrices what = of(40, 104, 2);
  const std::vector<std::size_t> fields(std::size_t(what.batch), std::size_t(what.each()));
  Matrices of_host = what;
  of_host.precision = Precision::f32;
  const auto host = open_backend("host"), device = emulated();
  const auto right = make_newton_schulz(*host, Variant::reference, of_host);
  for (const Variant variant : {Variant::reference, Variant::optimized}) {
    const auto computation = make_newton_schulz(*device, variant, what);
    for (const int input : {1, 0}) {
      right->start_again(input);
      computation->start_again(input);
      EXPECT_LT(oracle::distance(fields, result_of(*computation), result_of(*right)), 3e-2)
          << input << ' ' << static_cast<int>(variant);
    }
  }
}

TEST(DeviceMatrices, TakeEighteenLaunchesHoweverManyTheyAre) {
  const auto step = [](Variant variant, const Matrices& what) {
    DryRun run(90, [&](Backend& backend) { return make_newton_schulz(backend, variant, what); });
    EXPECT_NEAR(double(run.backend->ledger.peak_bytes) / double(formula_peak_bytes(variant, what)),
                1, 0.01);
    const Counts counts = run.step();
    EXPECT_EQ(counts.syncs + counts.copies + counts.plans + counts.h2d_bytes + counts.d2h_bytes, 0);
    return counts.launches;
  };
  for (const int batch : {1, 24}) {
    EXPECT_EQ(step(Variant::optimized, of(1024, 3584, batch)), 18);
    EXPECT_EQ(step(Variant::reference, of(1024, 3584, batch)), 29 * batch);
    EXPECT_EQ(step(Variant::reference, of(384, 128, batch)), 31 * batch);
  }
}

TEST(DeviceMatrices, ThatADeviceDoesNotTakeAreRefused) {
  const auto backend = open_backend("cuda-dry:sm_90");
  const auto refusal = [&](const Matrices& what) {
    return refusal_of([&] { (void)make_newton_schulz(*backend, Variant::optimized, what); });
  };
  EXPECT_EQ(refusal({}), "dtype f32 is a host's; a device takes bf16");
  EXPECT_EQ(refusal(of(128, 100, 1)),
            "columns = 100: a device reads eight numbers at a time, so it must be a multiple of 8");
}

}  // namespace
}  // namespace holdfast::gpt_train
