// SPDX-License-Identifier: Apache-2.0
// For tests: the error that an action ends in.
#pragma once

#include <gtest/gtest.h>

#include "runtime/base/error.hpp"

namespace holdfast {

template <class Action>
Error error_of(const Action& action) {
  try {
    (void)action();
  } catch (const Error& error) {
    return error;
  }
  return {Fault::compile, "accepted"};
}

// The sentence of an error of this kind; "accepted" if there is none.
template <class Action>
std::string refusal_of(const Action& action, Fault fault = Fault::bad_input) {
  const Error error = error_of(action);
  const std::string sentence = error.what();
  if (sentence != "accepted") {
    EXPECT_EQ(error.fault(), fault) << sentence;
  }
  return sentence;
}

}  // namespace holdfast
