// SPDX-License-Identifier: Apache-2.0
#include "harness/profile/gpu_watch.hpp"

#include <gmock/gmock.h>

#include "base/testing/variable.hpp"

namespace holdfast {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The verdict on a GPU with this trouble.
RunQuality quality(const char* trouble) {
  const Variable fake("FAKE_GPU", trouble);
  return GpuWatch(open_nvml("host", FAKE_NVML_BINARY), 1e-3).quality();
}

TEST(GpuWatch, AnUndisturbedGpuIsValidAndTellsItsClocks) {
  const RunQuality seen = quality("");
  EXPECT_THAT(seen.reasons, IsEmpty());
  EXPECT_EQ(seen.throttled, false);
  EXPECT_EQ(seen.other_processes, 0);
  EXPECT_EQ(seen.ecc_errors, 0);
  EXPECT_EQ(seen.sm_clock_hz, 1.98e9);
  EXPECT_EQ(seen.mem_clock_hz, 3.201e9);
  EXPECT_FALSE(seen.temperature_c);  // this GPU does not report it
}

TEST(GpuWatch, AThrottledGpuIsInvalid) {
  const RunQuality seen = quality("throttled");
  EXPECT_EQ(seen.throttled, true);
  EXPECT_THAT(seen.reasons, ElementsAre(AllOf(HasSubstr("slowed down by heat, power or a fault"),
                                              HasSubstr("sudo nvidia-smi --lock-gpu-clocks="))));
}

TEST(GpuWatch, ASharedGpuIsInvalid) {
  const RunQuality seen = quality("shared");
  EXPECT_EQ(seen.other_processes, 1);
  EXPECT_THAT(seen.reasons, ElementsAre(HasSubstr("other processes computed on the GPU")));
}

TEST(GpuWatch, MoreProcessesThanItHasRoomForAreCountedAllTheSame) {
  EXPECT_EQ(quality("crowded").other_processes, 99);
}

TEST(GpuWatch, ErrorsOfItsMemoryCountFromTheFirstSampleOn) {
  const RunQuality seen = quality("faulty");
  EXPECT_GE(*seen.ecc_errors, 1);
  EXPECT_THAT(seen.reasons, ElementsAre(HasSubstr("errors that no code could correct")));
}

TEST(GpuWatch, ASampleIsDisturbedOnASlowGpuAndBesideMoreThanItsPartners) {
  const auto disturbed = [](const char* trouble, std::int64_t partners) {
    const Variable fake("FAKE_GPU", trouble);
    return is_disturbed(open_nvml("host", FAKE_NVML_BINARY)->sample(), partners);
  };
  EXPECT_FALSE(disturbed("", 0));
  EXPECT_TRUE(disturbed("throttled", 1));
  EXPECT_FALSE(disturbed("shared", 1));
  EXPECT_TRUE(disturbed("shared", 0));
  EXPECT_FALSE(is_disturbed({}, 0));  // a sample without readings
}

// Returns scripted samples, and then the last one repeatedly.
class Told final : public GpuSensors {
 public:
  explicit Told(std::vector<GpuSample> samples) : samples_(std::move(samples)) {}
  GpuSample sample() override { return samples_[std::min(next_++, samples_.size() - 1)]; }

 private:
  std::vector<GpuSample> samples_;
  std::size_t next_ = 0;
};

// The first sample is taken at once, another for each question.
TEST(GpuWatch, AGpuIsThrottledThatWasInMoreThanAQuarterOfTheSamples) {
  GpuWatch watch(
      std::make_unique<Told>(std::vector<GpuSample>{{.throttled = true}, {.throttled = false}}),
      3600);
  EXPECT_EQ(watch.quality().throttled, true);   // one of two
  EXPECT_EQ(watch.quality().throttled, true);   // of three
  EXPECT_EQ(watch.quality().throttled, false);  // of four
}

TEST(GpuWatch, TellsTheLeastClocksAndTheHighestTemperature) {
  GpuWatch watch(std::make_unique<Told>(std::vector<GpuSample>{
                     {.sm_clock_hz = 2e9, .mem_clock_hz = 1e9, .temperature_c = 60},
                     {.sm_clock_hz = 1e9, .mem_clock_hz = 3e9, .temperature_c = 80},
                     {.sm_clock_hz = 3e9, .mem_clock_hz = 2e9, .temperature_c = 70}}),
                 3600);
  (void)watch.quality();
  const RunQuality seen = watch.quality();
  EXPECT_EQ(seen.sm_clock_hz, 1e9);
  EXPECT_EQ(seen.mem_clock_hz, 1e9);
  EXPECT_EQ(seen.temperature_c, 80);
}

TEST(GpuWatch, ADeviceThatIsNoGpuIsNotWatched) {
  EXPECT_EQ(sensors_of("host"), nullptr);
  EXPECT_EQ(watch_gpu("host"), nullptr);
  EXPECT_EQ(watch_gpu("cuda-dry:sm_90"), nullptr);
}

}  // namespace
}  // namespace holdfast
