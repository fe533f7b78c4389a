// SPDX-License-Identifier: Apache-2.0
#include "gate/base/numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace holdfast::gate {
namespace {

TEST(Readable, SecondsAndBytesAreScaled) {
  EXPECT_EQ(readable(0.000412, "s"), "412 us");
  EXPECT_EQ(readable(1177856.0, "B"), "1.178 MB");
  EXPECT_EQ(readable(169086208.0, "B"), "169.1 MB");
  EXPECT_EQ(readable(4096.0, "B"), "4096 B");
  EXPECT_EQ(readable(-36000.0, "B"), "-36 kB");
  EXPECT_EQ(readable(18.05, "1"), "18.05");
  EXPECT_EQ(readable("sha256:0123456789abcdef", "1"), "sha256:01234567");
}

TEST(Readable, OnlyAHashIsShortened) {
  EXPECT_EQ(readable("apply_operator<double> 64/0/1024 a1b2c3d4", ""),
            "apply_operator<double> 64/0/1024 a1b2c3d4");
}

TEST(Readable, OfTwoTablesTheFirstRowThatDiffersIsTold) {
  using Rows = std::pair<std::string, std::string>;
  EXPECT_EQ(told_apart("f 31/0; g 64/0; h 9/0", "f 31/0; g 71/0; h 9/0", ""),
            Rows("g 64/0; ...", "g 71/0; ..."));
  EXPECT_EQ(told_apart("f 31/0; g 64/0", "f 31/0; g 64/0; h 9/0", ""),
            Rows("g 64/0", "g 64/0; ..."));
}

TEST(Readable, RatesAndNamedUnitsAreTold) {
  EXPECT_EQ(readable(1.9e10, "B/s"), "19 GB/s");
  EXPECT_EQ(readable(40250.0, "1/s"), "40.25 k/s");
  EXPECT_EQ(readable(12.0, "1/s"), "12 /s");
  EXPECT_EQ(readable(0.0, "programs"), "0 programs");
  EXPECT_EQ(readable(1.0, "programs"), "1 program");
  EXPECT_EQ(readable("sha256:0123456789abcdef", "plans"), "sha256:01234567");
}

TEST(Readable, TwoValuesThatDifferLookDifferent) {
  const auto told = [](double before, double now, const char* unit) {
    const auto [first, second] = told_apart(before, now, unit);
    return first + ", " + second;
  };
  EXPECT_EQ(told(1177856, 1177864, "B"), "1.177856 MB, 1.177864 MB");
  EXPECT_EQ(told(1177856, 2355712, "B"), "1.178 MB, 2.356 MB");
  EXPECT_EQ(told(0.1, std::nextafter(0.1, 1), "s"), "100 ms, 100.00000000000001 ms");
  EXPECT_EQ(told(0.1, 0.1, "s"), "100 ms, 100 ms");
}

}  // namespace
}  // namespace holdfast::gate
