// SPDX-License-Identifier: Apache-2.0
// `main` of tests on a real GPU. Exit status 77, which CTest treats as skipped, if there is none.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>

#include "base/error.hpp"
#include "runtime/backend/backend.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {

inline int gpu_main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  try {
    (void)open_backend("cuda");
  } catch (const Error& error) {
    if (error.fault() != Fault::no_device) throw;
    std::puts(error.what());
    return Exit::no_device;
  }
  return RUN_ALL_TESTS();
}

}  // namespace holdfast
