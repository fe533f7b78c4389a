// SPDX-License-Identifier: Apache-2.0
#include "harness/measure/session.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "harness/testing/toy.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

using testing::HasSubstr;

class OnTheHost : public testing::Test {
 protected:
  Measurement measurement = {.executed = true};
  Session session{"host", measurement, 1};
};

TEST_F(OnTheHost, BackendsAreFreshAndLiveAsLongAsTheSession) {
  Backend& first = session.open();
  const Buffer<double> held(first, 4, "held");
  Backend& second = session.open();
  EXPECT_EQ(first.ledger.live_bytes, 32);
  EXPECT_EQ(second.ledger.live_bytes, 0);
}

TEST_F(OnTheHost, ReadingsBelongToAVariant) {
  session.read("peak_bytes", 3);
  session.read("peak_bytes", 7, Variant::reference);
  EXPECT_EQ(measurement.optimized.readings.at("peak_bytes"), 3);
  EXPECT_EQ(measurement.reference->readings.at("peak_bytes"), 7);
}

TEST_F(OnTheHost, ASteadyStepIsCounted) {
  Backend& backend = session.open();
  Toy toy(backend, [](Backend& b, int) { b.ledger.counts.launches += 2; });
  EXPECT_EQ(session.steady_step(backend, toy).launches, 2);
}

TEST_F(OnTheHost, ASteadyStepThatAllocatesIsAnError) {
  Backend& backend = session.open();
  Toy toy(backend, [](Backend& b, int) { Buffer<double>(b, 7, "scratch"); });
  EXPECT_THROW((void)session.steady_step(backend, toy), Error);
}

TEST_F(OnTheHost, OfSeveralChecksTheOneNearestToItsLimitIsReported) {
  session.check("coarse", 0.5, 1);
  session.check("fine", 0.01, 0.5);
  EXPECT_EQ(measurement.oracle, "coarse");
  EXPECT_EQ(measurement.check_limit, 1);
  session.check("near", 0.09, 0.1);
  EXPECT_EQ(measurement.oracle, "near") << "though its error is smaller";
  EXPECT_EQ(measurement.check_error, 0.09);
  EXPECT_EQ(measurement.check, CheckStatus::passed);
}

TEST_F(OnTheHost, ACheckIsNoLaxerThanItsCaseLists) {
  EXPECT_THAT([&] { session.check("lax", 0, 2); },
              testing::ThrowsMessage<Error>(HasSubstr("with the limit 2")));
  Session unlisted("host", measurement, std::nullopt);
  EXPECT_THAT([&] { unlisted.check("unlisted", 0, 1); },
              testing::ThrowsMessage<Error>(HasSubstr("lists no limit")));
}

// As of a difference that is taken one way only.
TEST_F(OnTheHost, AnErrorBelowNothingIsNone) {
  EXPECT_THAT([&] { session.check("signed", -5, 1); },
              testing::ThrowsMessage<Error>(HasSubstr("(signed) measures an error of -5")));
}

TEST_F(OnTheHost, AFailedCheckStaysFailed) {
  session.check("wrong", 2, 1);
  session.check("right", 0, 1);
  EXPECT_EQ(measurement.check, CheckStatus::failed);
  EXPECT_EQ(measurement.status, Measurement::Status::failed);
  EXPECT_THAT(measurement.reason, HasSubstr("oracle: wrong"));
}

TEST_F(OnTheHost, AnErrorThatIsNoNumberFails) {
  session.check("nothing", std::numeric_limits<double>::quiet_NaN(), 1);
  session.check("far", 1e30, 1);
  EXPECT_EQ(measurement.check, CheckStatus::failed);
  EXPECT_EQ(measurement.oracle, "nothing");
  EXPECT_FALSE(measurement.check_error);
}

}  // namespace
}  // namespace holdfast
