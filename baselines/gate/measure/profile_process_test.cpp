// SPDX-License-Identifier: Apache-2.0
#include "gate/measure/profile_process.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "gate/base/json.hpp"
#include "gate/base/process.hpp"

namespace holdfast::gate {
namespace {

namespace fs = std::filesystem;

// A suite that prints a line a second, leaves the answers' folder that it was told, and profiles
// nothing.
TEST(Profiling, LastsAsLongAsLinesComeAndKnowsWhereAnswersAre) {
  const TemporaryFolder folder("profiling-test");
  const fs::path suite = folder.path() / "suite.sh", told = folder.path() / "told";
  std::ofstream(suite) << "#!/bin/sh\nfor i in 1 2 3 4 5; do sleep 1; echo line >&2; done\n"
                       << "echo $HOLDFAST_ANSWERS > " << told.string() << '\n';
  fs::permissions(suite, fs::perms::owner_all);
  Progress progress("suite");
  profile_suite({.binary = suite,
                 .device = "host",
                 .timeout_seconds = 4,
                 .answers = folder.path() / "answers",
                 .place = folder.path() / "profiles" / "suite"},
                progress);
  EXPECT_EQ(read_file(told), (folder.path() / "answers").string() + '\n');
}

}  // namespace
}  // namespace holdfast::gate
