// SPDX-License-Identifier: Apache-2.0
#include "host/isa.hpp"

#include <gtest/gtest.h>

namespace holdfast::host {
namespace {

int three() {
  return 3;
}
int four() {
  return 4;
}

TEST(ChooseIsa, TakesTheWiderFunctionWhereTheMachineHasIt) {
  EXPECT_EQ(choose_isa(three, four, "x86-64-v4")(), 4);
  EXPECT_EQ(choose_isa(three, four, "x86-64-v3")(), 3);
}

TEST(ChooseIsa, AsksThisMachineUnlessTold) {
  EXPECT_EQ(choose_isa(three, four), choose_isa(three, four, host_limits().isa));
}

}  // namespace
}  // namespace holdfast::host
