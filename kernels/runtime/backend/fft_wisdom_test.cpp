// SPDX-License-Identifier: Apache-2.0
// In a separate process, because FFTW reads its wisdom once.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/backend/backend.hpp"
#include "runtime/backend/fft.hpp"
#include "runtime/base/error.hpp"

namespace holdfast {
namespace {

namespace fs = std::filesystem;

TEST(FftWisdom, MeasuredPlansAreWrittenForOtherProcesses) {
  const fs::path folder = fs::path(testing::TempDir()) / text("holdfast_wisdom_", getpid());
  fs::create_directories(folder);
  setenv("HOLDFAST_FFTW_WISDOM", (folder / "wisdom").c_str(), 1);
  const auto backend = open_backend("host");
  { const Transform transform(*backend, {.rows = 12, .columns = 20}); }
  std::ostringstream wisdom;
  wisdom << std::ifstream(folder / "wisdom").rdbuf();
  EXPECT_THAT(wisdom.str(), testing::StartsWith("(fftw"));
  const auto files = std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  EXPECT_EQ(files, 1) << "something was left beside the file";
  fs::remove_all(folder);
}

}  // namespace
}  // namespace holdfast
