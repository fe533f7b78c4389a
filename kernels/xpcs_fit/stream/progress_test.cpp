// SPDX-License-Identifier: Apache-2.0
#include "xpcs_fit/stream/progress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace holdfast::xpcs_fit {
namespace {

struct XpcsProgress : testing::Test {
  double now = 0;
  std::ostringstream out;
  Progress of(int chunks) {
    return {chunks, 1000, out, [this] { return now; }};
  }
};

TEST_F(XpcsProgress, TellsTheFirstChunkTheLastAndTenASecond) {
  Progress progress = of(24);
  for (int chunk = 0; chunk < 24; ++chunk) {
    now += 0.03;  // 0.72 s in all
    progress.done(0, chunk);
  }
  progress.end();
  progress.end();  // it was reported already
  const std::string words = out.str();
  EXPECT_TRUE(words.starts_with("xpcs_fit chunk 1/24 4% pass 0 3.33e+04 pts/s eta 0.7s\n"))
      << words;
  EXPECT_TRUE(words.ends_with("xpcs_fit chunk 24/24 100% pass 0 3.33e+04 pts/s eta 0.0s\n"))
      << words;
  EXPECT_EQ(std::count(words.begin(), words.end(), '\n'), progress.lines());
  EXPECT_LE(progress.lines(), 2 + 7);
  EXPECT_GE(progress.lines(), 5);
}

// Two fits in a row take a tenth of a second together.
TEST_F(XpcsProgress, OfAFastFitIsItsFirstChunkAndItsLast) {
  Progress progress = of(24);
  for (int fit = 0; fit < 2; ++fit) {
    for (int pass = 0; pass < 8; ++pass)
      for (int chunk = 0; chunk < 24; ++chunk) {
        now += 0.05 / (8 * 24);
        progress.done(pass, chunk);
      }
    progress.end();
  }
  EXPECT_EQ(progress.lines(), 4);
  // The second fit began where the first one ended.
  EXPECT_NE(out.str().find("xpcs_fit chunk 1/24 4% pass 0 3.84e+06 pts/s eta 0.0s\n",
                           out.str().find("pass 7")),
            std::string::npos)
      << out.str();
  EXPECT_TRUE(out.str().ends_with("xpcs_fit chunk 24/24 100% pass 7 3.84e+06 pts/s eta 0.0s\n"))
      << out.str();
}

}  // namespace
}  // namespace holdfast::xpcs_fit
