// SPDX-License-Identifier: Apache-2.0
#include "harness/profile/nvml_log.hpp"

#include <gmock/gmock.h>

#include <latch>

#include "harness/testing/plausible_sample.hpp"
#include "harness/testing/shell.hpp"
#include "testing/error_of.hpp"
#include "testing/failures_of.hpp"

namespace holdfast {
namespace {

using testing::HasSubstr;

TEST(Nvml, ReadsALibraryInItsUnitsAndLeavesOutWhatIsNotTold) {
  const GpuSample sample = open_nvml("host", FAKE_NVML_BINARY)->sample();
  EXPECT_DOUBLE_EQ(*sample.sm_util, 0.87);
  EXPECT_DOUBLE_EQ(*sample.mem_util, 0.34);
  EXPECT_DOUBLE_EQ(*sample.fb_used_bytes, 5e9);
  EXPECT_DOUBLE_EQ(*sample.sm_clock_hz, 1.98e9);
  EXPECT_DOUBLE_EQ(*sample.mem_clock_hz, 3.201e9);
  EXPECT_DOUBLE_EQ(*sample.power_w, 350.5);
  EXPECT_FALSE(sample.temperature_c.has_value());
  expect_plausible(sample);
}

// As a real GPU's would be, by the test that runs on one.
TEST(Nvml, InAnotherUnitIsFound) {
  GpuSample sample = open_nvml("host", FAKE_NVML_BINARY)->sample();
  sample.sm_util = 87;
  sample.sm_clock_hz = 1980;
  const std::string told = failures_of([&] { expect_plausible(sample); });
  EXPECT_THAT(told, HasSubstr("sm_util"));
  EXPECT_THAT(told, HasSubstr("sm_clock_hz"));
  EXPECT_THAT(told, testing::Not(HasSubstr("mem_clock_hz"))) << "that was right";
}

std::string complaint(const std::string& library) {
  return refusal_of([&] { return open_nvml("host", library); }, Fault::no_device);
}

TEST(Nvml, ThatIsNotThereSaysWhatBringsIt) {
  EXPECT_THAT(complaint("libno_such_nvml.so.1"), HasSubstr("NVIDIA's driver"));
}

TEST(Nvml, ThatLacksAFunctionNamesIt) {
  EXPECT_THAT(complaint("libm.so.6"), HasSubstr("nvmlShutdown"));
}

// Numbers its samples and reports nothing else.
class Counting final : public GpuSensors {
 public:
  explicit Counting(std::latch& samples) : samples_(samples) {}
  GpuSample sample() override {
    if (!samples_.try_wait()) samples_.count_down();
    return {.power_w = ++taken_};
  }

 private:
  std::latch& samples_;
  int taken_ = 0;
};

TEST(Log, SamplesAtItsPeriodUntilItEnds) {
  const auto file = fresh_folder("nvml_log") / "gpu.csv";
  std::latch three(3);
  {
    const NvmlLog log(std::make_unique<Counting>(three), file, 1e-4);
    three.wait();
  }
  std::istringstream lines(read(file));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line,
            "time_s,sm_util,mem_util,fb_used_bytes,sm_clock_hz,mem_clock_hz,power_w,temperature_c");
  double before = -1;
  int count = 0;
  while (std::getline(lines, line)) {
    const double at = std::stod(line);
    EXPECT_GT(at, before);
    before = at;
    EXPECT_THAT(line, testing::EndsWith(",,,,,," + std::to_string(++count) + ","));
  }
  EXPECT_GE(count, 4);
}

TEST(Log, EndsAtOnceHoweverLongItsPeriod) {
  const auto file = fresh_folder("nvml_log_ends") / "gpu.csv";
  std::latch one(1);
  {
    const NvmlLog log(std::make_unique<Counting>(one), file, 3600);
    one.wait();
  }
  const std::string words = read(file);
  EXPECT_EQ(std::count(words.begin(), words.end(), '\n'), 3);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file.parent_path()), {}), 1);
}

TEST(Log, IsNotBegunWhereNobodyAsksForIt) {
  EXPECT_EQ(begin_nvml_log({}, "host"), nullptr);
}

}  // namespace
}  // namespace holdfast
