// SPDX-License-Identifier: Apache-2.0
// The device benchmark against Parseval, on the host.
#include "xpcs_fit/spectrum.hpp"

#include <gmock/gmock.h>

#include "testing/error_of.hpp"
#include "testing/results.hpp"

namespace holdfast::xpcs_fit {
namespace {

TEST(XpcsSpectrum, HasThePowerThatParsevalSays) {
  for (const int n : {2, 7, 16, 45})
    for (const Variant variant : {Variant::reference, Variant::optimized}) {
      const auto backend = open_backend("host");
      const auto spectrum = make_spectrum(n, *backend, variant);
      EXPECT_NEAR(result_of(*spectrum, 2).front() / exact_power(n), 1, 1e-13) << n;
      spectrum->start_again(1);
      EXPECT_NEAR(result_of(*spectrum, 1).front() / exact_power(n, 1), 1, 1e-13) << n;
      EXPECT_NE(exact_power(n, 1), exact_power(n));
    }
}

TEST(XpcsSpectrum, RefusesTooFewSamples) {
  const auto backend = open_backend("host");
  EXPECT_THAT(refusal_of([&] { return make_spectrum(1, *backend, Variant::optimized); }),
              testing::HasSubstr("invalid_option: a transform of 1 x 1 samples"));
}

}  // namespace
}  // namespace holdfast::xpcs_fit
