// SPDX-License-Identifier: Apache-2.0
// Isolated Newton-Schulz on a host, against the oracle.
#include <gtest/gtest.h>

#include "gpt_train/newton_schulz.hpp"
#include "gpt_train/testing/support.hpp"
#include "testing/error_of.hpp"

namespace holdfast::gpt_train {
namespace {

constexpr Variant both_variants[] = {Variant::reference, Variant::optimized};

// Wide, tall and square; one that needs several cache-sized batches, and one whose symmetric
// products are made by halves.
constexpr Matrices of_every_form[] = {
    {.rows = 12, .columns = 20, .batch = 3, .precision = Precision::f64},
    {.rows = 37, .columns = 18, .batch = 2, .precision = Precision::f64},
    {.rows = 24, .columns = 24, .batch = 1, .precision = Precision::f64},
    {.rows = 140, .columns = 130, .batch = 3, .precision = Precision::f64},
    {.rows = 270, .columns = 258, .batch = 1, .precision = Precision::f64},
};

double off(Variant variant, const Matrices& what, const std::vector<double>& expected) {
  const auto backend = open_backend("host");
  const auto computation = make_newton_schulz(*backend, variant, what);
  for (int k = 0; k < 2; ++k) computation->step();
  EXPECT_EQ(backend->ledger.peak_bytes, formula_peak_bytes(variant, what));
  const std::vector<std::size_t> fields(std::size_t(what.batch), std::size_t(what.each()));
  return oracle::distance(fields, computation->result(), expected);
}

TEST(GptMatrices, AreMadeOrthogonalAsByTheOracleAndHoldWhatTheirFormulaSays) {
  for (Matrices what : of_every_form) {
    const std::vector<double> expected = oracle::answer(what);
    for (const Variant variant : both_variants) {
      what.precision = Precision::f64;
      EXPECT_LT(off(variant, what, expected), 1e-8) << what.rows << ' ' << int(variant);
      what.precision = Precision::f32;
      EXPECT_LT(off(variant, what, expected), 1e-3) << what.rows << ' ' << int(variant);
    }
  }
}

TEST(GptMatrices, OfAnotherInputAreDrawnAnew) {
  const Matrices& what = of_every_form[0];
  const auto backend = open_backend("host");
  for (const Variant variant : both_variants) {
    const auto computation = make_newton_schulz(*backend, variant, what);
    const std::vector<double> first = result_of(*computation, 1);
    computation->start_again(1);
    const std::vector<double> other = result_of(*computation, 1);
    EXPECT_NE(other, first);
    EXPECT_EQ(drawn(what, 1).size(), first.size());
    computation->start_again(0);
    EXPECT_EQ(result_of(*computation, 1), first);
  }
}

TEST(GptMatrices, ThatCannotBeAreRefusedWithFieldValueAndLimit) {
  const auto backend = open_backend("host");
  const auto refusal = [&](const Matrices& what) {
    return refusal_of([&] { (void)make_newton_schulz(*backend, Variant::optimized, what); });
  };
  EXPECT_EQ(refusal({.rows = 0}), "rows = 0: it must be at least 1");
  EXPECT_EQ(refusal({.columns = -1}), "columns = -1: it must be at least 1");
  EXPECT_EQ(refusal({.batch = 0}), "batch = 0: it must be at least 1");
  EXPECT_EQ(refusal({.precision = Precision::bf16}),
            "dtype bf16 is a device's; a host takes f32 or f64");
}

// The gates of tiny together; only half of each symmetric product counts as work.
TEST(GptMatrices, SquaresAreHalfWork) {
  const double m = 128, q = 384;
  EXPECT_EQ(work_of({.rows = 128, .columns = 384, .batch = 6}).flops,
            6 * 5 * (3 * m * m * q + m * m * m));
  EXPECT_EQ(work_of({.rows = 384, .columns = 128, .batch = 6}).flops,
            work_of({.rows = 128, .columns = 384, .batch = 6}).flops);
}

}  // namespace
}  // namespace holdfast::gpt_train
