// SPDX-License-Identifier: Apache-2.0
// In a separate process, because FFTW reads its wisdom once.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/files.hpp"
#include "base/testing/variable.hpp"
#include "runtime/backend/backend.hpp"
#include "runtime/backend/fft.hpp"

namespace holdfast {
namespace {

namespace fs = std::filesystem;

TEST(FftWisdom, MeasuredPlansAreWrittenForOtherProcesses) {
  const NewFolder own_folder(testing::TempDir() + "holdfast_wisdom_");
  const fs::path& folder = own_folder.path();
  const Variable given("HOLDFAST_FFTW_WISDOM", folder / "wisdom");
  const auto backend = open_backend("host");
  { const Transform transform(*backend, {.rows = 12, .columns = 20}); }
  std::ostringstream wisdom;
  wisdom << std::ifstream(folder / "wisdom").rdbuf();
  EXPECT_THAT(wisdom.str(), testing::StartsWith("(fftw"));
  const auto files = std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  EXPECT_EQ(files, 1) << "something was left beside the file";
}

}  // namespace
}  // namespace holdfast
